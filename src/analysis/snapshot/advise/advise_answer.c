/* advise_answer.c - the parts that advice rests on, side by side, then the rules, then waste. */
#include "analysis/snapshot/advise/advise_answer.h"

#include <stddef.h>

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/study/counterfactual.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"

enum vrs_status advise_answer_make(struct parts *parts, const struct proven_study *proven,
                                   const struct advise_question *q, struct advise_answer **ret,
                                   struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct oom oom;
    const struct leaks *leaks = NULL;
    struct counterfactual *c = NULL;
    struct advise_answer *answer = arena_take(s->keep, sizeof *answer);
    if (answer == NULL)
        return vrs_no_memory(err);
    answer->explain_silent = q->explain_silent;
    if (!s->traced) {
        TRY(advise_compute(parts, proven, NULL, q->capacity_bytes, &answer->advise, err));
        *ret = answer;
        return VRS_OK;
    }
    TRY(parts_make_for_advice(parts, proven, err));
    TRY(oom_compute(parts, proven, NULL, q->capacity_bytes, &oom, err));
    TRY(advise_compute(parts, proven, &oom, q->capacity_bytes, &answer->advise, err));
    TRY(parts_leaks(parts, s, &leaks, err));
    answer->leaks = leaks->leaks;
    answer->has_waste = q->waste;
    TRY(parts_counterfactual(parts, s, &c, err));
    if (q->waste)
        TRY(waste_compute(proven, c, &answer->waste, err));
    *ret = answer;
    return VRS_OK;
}
