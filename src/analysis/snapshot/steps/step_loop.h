/* step_loop.h - where a loop goes round: the program comes back to an earlier line of the function
 * that all of the loop is called from.  Of loops within each other the outermost goes back
 * furthest. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_LOOP_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/steps/step_sources.h"

/* Positions of allocs that come once in each round. */
struct step_rounds {
    uint32_t *at;
    uint32_t count;
};

/* Moves `rounds` (two at least) to where the loop goes round, one more or less of them; leaves them
 * where lines do not tell it of each.  In t->scratch; false when out of memory. */
bool step_loop_begins(const struct step_trace *t, struct step_rounds *rounds);

#endif
