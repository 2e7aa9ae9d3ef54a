/* counted.h - an input that counts its bytes as they are read, and tells how far it is. */
#ifndef VRS_FORMAT_COUNTED_H
#define VRS_FORMAT_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "format/input/window.h"

struct counted {
    struct source input;
    uint64_t size_bytes; /* of the input; UNKNOWN_U64 */
    /* Called about every MiB with the bytes read so far and their total (0: not known); of a file
     * that is read twice with the most that was told.  False cancels: VRS_IO.  May be NULL. */
    bool (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    /* 0 at first. */
    uint64_t done_bytes;
    uint64_t told_at, told_bytes; /* where it was told last, and the most that was told */
    bool has_told;
};

/* Tells of bytes that somebody else has read, up to `done_bytes`. */
enum vrs_status counted_tell(struct counted *c, uint64_t done_bytes,
                             struct vrs_error *err) MUST_CHECK;

/* Reads from `c`, which must outlive it. */
struct source source_of_counted(struct counted *c);

#endif
