/* compare.c - what changed from one measurement to another. */
#include <stddef.h>

#include "analysis/measurement/compare/compare.h"
#include "api/file.h"
#include "api/measurement/measurement_file.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/measurement/comparison_answer.h"
#include "vramscope/measurement.h"
#include "vramscope/vramscope.h"

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

static struct compared_limit limit_of(const struct vrs_compare_options *o)
{
    const double million = 1e6;
    return (struct compared_limit){
        .is_ratio = o->fail_over_ns == 0,
        .ns = o->fail_over_ns == 0 ? 0 : o->fail_over_ns - 1,
        .ratio = o->fail_over_millionths == 0
                     ? 0
                     : (double)(o->fail_over_millionths - 1) / million,
    };
}

enum vrs_status vrs_compare(const struct vrs_measurement *a, const struct vrs_measurement *b,
                            const struct vrs_compare_options *options, struct vrs_result **ret,
                            struct vrs_error *err)
{
    struct vrs_compare_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct compared_limit limit = limit_of(&o);
    struct comparison_question q = { .a = &a->model, .b = &b->model };
    if (o.fail_over_ns != 0 || o.fail_over_millionths != 0)
        q.limit = &limit;
    struct vrs_result *result = result_make(&comparison_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct comparison *comparison = result->set.answers;
    enum vrs_status status = comparison_make(&q, result->arena, comparison, err);
    if (status == VRS_OK)
        status = name_side(a, o.path, result->arena, &comparison->a, err);
    if (status == VRS_OK)
        status = name_side(b, o.b_path, result->arena, &comparison->b, err);
    result->verdict = verdict_of;
    result->alone = "a comparison of two measurements is no part of a set";
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
