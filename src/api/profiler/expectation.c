/* expectation.c - the public calls about a recording that is to come. */
#include "profiler/expectation.h"

#include <stdint.h>

#include "vramscope/profiler.h"

uint64_t vrs_step_events(uint64_t allocations, uint64_t frees)
{
    return expectation_events(allocations, frees);
}

void vrs_expect_recording(uint64_t step_events, uint64_t steps, uint64_t most_events,
                          struct vrs_expected *ret)
{
    expectation_make(step_events, steps, most_events, ret);
}
