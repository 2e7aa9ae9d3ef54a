/* diff_match.h - which sites of two recordings are one, in stages; each leaves to the next what it
 * has not matched. */
#ifndef VRS_ANALYSIS_DIFF_MATCH_H
#define VRS_ANALYSIS_DIFF_MATCH_H

#include "analysis/diff.h"
#include "analysis/diff_keys.h"

enum {
    MATCH_SITES = 400 /* unmatched sites of a side that likeness is asked of, the heaviest */
};

/* What is one site in the first stage, on either side. */
enum unit_kind {
    UNIT_SITE,         /* number: the stack under the first key */
    UNIT_CATEGORY,     /* without a stack, of one category */
    UNIT_SIZE,         /* without a stack in recordings that have none, of one size */
    UNIT_UNATTRIBUTED, /* without a stack, and not split */
};

struct diff_unit {
    enum unit_kind kind;
    uint64_t number;
    stack_id key[DIFF_KEYS]; /* of a site, from the first key on */
    uint8_t phase;
    struct diff_amount of[2];
    struct {
        bool there;
        stack_id stack; /* of the largest part */
        uint64_t figure;
    } largest[2];
    uint32_t match; /* its row of matches */
};

struct diff_matched {
    enum diff_stage stage;
    uint32_t score;
    bool small; /* the sum of what is too small to be compared */
};

struct diff_matches {
    struct diff_matched *at;
    uint32_t count;
};

/* Gives each unit its match.  A unit that both sides have is matched; `first` is the stage that
 * says so. */
enum vrs_status diff_match(const struct diff_keys *keys, struct diff_unit *unit, uint32_t units,
                           enum diff_stage first, enum diff_weight weight, struct arena *scratch,
                           struct diff_matches *ret, struct vrs_error *err) MUST_CHECK;

#endif
