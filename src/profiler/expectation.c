/* expectation.c - the size of a recording from the allocator's counts of one step. */
#include "profiler/expectation.h"

#include <stdint.h>

#include "base/bytes.h"
#include "vramscope/profiler.h"

/* What real recordings of 700 events and more take for one, most of it stacks; fewer events share
 * fewer stacks, and take more. */
enum { LEAST_BYTES = 40, MOST_BYTES = 400 };
/* An allocation is one event, a free two: it is asked for, and it is done. */
enum { EVENTS_OF_FREE = 2 };

uint64_t expectation_events(uint64_t allocations, uint64_t frees)
{
    if (allocations == VRS_UNKNOWN || frees == VRS_UNKNOWN)
        return VRS_UNKNOWN;
    return u64_plus(allocations, u64_times(frees, EVENTS_OF_FREE));
}

void expectation_make(uint64_t step_events, uint64_t steps, uint64_t most_events,
                      struct vrs_expected *ret)
{
    *ret = (struct vrs_expected){ VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN };
    if (step_events == VRS_UNKNOWN)
        return;
    uint64_t events = u64_times(steps, step_events);
    ret->events = events < most_events ? events : most_events;
    ret->least_bytes = u64_times(ret->events, LEAST_BYTES);
    ret->most_bytes = u64_times(ret->events, MOST_BYTES);
    if (step_events != 0)
        ret->steps_that_fit = most_events / step_events;
}
