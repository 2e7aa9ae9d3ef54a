/* advise_rules.h - what a rule of advice is given, and how it speaks. */
#ifndef VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_RULES_H
#define VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/counterfactual.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/vec.h"
#include "model/ids.h"

typedef VEC(struct removal) removal_vec;

/* Of one rule: a copy for each, of which what comes before the rule's own is shared. */
struct advising {
    const struct proven_study *proven;
    const struct study *s; /* its study */
    const struct advise_inputs *in;
    struct counterfactual *c; /* under `lock` while rules run side by side */
    struct lock *lock;
    struct site_table sites; /* K1 */
    int64_t peak_bytes, peak_event;
    VEC(uint32_t) alive;  /* allocations that are alive at the peak, ascending */
    uint64_t floor_bytes; /* a smaller saving is not worth a line: 1 % of the peak, 16 MiB */
    int64_t first_oom;    /* what is freed after it is unwinding; the number of events: none */
    bool optimizer_seen, backward_seen;
    uint32_t backwards; /* backward intervals */
    /* Of each interval, and of what follows the last: the first forward and the first backward from
     * there on, the last optimizer before it; NO_ROW: none. */
    uint32_t *next_forward, *next_backward, *optimizer_before;

    /* The rule at hand. */
    struct advice now;
    removal_vec removals;       /* what its change would take away */
    uint64_t most_saving_bytes; /* where what is not seen bounds it; 0: nothing does */
    const char *clause;         /* why it stays silent; NULL: it speaks */
    struct vrs_error *err;
};

/* A rule fills `now` (bytes, site, events, conditions) and `removals`, or the saving itself; or
 * sets `clause`.  False when out of memory. */
typedef bool advice_rule(struct advising *a);

/* A row of the table; what it tests against is in advise_limits.h. */
struct advice_entry {
    const char *id;
    advice_rule *rule;
    enum advice_severity severity;
    enum confidence confidence;
    bool needs_saving; /* silent where it frees less than the floor; else that is a note */
    bool untraced;     /* the final state suffices */
    bool at_root;      /* of rules that save as much for the same bytes this one is named */
    bool at_owner;     /* the place to act is the library's line, where there is one */
    const char *text;  /* what to do: one or two sentences, with places as struct advice has them */
    const char *cost;  /* and what that costs; NULL: nothing worth naming */
};

enum { ADVICE_RULES_MOST = 32 };

/* In the order of the specification. */
extern const struct advice_entry advice_entries[];
extern const uint32_t advice_entry_count;

bool advise_grad_late_zero(struct advising *a);
bool advise_grad_not_cleared(struct advising *a);
bool advise_bucket_view(struct advising *a);
bool advise_two_generations(struct advising *a);
bool advise_no_grad(struct advising *a);
bool advise_retained_output(struct advising *a);
bool advise_graph_kept(struct advising *a);
bool advise_kept_each_step(struct advising *a);
bool advise_kv_prealloc(struct advising *a);
bool advise_inputs_ahead(struct advising *a);
bool advise_checkpoint(struct advising *a);
bool advise_logits_loss(struct advising *a);
bool advise_attention_math(struct advising *a);
bool advise_optimizer_foreach(struct advising *a);
bool advise_optimizer_replace(struct advising *a);
bool advise_optimizer_heavy(struct advising *a);
bool advise_expandable(struct advising *a);
bool advise_max_split(struct advising *a);
bool advise_empty_cache(struct advising *a);
bool advise_pending_free(struct advising *a);
bool advise_side_stream_cache(struct advising *a);
bool advise_collector(struct advising *a);
bool advise_capture(struct advising *a);
bool advise_near_limit(struct advising *a);
bool advise_held_over_backward(struct advising *a);
bool advise_autocast_cache(struct advising *a);
bool advise_second_model(struct advising *a);
bool advise_reserved_gap(struct advising *a);
bool advise_kv_pool(struct advising *a);

/* Helpers of rules. */

/* Stays silent, with a static clause; true. */
bool advise_silent(struct advising *a, const char *clause);

/* Notes a tested value; the name is static. */
void advise_condition(struct advising *a, const char *name, double value, double threshold);

/* Notes an event of the evidence, as far as there is room. */
void advise_event(struct advising *a, int64_t event);

/* The place in the program the advice is about. */
bool advise_site(struct advising *a, stack_id stack);

/* The stack of the largest of several allocations, of equals that of the first. */
struct largest {
    uint64_t bytes;
    stack_id stack;
};

/* Whether it is the largest so far. */
static inline bool largest_take(struct largest *of, uint64_t bytes, stack_id stack)
{
    if (bytes <= of->bytes)
        return false;
    *of = (struct largest){ bytes, stack };
    return true;
}

/* The entry of a size among those of the gradients, which are those of the parameters; NO_ROW:
 * none. */
uint32_t advise_size_of_model(const struct categories *c, uint64_t bytes);

/* Was memory short: an out-of-memory event, or a retry? */
bool advise_was_short(const struct advising *a);

/* A removal; spans that are empty are left out. */
bool advise_remove(struct advising *a, uint32_t allocation, int64_t from, int64_t to,
                   uint64_t bytes);

/* The first event after the step that an event lies in; of what is in no complete step, after the
 * recording. */
int64_t advise_step_end(const struct study *s, int64_t event);

/* What the stack says that frees an allocation. */
static inline token_set advise_freed_by(const struct advising *a, uint32_t i)
{
    return a->s->tokens->of_stack[a->s->lifetimes.at[i].free_stack.n];
}

#endif
