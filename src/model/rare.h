/* rare.h - finds the few events that are neither allocs nor frees.
 *
 * Of a trace nearly all events are about blocks; segments, ooms, snapshots and annotations are one
 * in a hundred or fewer.  Who looks for those alone passes over the others many at a time. */
#ifndef VRS_MODEL_RARE_H
#define VRS_MODEL_RARE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/recording.h"

static inline bool action_rare(uint8_t action)
{
    return (uint8_t)(action - ACTION_ALLOC) > ACTION_FREE - ACTION_ALLOC;
}

/* The first rare of action[i], …, action[end - 1]; `end` where there is none. */
uint32_t rare_from(const uint8_t *action, uint32_t i, uint32_t end);

/* One above the last rare of action[begin], …, action[i - 1]; `begin` where there is none. */
uint32_t rare_below(const uint8_t *action, uint32_t begin, uint32_t i);

#endif
