/* run_state.h - the blocks of a machine as the segments and blocks of a recording. */
#ifndef VRS_ALLOCATOR_WHATIF_RUN_STATE_H
#define VRS_ALLOCATOR_WHATIF_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/machine.h"
#include "model/recording.h"

/* What a block's allocation carried. */
struct origin_of {
    uint32_t stack, context;
};

/* Appends what the machine holds as the final state of the last device.  A lane's pool is a row of
 * the recording's pools, 0 the default one; `origin` is of each of the first `origins` blocks of
 * the machine.  False when out of memory or rows. */
bool run_state_add(struct recording *to, const struct machine *m, const struct origin_of *origin,
                   uint32_t origins);

#endif
