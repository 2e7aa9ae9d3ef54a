/* run_recording.h - a what-if run written down as a recording like any other. */
#ifndef VRS_ALLOCATOR_WHATIF_RUN_RECORDING_H
#define VRS_ALLOCATOR_WHATIF_RUN_RECORDING_H

#include <stdbool.h>

#include "allocator/machine/config.h"
#include "allocator/whatif/whatif.h"
#include "base/fail.h"
#include "model/recording.h"

/* Begins with the names, annotations and settings of `from`, the settings as `config` has them.
 * `to` is fresh from recording_init, and to be freed by the caller whatever happens. */
enum vrs_status run_recording_begin(struct recording *to, const struct recording *from,
                                    const struct allocator_config *config,
                                    struct vrs_error *err) MUST_CHECK;

/* Writes the allocator's settings in place of those that a recording has.  False when out of memory
 * or rows. */
bool run_recording_settings(struct recording *to, const struct allocator_config *config);

/* Answers the question and adds what the run did as one more device. */
enum vrs_status run_recording_add(struct recording *to, const struct program *p,
                                  const struct start_state *start, const struct whatif_question *q,
                                  struct whatif_answer *ret, struct vrs_error *err) MUST_CHECK;

/* Pairs the events; the recording is then finished. */
enum vrs_status run_recording_finish(struct recording *to, struct vrs_error *err) MUST_CHECK;

#endif
