/* expectation.c - events of one step, times the steps and the bytes of an event. */
#include "profiler/expectation.h"

#include <stdint.h>

#include "vramscope/profiler.h"

/* What real recordings of 700 events and more take for one, most of it stacks; fewer events share
 * fewer stacks, and take more. */
enum { LEAST_BYTES = 40, MOST_BYTES = 400 };
/* An allocation is one event, a free two: it is asked for, and it is done. */
enum { EVENTS_OF_FREE = 2 };

/* a * b; the largest number where that does not fit. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t expectation_events(uint64_t allocations, uint64_t frees)
{
    if (allocations == VRS_UNKNOWN || frees == VRS_UNKNOWN)
        return VRS_UNKNOWN;
    uint64_t of_frees = times(frees, EVENTS_OF_FREE);
    return allocations > VRS_UNKNOWN - of_frees ? VRS_UNKNOWN : allocations + of_frees;
}

void expectation_make(uint64_t step_events, uint64_t steps, uint64_t most_events,
                      struct vrs_expected *ret)
{
    *ret = (struct vrs_expected){ VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN };
    if (step_events == VRS_UNKNOWN)
        return;
    uint64_t events = times(steps, step_events);
    ret->events = events < most_events ? events : most_events;
    ret->least_bytes = times(ret->events, LEAST_BYTES);
    ret->most_bytes = times(ret->events, MOST_BYTES);
    if (step_events != 0)
        ret->steps_that_fit = most_events / step_events;
}
