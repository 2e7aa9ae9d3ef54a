/* compare.c - what changed from one measurement to another. */
#include <stddef.h>
#include <stdint.h>

#include "analysis/measurement/compare/compare.h"
#include "api/file.h"
#include "api/limit.h"
#include "api/measurement/measurement_file.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/noise.h"
#include "base/str.h"
#include "model/measurement.h"
#include "render/answer/answer.h"
#include "render/measurement/comparison_answer.h"
#include "vramscope/measurement.h"
#include "vramscope/vramscope.h"

_Static_assert((int)VRS_REPEATS_MOST == (int)COMPARED_REPEATS_MOST, "one limit");

/* The limit is kept or not; without one nothing is judged. */
static enum vrs_verdict verdict_of(const struct answer_set *set)
{
    const struct comparison *comparison = set->answers;
    if (comparison->limit == NULL)
        return VRS_NO_VERDICT;
    return comparison->limit->exceeded ? VRS_NO : VRS_YES;
}

static enum vrs_status name_side(const struct vrs_measurement *m, const char *path,
                                 struct arena *arena, struct compared_side *ret,
                                 struct vrs_error *err)
{
    ret->size_bytes = m->size_bytes;
    ret->path = result_text(arena, path != NULL ? str_from(path) : m->path);
    return ret->path.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* Fills the question with the repeats; `models` has room for VRS_REPEATS_MOST. */
static enum vrs_status take_repeats(const struct vrs_compare_options *o,
                                    const struct measurement **models,
                                    struct comparison_question *q, struct vrs_error *err)
{
    if (o->again_count > VRS_REPEATS_MOST)
        return vrs_fail(err, VRS_USAGE, "%u repeats of A's program are given; %d are the most",
                        (unsigned)o->again_count, VRS_REPEATS_MOST);
    for (uint32_t i = 0; i < o->again_count; i++)
        models[i] = &o->again[i]->model;
    q->again = models;
    q->repeats = o->again_count;
    return VRS_OK;
}

static enum vrs_status name_all(const struct vrs_measurement *a, const struct vrs_measurement *b,
                                const struct vrs_compare_options *o, struct arena *arena,
                                struct comparison *ret, struct vrs_error *err)
{
    TRY(name_side(a, o->path, arena, &ret->a, err));
    TRY(name_side(b, o->b_path, arena, &ret->b, err));
    for (uint32_t i = 0; i < ret->repeats; i++) {
        const char *path = o->again_paths == NULL ? NULL : o->again_paths[i];
        TRY(name_side(o->again[i], path, arena, &ret->again[i].side, err));
    }
    return VRS_OK;
}

enum vrs_status vrs_compare(const struct vrs_measurement *a, const struct vrs_measurement *b,
                            const struct vrs_compare_options *options, struct vrs_result **ret,
                            struct vrs_error *err)
{
    struct vrs_compare_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct noise_limit limit;
    struct comparison_question q = { .a = &a->model, .b = &b->model };
    const struct measurement *models[VRS_REPEATS_MOST];
    TRY(take_repeats(&o, models, &q, err));
    if (limit_from(o.fail_over_ns, o.fail_over_millionths, &limit))
        q.limit = &limit;
    struct vrs_result *result = result_make(&comparison_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct comparison *comparison = result->set.answers;
    enum vrs_status status = comparison_make(&q, result->arena, comparison, err);
    if (status == VRS_OK)
        status = name_all(a, b, &o, result->arena, comparison, err);
    result->verdict = verdict_of;
    result->alone = "a comparison of two measurements is no part of a set";
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
