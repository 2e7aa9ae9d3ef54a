/* verdict.c - whether an answer is yes or no. */
#include "analysis/snapshot/check/check.h"
#include "api/result.h"

/* An out-of-memory event was asked for: one is enough, and a device without a trace cannot tell. */
static enum vrs_verdict verdict_of_oom(const struct answer_set *set)
{
    enum vrs_verdict verdict = VRS_NO_VERDICT;
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->study[i].devices; k++) {
            const struct device_answer *d = &set->study[i].device[k];
            if (d->result != NULL)
                return VRS_YES;
            if (d->status == ANSWER_NOT_APPLICABLE)
                verdict = VRS_NO;
        }
    return verdict;
}

/* The worst of all files that were read counts; a file without any device keeps no budget. */
static enum vrs_verdict verdict_of_check(const struct answer_set *set)
{
    bool undecided = false;
    uint32_t read = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t judged = 0;
        if (set->study[i].unread.ptr != NULL)
            continue;
        read++;
        for (uint32_t k = 0; k < set->study[i].devices; k++) {
            const struct check *check = set->study[i].device[k].result;
            if (check == NULL)
                continue;
            if (check->fails > 0)
                return VRS_NO;
            judged++;
            undecided = undecided || check->inconclusive > 0;
        }
        undecided = undecided || judged == 0;
    }
    if (read == 0)
        return VRS_NO_VERDICT;
    return undecided ? VRS_UNDECIDED : VRS_YES;
}

/* A limit that could not be looked at is not kept. */
static enum vrs_verdict verdict_of_diff(const struct diff_answer *answer)
{
    if (!answer->judged)
        return VRS_NO_VERDICT;
    for (uint32_t i = 0; i < answer->devices; i++)
        if (!answer->device[i].compared || answer->device[i].exceeded)
            return VRS_NO;
    return VRS_YES;
}

enum vrs_verdict vrs_verdict(const struct vrs_result *result)
{
    if (result->set.kind == RESULT_OOM)
        return verdict_of_oom(&result->set);
    if (result->set.kind == RESULT_CHECK)
        return verdict_of_check(&result->set);
    if (result->set.kind == RESULT_DIFF)
        return verdict_of_diff(&result->set.diff[0]);
    return VRS_NO_VERDICT;
}
