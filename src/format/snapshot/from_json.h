/* from_json.h - JSON text becomes a recording, through the same builder as a pickle. */
#ifndef VRS_FORMAT_SNAPSHOT_FROM_JSON_H
#define VRS_FORMAT_SNAPSHOT_FROM_JSON_H

#include <stdint.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "model/recording.h"

/* Reads one JSON value into `r`, which recording_init made; `w` stands at its first byte (white
 * space and a byte order mark are behind it) and then behind its last.  `*finished_records` goes
 * up with every record that is complete, while reading.  Input that ends inside the value is a
 * valid prefix (origin.complete is false) or, with nothing finished, an error.  On failure `r` is
 * fit only to be freed. */
enum vrs_status snapshot_from_json(struct window *w, const struct limits *limits,
                                   uint64_t *finished_records, struct recording *r,
                                   struct vrs_error *err) MUST_CHECK;

#endif
