/* sim.h - a simulation with the names that its history uses. */
#ifndef VRS_API_PROFILER_SIM_H
#define VRS_API_PROFILER_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "model/ids.h"
#include "model/recording.h"
#include "profiler/backend_sim.h"
#include "vramscope/sim.h"

/* Lives in the arena of `sim`, whose lock stands before all of it. */
struct vrs_sim {
    struct sim *sim;
    struct allocator_config config;
    struct recording names; /* strings, stacks, contexts and pools, marks; nothing else */
    uint32_t default_pool;  /* a row of its pools */
};

/* A text as UTF-8, repaired where it is none; false when out of memory. */
bool sim_intern_text(struct vrs_sim *s, const char *text, size_t len, string_id *ret);

/* As many rows and bytes as a history can name. */
enum { SIM_ROWS_MAX = UINT32_MAX / 4, SIM_TEXT_MAX = 1 << 30 };

#endif
