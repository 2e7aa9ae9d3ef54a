/* from_json.h - JSON text becomes a trace. */
#ifndef VRS_FORMAT_TRACE_FROM_JSON_H
#define VRS_FORMAT_TRACE_FROM_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "model/trace.h"

enum { TRACE_NESTING = 256 };

/* How a large file may be read by several threads: its list of events in parts, side by side.  What
 * is read does not depend on it. */
struct trace_parts {
    /* Of the file's bytes in any order; NULL: those of the window that is read, in order, on one
     * thread after another. */
    const struct source *input;
    uint32_t threads, part_bytes;
    uint64_t *cuts;              /* NULL, or counts the parts */
    const struct window *stored; /* of `done_bytes`, where it is not the window that is read */
    /* Told on the caller's thread how far it is; not VRS_OK ends the reading.  May be NULL. */
    enum vrs_status (*progress)(void *arg, uint64_t done_bytes, struct vrs_error *err);
    void *progress_arg;
};

/* Reads one JSON value into `t`, which trace_init made: an object with `traceEvents` among its
 * keys, or the list of events alone.  `w` stands at its first byte (white space and a byte order
 * mark are behind it) and then behind its last; where `parts` is not NULL, which then has an input,
 * it may stay.  Input that ends inside the value keeps the events that are whole
 * (DAMAGE_TRUNCATED) or, with none, is an error.  What is damaged inside is read
 * around, see tolerant.h; containers may lie in each other TRACE_NESTING deep, or as deep as the
 * limit says where that is more, and a value that lies deeper is missing.  On failure `t` is fit
 * only to be freed. */
enum vrs_status trace_from_json(struct window *w, const struct limits *limits,
                                const struct trace_parts *parts, struct trace *t,
                                struct vrs_error *err) MUST_CHECK;

/* The same in parts alone, and `*ret_done`.  Not done, `t` is as trace_init makes it, and of what
 * comes in order nobody can tell how much was read. */
enum vrs_status trace_from_json_in_parts(struct window *w, const struct limits *limits,
                                         const struct trace_parts *parts, struct trace *t,
                                         bool *ret_done, struct vrs_error *err) MUST_CHECK;

#endif
