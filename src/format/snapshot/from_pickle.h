/* from_pickle.h - reads a pickled snapshot without building an object of it. */
#ifndef VRS_FORMAT_SNAPSHOT_FROM_PICKLE_H
#define VRS_FORMAT_SNAPSHOT_FROM_PICKLE_H

#include <stdint.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/snapshot/ahead.h"
#include "model/recording.h"

/* Fills `r`, fresh from recording_init, from the pickle at the window's front, and leaves the
 * window behind its STOP.  Opcodes that could name or call code are refused with their offset.
 * Input that ends early gives its finished records and origin.complete = false.  `*finished` is
 * counted up with each record. */
enum vrs_status snapshot_from_pickle(struct window *w, const struct limits *limits,
                                     const struct ahead_options *ahead, uint64_t *finished,
                                     struct recording *r, struct vrs_error *err) MUST_CHECK;

#endif
