/* category_match.h - which rule decides for one allocation.
 *
 * What a rule asks of stacks is settled once for each stack, as bits by rule; for an allocation
 * the bits of its two stacks, its phase and its origin are put together, and only rules that are
 * left over are asked what they want of it itself. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_CATEGORY_MATCH_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_CATEGORY_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/categories/growing.h"
#include "analysis/snapshot/categories/makers.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "model/ids.h"
#include "model/recording.h"

/* One size, and how many there are. */
struct size_count {
    uint64_t bytes;
    uint32_t count;
};

/* What is asked about. */
struct subject {
    const struct lifetime *life;
    uint32_t allocation; /* row of allocations */
    uint32_t interval;   /* of phases, that it is born in; NO_ROW: none */
    uint8_t born;        /* enum phase; PHASES: not known */
    stack_id freed_by;   /* 0: none, or no evidence */
    bool replaces, replaced;
    uint8_t inherited, split, alike, list; /* category that those rules would give; 0: none */
};

/* The first requests of the size last asked about: in a backward, and outside of one. */
struct first_of_size {
    uint64_t bytes;
    uint32_t allocation[2]; /* row of the lifetimes; NO_ROW: none */
};

/* Owned by the arena it was made in. */
struct matcher {
    const struct recording *r;
    const struct category_rules *rules;
    const struct phases *phases;
    const struct steps *steps;
    struct naming *naming;
    const struct pattern_room *room;
    int64_t events;
    struct segment_index segments; /* of the device */
    struct size_count *multiset;   /* of the gradients, ascending; none while it is sought */
    uint32_t sizes;
    const struct lifetimes *lifetimes;
    const uint8_t *born; /* enum phase of each; PHASES: not known */
    bool *keeps_graph;   /* by interval: a quarter of what it bears outlives it */
    bool *keeps_beyond;  /* and outlives the interval after it, too */
    uint64_t *older;     /* sizes of what was made before any forward and lives on, ascending */
    uint32_t olders;
    bool weights_known; /* those have the sizes of nearly all gradients, as often */
    struct makers makers;
    struct growing_sites growing;
    struct first_of_size *first_of_size;
    bool *is_first; /* by allocation: of its size; NULL: rules ask it of one size at most */

    uint32_t words;              /* of 64 rules */
    uint32_t text_words;         /* of 64 texts */
    uint64_t *texts_of;          /* by stack: which texts some frame matches */
    uint64_t *line_asked;        /* by frame: of which texts its line has been asked, as an owner or
                                  * a culprit, which many stacks share */
    uint64_t *line_matches;      /* by frame: which of these it matches */
    struct rule_condition *open; /* what bits do not settle of the rules' conditions */
    uint32_t *first_open;        /* by rule, into `open`; one more at the end */
    uint64_t *excluded;          /* by text, not matched and matched: the rules that it excludes */
    uint64_t *by_alloc; /* by stack: which rules its alloc.* allow; valid where `alloc_known` */
    uint64_t *by_free;
    bool *alloc_known, *free_known;
    uint64_t *by_born;      /* by phase, and PHASES */
    uint64_t *by_origin;    /* by origin */
    uint64_t *by_gradients; /* rules that may hold otherwise once the gradients are known */
    uint8_t *work; /* by interval: the phase of the last one, this or before, that is work */
    uint32_t (*latest)[PHASES]; /* by interval: the last of a phase, this or before, plus 1 */
    int64_t (*after)[PHASES];   /* by interval: the last event of the next one of a phase, or -1;
                                 * after[0] speaks of the time before all intervals */
};

enum vrs_status matcher_make(const struct recording *r, uint32_t device,
                             const struct category_rules *rules, const struct phases *phases,
                             const struct steps *steps, struct naming *naming,
                             const struct pattern_room *room, struct arena *arena,
                             struct matcher *ret, struct vrs_error *err) MUST_CHECK;

/* What is known of all allocations, parallel to `lifetimes`: the phase that each is born in, and
 * its interval or NO_ROW.  To be called before anything is asked. */
enum vrs_status matcher_know(struct matcher *m, const struct lifetimes *lifetimes,
                             const struct tokens *tokens, const uint8_t *born,
                             const uint32_t *interval, const stack_id *freed_by,
                             struct arena *arena, struct vrs_error *err) MUST_CHECK;

/* The gradients have been found: sizes, ascending. */
void matcher_know_gradients(struct matcher *m, struct size_count *multiset, uint32_t sizes);

/* The first rule that holds; NO_ROW: none.  `*ret_final`: it would be the same whatever the
 * multiset, and what is inherited or split. */
enum vrs_status matcher_ask(struct matcher *m, const struct subject *subject, uint32_t *ret,
                            bool *ret_final, struct vrs_error *err) MUST_CHECK;

/* Boundaries of steps that an allocation lived through. */
uint64_t matcher_steps_lived(const struct matcher *m, const struct lifetime *l);

/* Events up to the next interval belong to one. */
int64_t interval_end(const struct phases *p, uint32_t interval, int64_t events);

#endif
