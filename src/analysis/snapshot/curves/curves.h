/* curves.h - requested, allocated, active and reserved bytes of a device at every event.
 *
 * State p is the state after the first p events of the device; event i leads from state i to
 * state i + 1.  "At event -1" is state 0, the start of the recording. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CURVES_CURVES_H
#define VRS_ANALYSIS_SNAPSHOT_CURVES_CURVES_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "model/ids.h"
#include "model/recording.h"

enum curve_name { CURVE_REQUESTED, CURVE_ALLOCATED, CURVE_ACTIVE, CURVE_RESERVED, CURVES };

extern const char *const curve_names[CURVES];

/* Bytes may be negative in edited files. */
struct curve {
    int64_t start_bytes, peak_bytes, end_bytes;
    int64_t peak_event, peak_last_event; /* -1: the start */
    bool start_known, end_known;         /* false only in cut files */
    bool exact; /* at every event; else the start and the peak are lower bounds */
};

struct curves {
    struct curve of[CURVES];
    int64_t reserved_at_peak_bytes;    /* at the first peak of the requested curve */
    int64_t most_above_reserved_bytes; /* requested less reserved where that is largest */
    uint64_t oom_events;
    bool sizes_known; /* of all events, segments and blocks; what has none counts nothing */
};

/* What lies before the first event by the allocations alone: their sum where no alloc was seen.
 * In a consistent recording it equals the start of the requested curve. */
int64_t forward_start_bytes(const struct recording *r, uint32_t device);

/* One pass over the device's events.
 *
 * Sizes of the events themselves count, whatever was paired with them; events of unknown size
 * count nothing.  The block of an alloc that survives is the recorded one, any other the rounded
 * request.  In the allocated curve this is also so for one that is pending at the end, since that
 * curve does not hold it there.  A trace whose requests were skipped takes the completions for
 * them.  Sums of hostile sizes wrap modulo 2^64. */
void curves_compute(const struct recording *r, uint32_t device, struct curves *ret);

/* Takes allocated and active bytes from a replay that reproduces the device: they are then exact.
 */
void curves_prove(struct curves *curves, const struct agreement *agreement);

enum { CONFLICTS_SHOWN = 5 };

/* What only the two curves together, or a curve and an event, can tell. */
struct curve_conflicts {
    uint64_t above_events; /* states in which more is requested than reserved */
    uint64_t above_worst_bytes;
    int64_t above_first_event;                         /* -1 also where there is none */
    int64_t above_event[CONFLICTS_SHOWN];              /* the first of them */
    uint64_t ooms;                                     /* with a known size of free device memory */
    int64_t capacity_least_bytes, capacity_most_bytes; /* reserved and free bytes at an oom */
    int64_t first_oom_event;
};
void curves_conflicts(const struct recording *r, uint32_t device, const struct curves *curves,
                      struct curve_conflicts *ret);

/* The largest value of the requested and of the reserved curve in each of `columns` (at least 1)
 * equal spans of states; for drawing.  Every value is the maximum of its span, so the peak is
 * always there.  Span i holds states [i * (n + 1) / columns, (i + 1) * (n + 1) / columns), at least
 * the first of them; with fewer states than columns, states repeat. */
void curves_draw(const struct recording *r, uint32_t device, const struct curves *curves,
                 uint32_t columns, int64_t *ret_requested, int64_t *ret_reserved);

/* Is there a trace to speak of?  One event over memory that was there before it is most often the
 * newest entry of a ring of one: analyses then know the final state only.  Where that event is a
 * request that failed, the final state is the state it failed in, and that is spoken of. */
bool device_traced(const struct recording *r, uint32_t device);

/* What an event (a row of events) adds to the requested bytes, modulo 2^64. */
static inline uint64_t requested_change(const struct recording *r, uint32_t event)
{
    uint8_t action = r->events.action[event];
    bool takes = action == ACTION_ALLOC;
    bool gives = action == ACTION_FREE_COMPLETED || action == ACTION_FREE;
    return ((uint64_t)takes - gives) * known_or_0(r->events.size[event]);
}

/* The same of the reserved bytes. */
static inline uint64_t reserved_change(const struct recording *r, uint32_t event)
{
    uint8_t action = r->events.action[event];
    if (!action_obtains(action) && !action_returns(action))
        return 0;
    uint64_t size = known_or_0(r->events.size[event]);
    return action_returns(action) ? -size : size;
}

/* The event that first brings the requested or the reserved curve to its peak (-1: the start), by
 * one pass that sums nothing else. */
int64_t curve_peak_event(const struct recording *r, uint32_t device, enum curve_name which);

/* The peak of the requested curve in the states before `event`, and the event that first brings it
 * there. */
int64_t curve_peak_before(const struct recording *r, uint32_t device, const struct curves *curves,
                          int64_t event, int64_t *ret_event);

/* The value of one curve after event `event` (-1: the start; past the last: the end). */
int64_t curve_at(const struct recording *r, uint32_t device, enum curve_name which, int64_t event);

/* Requested bytes of the final blocks that wait to be freed; UNKNOWN_U64 where the final state was
 * not read whole. */
uint64_t pending_bytes(const struct recording *r, uint32_t device);

/* Microseconds from the device's first event to `event` (from 0); UNKNOWN_U64: not known. */
uint64_t micros_after_first(const struct recording *r, uint32_t device, int64_t event);

#endif
