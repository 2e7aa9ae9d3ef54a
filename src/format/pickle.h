/* pickle.h - a pickle becomes a recording; data opcodes are recognised, nothing is executed. */
#ifndef VRS_FORMAT_PICKLE_H
#define VRS_FORMAT_PICKLE_H

#include "format/limits.h"
#include "format/window.h"
#include "model/recording.h"

/* Reads one pickle into `r`, which recording_init made, up to and with its STOP; `w` then stands
 * behind it.  `*finished_records` goes up with every record that is complete, while reading.
 * Input that ends before STOP is a valid prefix (origin.complete is false) or, with nothing
 * finished, an error.  On failure `r` is fit only to be freed. */
enum vrs_status read_pickle(struct window *w, const struct limits *limits,
                            uint64_t *finished_records, struct recording *r,
                            struct vrs_error *err) MUST_CHECK;

#endif
