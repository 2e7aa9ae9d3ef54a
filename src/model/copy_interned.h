/* copy_interned.h - copies the interned tables of a recording (strings, stacks, …) to a new one. */
#ifndef VRS_MODEL_COPY_INTERNED_H
#define VRS_MODEL_COPY_INTERNED_H

#include <stdbool.h>

#include "model/recording.h"

/* Strings, frames, stacks, contexts, pools and streams, under the same ids; marks and settings, row
 * by row.  `to` is fresh from recording_init.  False when out of memory or rows; `to` is then to be
 * freed all the same. */
bool recording_copy_interned(struct recording *to, const struct recording *from);

#endif
