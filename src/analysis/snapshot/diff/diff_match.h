/* diff_match.h - which sites of two recordings are one, in stages; each leaves to the next what it
 * has not matched. */
#ifndef VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_MATCH_H
#define VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/diff/diff_keys.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"

enum {
    MATCH_SITES = 400 /* unmatched sites of a side that likeness is asked of, the heaviest */
};

/* A piece of what is compared: one site in the first stage, on either side.  Matching joins pieces
 * and never divides one. */
enum diff_piece_kind {
    PIECE_SITE,         /* number: the stack under the first key */
    PIECE_CATEGORY,     /* without a stack, of one category */
    PIECE_SIZE,         /* without a stack in recordings that have none, of one size */
    PIECE_UNATTRIBUTED, /* without a stack, and not split */
};

struct diff_piece {
    enum diff_piece_kind kind;
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

/* Gives each piece its match.  A piece that both sides have is matched; `first` is the stage that
 * says so. */
enum vrs_status diff_match(const struct diff_keys *keys, struct diff_piece *piece, uint32_t pieces,
                           enum diff_stage first, enum diff_weight weight, struct arena *scratch,
                           struct diff_matches *ret, struct vrs_error *err) MUST_CHECK;

#endif
