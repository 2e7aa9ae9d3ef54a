/* expectation.h - how large a recording will be. */
#ifndef VRS_PROFILER_EXPECTATION_H
#define VRS_PROFILER_EXPECTATION_H

#include <stdint.h>

#include "vramscope/profiler.h"

/* Events of a step by the device's counters; VRS_UNKNOWN where one is not known. */
uint64_t expectation_events(uint64_t allocations, uint64_t frees);

/* Of so many steps, whose recorder keeps the last `most_events`. */
void expectation_make(uint64_t step_events, uint64_t steps, uint64_t most_events,
                      struct vrs_expected *ret);

#endif
