/* merge.c - several results become one, which holds on to its parts. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/result.h"
#include "base/arena.h"
#include "base/fail.h"
#include "vramscope/vramscope.h"

static enum vrs_status check_parts(const struct vrs_result *const *results, uint32_t count,
                                   uint32_t *ret_answers, struct vrs_error *err)
{
    uint64_t sum = 0;
    bool more = false;
    for (uint32_t i = 0; i < count; i++) {
        sum += results[i]->set.count;
        more = more || results[i]->set.more != NULL;
        if (results[i]->alone != NULL)
            return vrs_fail(err, VRS_USAGE, "%s", results[i]->alone);
        if (results[i]->set.kind != results[0]->set.kind)
            return vrs_fail(err, VRS_USAGE,
                            "results of different kinds cannot be joined; ask for one kind");
    }
    if ((sum == 0 && !more) || sum > UINT32_MAX)
        return vrs_fail(err, VRS_USAGE, "there is nothing to join");
    *ret_answers = (uint32_t)sum;
    return VRS_OK;
}

enum vrs_status vrs_merge(const struct vrs_result *const *results, uint32_t count,
                          struct vrs_result **ret, struct vrs_error *err)
{
    uint32_t answers = 0;
    TRY(check_parts(results, count, &answers, err));
    struct vrs_result *joined = result_make(results[0]->set.kind, answers);
    if (joined == NULL)
        return vrs_no_memory(err);
    joined->part = arena_array(joined->arena, struct result_memory *, count);
    if (joined->part == NULL) {
        vrs_result_free(joined);
        return vrs_no_memory(err);
    }
    joined->several = true;
    joined->join = results[0]->join;
    joined->verdict = results[0]->verdict;
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        result_copy_answers(joined, at, results[i]);
        at += results[i]->set.count;
        joined->part[joined->parts++] = result_memory_hold(results[i]);
    }
    enum vrs_status status = VRS_OK;
    if (joined->join != NULL)
        status = joined->join(joined, results, count, err);
    if (status != VRS_OK) {
        vrs_result_free(joined);
        return status;
    }
    *ret = joined;
    return VRS_OK;
}
