/* read.h - an input of any form becomes its recordings. */
#ifndef VRS_FORMAT_READ_H
#define VRS_FORMAT_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/snapshot/ahead.h"
#include "model/recording.h"

struct entry {
    struct recording *recording; /* NULL when status is not VRS_OK */
    str name;                    /* of an entry of a page; else empty */
    enum vrs_status status;
    struct vrs_error error;
};

struct entries {
    VEC(struct entry) list;
    struct arena arena; /* names, and the recordings themselves (not their columns) */
};

struct read_options {
    const struct limits *limits; /* NULL: the defaults */
    uint64_t size_bytes;         /* of the input, for progress; UNKNOWN_U64 */
    /* Called about every MiB with the stored bytes read so far and their total (0: not known).
     * False cancels: VRS_IO. */
    bool (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    struct ahead_options ahead; /* goes for pickles that are neither compressed nor in a page */
};

/* Reads `input` to its end.  Anything but a page is one entry, and fails as a whole.  A page may
 * have several, and one that cannot be read does not hide the others: look at their status.  What
 * fails around the entries (the system, a compressed stream, memory) fails the call.
 *
 * Offsets of failures count unpacked bytes; where those are not the bytes of the input, the
 * message says what they count.  Recordings are not paired yet. */
enum vrs_status read_recordings(struct source input, const struct read_options *options,
                                struct entries *ret, struct vrs_error *err) MUST_CHECK;
void entries_free(struct entries *e);

#endif
