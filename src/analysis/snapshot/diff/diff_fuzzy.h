/* diff_fuzzy.h - a similarity score of two stacks: a weighted sequence alignment of their frames.
 *
 * The frames of both, innermost first, are aligned so that the sum over the pairs is largest.  The
 * frame i from the inside weighs 1 / sqrt(1 + i); a pair gives the mean weight of its frames,
 * whole for the same file and function, 0.8 of it for the same function, 0.4 where that name says
 * little (`forward`).  The score is that sum over the mean weight of both stacks, in millionths and
 * in whole numbers only, so that it is the same whichever stack comes first. */
#ifndef VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_FUZZY_H
#define VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_FUZZY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/diff/diff_keys.h"
#include "base/arena.h"
#include "model/ids.h"

enum {
    FUZZY_ENOUGH = 600000, /* below it two stacks are not matched (tuned) */
    FUZZY_FRAMES = 64,     /* frames further out weigh too little to be looked at */
    /* Sites whose mean allocations differ by more are of different things, however near their lines
     * stand: a sum of a few bytes is not the tensor it was taken of.  A batch, a model or a text
     * that is larger changes sizes by less. */
    FUZZY_SIZES = 256
};

/* One stack, ready to be compared. */
struct fuzzy_stack {
    uint32_t frames;
    uint32_t weight; /* of all of them */
    uint32_t name[FUZZY_FRAMES], file[FUZZY_FRAMES];
    bool generic[FUZZY_FRAMES];
};

struct fuzzy {
    const struct diff_keys *keys;
    uint32_t weight[FUZZY_FRAMES];
    uint32_t *in_a, *in_b; /* of each string: the last stack with such a function */
    uint32_t turn;
};

/* False when out of memory. */
bool fuzzy_init(struct fuzzy *f, const struct diff_keys *keys, struct arena *scratch);

void fuzzy_read(const struct fuzzy *f, stack_id stack, struct fuzzy_stack *ret);

/* Whether mean sizes of allocations may be of one site in two versions of a program. */
bool fuzzy_sizes_fit(uint64_t a, uint64_t b);

/* 0 where it is certainly below FUZZY_ENOUGH. */
uint32_t fuzzy_score(struct fuzzy *f, const struct fuzzy_stack *a, const struct fuzzy_stack *b);

#endif
