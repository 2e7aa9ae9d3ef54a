/* growth.c - growth of a running program's memory from step to step. */
#include <stddef.h>
#include <stdint.h>

#include "analysis/objects/step_growth.h"
#include "api/file.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/objects/object_answers.h"
#include "vramscope/objects.h"
#include "vramscope/vramscope.h"

static enum vrs_verdict verdict_of(const struct answer_set *set)
{
    const struct step_growth *g = set->answers;
    if (g->trend == NULL)
        return VRS_NO_VERDICT;
    return g->trend->grows ? VRS_YES : VRS_NO;
}

static enum vrs_status take_census(struct arena *keep, const struct vrs_census *from,
                                   struct object_census *ret, struct vrs_error *err)
{
    struct live_object *object = arena_array(keep, struct live_object, from->tensors);
    if (object == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->tensors; i++) {
        const struct vrs_tensor *t = &from->tensor[i];
        object[i] = (struct live_object){ .name = result_text(keep, str_from(t->name)),
                                          .shape = result_text(keep, str_from(t->shape)),
                                          .dtype = result_text(keep, str_from(t->dtype)),
                                          .device = result_text(keep, str_from(t->device)),
                                          .storage = t->storage,
                                          .storage_bytes = t->storage_bytes };
        if (object[i].name.ptr == NULL || object[i].shape.ptr == NULL ||
            object[i].dtype.ptr == NULL || object[i].device.ptr == NULL)
            return vrs_no_memory(err);
    }
    *ret = (struct object_census){ object, from->tensors, from->step, from->requested };
    return VRS_OK;
}

static enum vrs_status fill(struct vrs_result *result, const uint64_t *bytes, uint32_t moments,
                            const struct vrs_growth_options *options, struct vrs_error *err)
{
    struct arena *keep = result->arena;
    uint64_t *kept = arena_array(keep, uint64_t, moments);
    struct object_census *census = arena_array(keep, struct object_census, 2);
    if (kept == NULL || census == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < moments; i++)
        kept[i] = bytes[i];
    struct step_readings readings = { .bytes = kept,
                                      .moments = moments,
                                      .first_step = options->first_step,
                                      .every = options->every,
                                      .wanted = options->wanted,
                                      .least_bytes = options->least_bytes,
                                      .present_bytes = options->present_bytes,
                                      .collected_bytes = options->collected_bytes };
    if (options->first != NULL && options->last != NULL) {
        TRY(take_census(keep, options->first, &census[0], err));
        TRY(take_census(keep, options->last, &census[1], err));
        readings.first = &census[0];
        readings.last = &census[1];
    }
    return step_growth_compute(&readings, keep, result->set.answers, err);
}

enum vrs_status vrs_growth(const uint64_t *bytes, uint32_t moments,
                           const struct vrs_growth_options *options, struct vrs_result **ret,
                           struct vrs_error *err)
{
    struct vrs_growth_options o = { 0 };
    options_take(&o, sizeof o, options);
    if (o.every == 0 || o.wanted < 3)
        return vrs_fail(err, VRS_USAGE, "growth takes at least 2 steps, each at least 1 apart");
    struct vrs_result *result = result_make(&growth_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    result->alone = "growth of different steps is not joined";
    result->verdict = verdict_of;
    enum vrs_status status = fill(result, bytes, moments, &o, err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
