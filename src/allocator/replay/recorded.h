/* recorded.h - the settings that a recording was made with. */
#ifndef VRS_ALLOCATOR_REPLAY_RECORDED_H
#define VRS_ALLOCATOR_REPLAY_RECORDED_H

#include <stdbool.h>

#include "allocator/machine/config.h"
#include "allocator/machine/rounding.h"
#include "model/recording.h"

/* How it rounds: the table of its dict; none where it has no dict. */
struct rounding rounding_of(const struct recording *r);

/* The settings a recording was made with: its dict, and for what the dict lacks its string.  Where
 * the file says nothing of expandable segments, `expandable` is what its segments show.
 * Never fails: what cannot be a setting is passed over. */
struct allocator_config config_of_recording(const struct recording *r);

/* Was the recording made by another allocator (the setting `backend`), which is not modelled? */
bool recorded_by_another(const struct recording *r);

#endif
