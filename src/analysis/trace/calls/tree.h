/* tree.h - the call tree as lines for people: paths with enough time, the longest first. */
#ifndef VRS_ANALYSIS_TRACE_CALLS_TREE_H
#define VRS_ANALYSIS_TRACE_CALLS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/tables/memory_sums.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/trace.h"

struct tree_row {
    str name; /* of a root its thread */
    uint32_t depth;
    uint64_t calls;
    int64_t host_ns, self_host_ns;
    int64_t device_ns;
    struct memory_sum bytes; /* given out */
};

struct trace_tree {
    struct tree_row *row; /* a path, then what is below it */
    uint32_t rows;
    uint32_t paths; /* of the whole tree */
    double least_share;
    int64_t host_ns, device_ns; /* of all roots */
};

/* The share of the time, of hosts or of devices, below which a path is left out. */
#define TREE_LEAST_SHARE 0.01

/* "2.5%" or "0.025".  False where it is neither, or not from 0 to 1. */
bool tree_share_read(str text, double *ret);

/* It holds no pointer into the trace; everything is taken from `arena`. */
enum vrs_status trace_tree_make(const struct trace *t, double least_share, struct arena *arena,
                                struct trace_tree *ret, struct vrs_error *err) MUST_CHECK;

/* Appends what a thread is called, or what the root without one stands for. */
void tree_root_name(const struct trace *t, const struct call_paths *c, uint32_t track,
                    struct buf *to);
/* What a stream of a device is called. */
void tree_stream_name(const struct trace *t, uint32_t track, struct buf *to);

#endif
