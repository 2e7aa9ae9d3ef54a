/* verify.h - checks every invariant of a finished recording. */
#ifndef VRS_MODEL_VERIFY_H
#define VRS_MODEL_VERIFY_H

#include "base/fail.h"
#include "model/recording.h"

/* VRS_CORRUPT names the first invariant that does not hold: a fault of the reader, never of the
 * file.  Runs after each load in tests, fuzzers and debug builds. */
enum vrs_status verify_recording(const struct recording *r, struct vrs_error *err) MUST_CHECK;

#endif
