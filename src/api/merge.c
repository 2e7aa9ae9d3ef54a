/* merge.c - several results become one, which holds on to its parts. */
#include "api/result.h"

static enum vrs_status check_parts(const struct vrs_result *const *results, uint32_t count,
                                   uint32_t *ret_answers, uint32_t *ret_unreads,
                                   struct vrs_error *err)
{
    uint64_t sum = 0, unreads = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += results[i]->set.count;
        unreads += results[i]->set.unreads;
        if (results[i]->alone != NULL)
            return vrs_fail(err, VRS_USAGE, "%s", results[i]->alone);
        if (results[i]->set.kind != results[0]->set.kind)
            return vrs_fail(err, VRS_USAGE,
                            "results of different kinds cannot be joined; ask for one kind");
    }
    if (sum + unreads == 0 || sum > UINT32_MAX || unreads > UINT32_MAX)
        return vrs_fail(err, VRS_USAGE, "there is nothing to join");
    *ret_answers = (uint32_t)sum;
    *ret_unreads = (uint32_t)unreads;
    return VRS_OK;
}

/* Their texts stay where they are: the parts are held. */
static enum vrs_status join_unread(struct vrs_result *joined,
                                   const struct vrs_result *const *results, uint32_t count,
                                   uint32_t unreads, struct vrs_error *err)
{
    struct unread_file *unread = arena_array(joined->arena, struct unread_file, unreads);
    if (unread == NULL)
        return vrs_no_memory(err);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < results[i]->set.unreads; k++)
            unread[at++] = results[i]->set.unread[k];
    joined->set.unread = unread;
    joined->set.unreads = unreads;
    return VRS_OK;
}

enum vrs_status vrs_merge(const struct vrs_result *const *results, uint32_t count,
                          struct vrs_result **ret, struct vrs_error *err)
{
    uint32_t answers = 0, unreads = 0;
    TRY(check_parts(results, count, &answers, &unreads, err));
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
    enum vrs_status status = join_unread(joined, results, count, unreads, err);
    if (status == VRS_OK && joined->join != NULL)
        status = joined->join(joined, err);
    if (status != VRS_OK) {
        vrs_result_free(joined);
        return status;
    }
    *ret = joined;
    return VRS_OK;
}
