/* advise_join.h - the answers of all rules, made one. */
#ifndef VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_JOIN_H
#define VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_JOIN_H

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "base/fail.h"

/* What a rule said. */
struct rule_answer {
    struct advice advice;
    const char *clause;   /* of one that is silent */
    removal_vec removals; /* of one that speaks */
};

/* Of each rule an answer: fills the advice, those that are silent, and the joint saving.  Of two
 * that mean the same bytes at the same line one is silenced. */
enum vrs_status advise_join(const struct advising *a, struct rule_answer *answer,
                            struct advise *ret, struct vrs_error *err) MUST_CHECK;

#endif
