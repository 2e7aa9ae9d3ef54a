/* categories.h - classifies allocations: parameters, gradients, optimizer state and the rest.
 *
 * Each allocation has a category, with the rule that decided and how sure it is.  Copies of the
 * parameter list that are older than the recording cannot be told apart block by block: which is
 * which stays undecided (`undecided`), and only totals are claimed. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_CATEGORIES_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_CATEGORIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/recording.h"

struct categories {
    uint32_t count;      /* allocations of the device */
    uint8_t *of;         /* enum category of each */
    uint8_t *confidence; /* enum confidence */
    uint16_t *rule;      /* in `rule_names`; 0 is "U", no rule */
    bool *undecided;     /* one of equal copies: only the total of its size is claimed */
    bool *retained;      /* rule F4: an output kept beyond its step */
    bool *held;          /* rule F4: an output held by a name, over a backward or longer */
    const char *const *rule_names; /* static, or in the arena; equal ids may stand apart */
    uint32_t rules;

    /* The gradient multiset and what the structural split found; see split.h. */
    struct size_count *multiset;
    uint32_t multiset_entries;
    uint64_t multiset_bytes;
    uint32_t copies; /* of the parameter list, older than the recording; 0: no split */
    bool *in_copy;   /* of each allocation: it belongs to one of them */
    uint64_t copies_parameter_bytes, copies_gradient_bytes, copies_state_bytes, copies_copy_bytes;
    /* What an optimizer makes anew instead of changing it. */
    uint32_t *replaces; /* of each allocation: the one it stands for, plus 1; 0: none */
    uint64_t replaced_bytes;
    uint32_t replaced_count;
};

/* What decides; all of one device. */
struct categories_input {
    const struct recording *r;
    uint32_t device;
    const struct category_rules *rules;
    const struct lifetimes *lifetimes;
    const struct tokens *tokens;
    const struct phases *phases;
    const struct steps *steps;
    struct naming *naming;
};

enum vrs_status categories_make(const struct categories_input *in, struct arena *arena,
                                struct categories *ret, struct vrs_error *err) MUST_CHECK;

/* Copies of the rules' names, for who outlives the study; NULL: out of memory. */
const char **category_rule_names(const struct categories *c, struct arena *arena);

#endif
