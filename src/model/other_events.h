/* other_events.h - finds the few events that are neither allocs nor frees.
 *
 * Of a trace nearly all events are about blocks; segments, ooms, snapshots and annotations are one
 * in a hundred or fewer.  Who looks for those alone passes over the others many at a time. */
#ifndef VRS_MODEL_OTHER_EVENTS_H
#define VRS_MODEL_OTHER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/recording.h"

static inline bool action_is_other(uint8_t action)
{
    return (uint8_t)(action - ACTION_ALLOC) > ACTION_FREE - ACTION_ALLOC;
}

/* Moves `*i` up to the first rare of action[*i], …, action[end - 1]; false where there is none. */
bool other_event_next(const uint8_t *action, uint32_t *i, uint32_t end);

/* Moves `*i` down to the last rare of action[begin], …, action[*i - 1]; false where there is none.
 */
bool other_event_before(const uint8_t *action, uint32_t begin, uint32_t *i);

#endif
