/* read_trace.h - an input of any packing becomes a profiler trace, or the memory timeline of one. */
#ifndef VRS_FORMAT_READ_TRACE_H
#define VRS_FORMAT_READ_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "model/trace.h"

struct read_trace_options {
    const struct limits *limits; /* NULL: the defaults */
    uint64_t size_bytes;         /* of the input, for progress; UNKNOWN_U64 */
    /* As in struct read_options. */
    bool (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    /* What gives its bytes in any order may be read by so many threads, in parts of so many bytes;
     * what is packed is unpacked, part by part, by one of them after another.  0 and 1 threads: by
     * the caller's alone. */
    uint32_t threads;
    uint32_t part_bytes;        /* 0: as one */
    uint32_t packed_part_bytes; /* unpacked; 0: as one, by a thread beside one that unpacks ahead */
};

/* Reads `input`, packed or not, to its end.  `ret` is then the trace's owner. */
enum vrs_status read_trace(struct source input, const struct read_trace_options *options,
                           struct trace *ret, struct vrs_error *err) MUST_CHECK;

#endif
