/* step_sources.h - the ways to find steps, each by itself; steps.h chooses among them.
 *
 * A step begins at an event and ends before the next one begins.  What lies before the first and
 * behind the last complete step belongs to none. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_SOURCES_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/mark_events.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_stacks.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/quickselect.h"
#include "model/recording.h"

struct step_pairs;

/* A batch is more than this; what is not is a sum or a flag. */
enum { SCALAR_BYTES_MAX = 16 };

/* What all sources look at.  A position is an alloc's number among the allocs of the device. */
struct step_trace {
    const struct recording *r;
    uint32_t device;
    uint32_t first, events; /* rows of the device's events */
    const struct tokens *tokens;
    const struct phases *phases;
    const struct mark_events *marks;
    const struct lifetimes *lifetimes;
    struct arena *scratch;
    struct step_stacks stacks;
    const struct step_pairs *pairs;
    uint8_t forward_phase; /* enum phase: what no module is called in is PHASE_OTHER */
    uint32_t allocs;
    uint32_t *alloc_event; /* of each position, in events of the device */
    uint32_t *stack;       /* stack_id of each position */
    uint32_t *freed;      /* of each position: the event that asks for its free; UINT32_MAX: none */
    int64_t *live_before; /* requested bytes just before it, from the start of the recording */
    uint64_t change;      /* of the requested bytes by all events */
};

/* The complete steps of one source; `begin` has their first events. */
struct step_cuts {
    uint32_t *begin;
    uint32_t *end; /* their last events; NULL: each ends where the next one begins */
    uint32_t count;
    uint32_t end_event;      /* the last event of the last one */
    bool end_is_boundary;    /* another step begins there, or a mark ends it: as at a begin */
    uint32_t open_event;     /* the first of a step behind it that did not end; 0: none is known */
    double similarity_ratio; /* of neighbours, the median; negative: not worked out */
    bool low_confidence;
    struct step_pass *pass;
    uint32_t passes;
};

/* Periods that are no steps; at most INNER_LOOPS_MAX. */
enum { INNER_LOOPS_MAX = 16 };
struct inner_loops {
    struct inner_loop *at;
    uint32_t count;
};

/* Annotations that number steps. */
enum vrs_status steps_by_marks(const struct step_trace *t, struct step_cuts *ret,
                               struct vrs_error *err) MUST_CHECK;
/* The ends of optimizers' annotations. */
enum vrs_status steps_by_optimizer(const struct step_trace *t, struct step_cuts *ret,
                                   struct vrs_error *err) MUST_CHECK;
/* Cycles of forward, backward and update. */
enum vrs_status steps_by_cycles(const struct step_trace *t, const struct step_pairs *pairs,
                                struct step_cuts *ret, struct vrs_error *err) MUST_CHECK;
/* Annotations of the user's own that come again and again. */
enum vrs_status steps_by_annotations(const struct step_trace *t, struct step_cuts *ret,
                                     struct vrs_error *err) MUST_CHECK;
/* What repeats itself.  Unless `exact`, also where only stacks do, and sizes vary. */
enum vrs_status steps_by_period(const struct step_trace *t, bool exact, struct step_cuts *ret,
                                struct inner_loops *inner, struct vrs_error *err) MUST_CHECK;

/* How many allocs lie before an event. */
uint32_t step_position(const struct step_trace *t, uint32_t event);

/* The upper median; reorders `value` (count at least 1). */
static inline uint32_t step_median(uint32_t *value, uint32_t count)
{
    return quickselect_u32(value, count, count / 2);
}

/* A last or first step that is shorter than the others was cut by the recording. */
static inline bool step_is_whole(uint32_t length, uint32_t median)
{
    return (uint64_t)length * 20 >= (uint64_t)median * 19;
}

#endif
