/* split.h - splits memory without stacks into parameters, gradients and state, by counting sizes.
 *
 * The gradients of a model have the sizes of its parameters, each as often.  If memory older than
 * the recording holds every such size q times as often, it holds q copies of the parameter list:
 * the parameters, optimizer state, perhaps gradients of the step before, perhaps a moving average
 * or a second model.  Gradients that zero_grad frees are known as such and need not be counted. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_SPLIT_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"

/* What is known before: parallel to the lifetimes. */
struct split_input {
    const struct lifetimes *lifetimes;
    const struct phases *phases;
    const struct tokens *tokens;
    int64_t events;
    uint32_t stacks;         /* of the recording */
    const uint8_t *category; /* by rules alone; enum category */
    const bool *replaced;
    const uint32_t *replaces; /* the one it stands for, plus 1; 0: none */
    const stack_id *freed_by;
    const uint32_t *interval; /* that each is born in, or NO_ROW */
};

struct split {
    struct size_count *multiset; /* of the gradients, ascending by size */
    uint32_t sizes;
    uint64_t multiset_bytes;
    bool accumulated;  /* gradients are added to in place: older ones stay */
    bool by_optimizer; /* the sizes are those that an optimizer asks for: no gradient was seen */
    uint32_t copies;   /* q, and one of gradients taken out; 0: no split, and `of` is all zero */
    uint8_t *of;       /* enum category that the split gives; 0: none */
    bool *in_copy;     /* belongs to one of the copies */
    bool *undecided;   /* copies of its size have several categories */
    /* Of the copies. */
    uint64_t parameter_bytes, gradient_bytes, optimizer_state_bytes, parameter_copy_bytes;
};

/* The sizes of the gradients at their maximum, in `arena`. */
enum vrs_status split_multiset(const struct split_input *in, struct arena *arena,
                               struct arena *scratch, struct split *ret,
                               struct vrs_error *err) MUST_CHECK;

/* The copies among what is older than the recording, by the multiset found before; only `in_copy`
 * lives in `arena`. */
enum vrs_status split_copies(const struct split_input *in, struct arena *arena,
                             struct arena *scratch, struct split *s,
                             struct vrs_error *err) MUST_CHECK;

#endif
