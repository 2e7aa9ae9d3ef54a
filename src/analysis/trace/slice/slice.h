/* slice.h - the part of a trace that some of its steps are, for a smaller file of the same kind.
 *
 * Kept is what began on the host between the begin of the first step and the end of the last, the
 * device work that it launched, the links that begin there with their other ends, and what the
 * allocators did meanwhile.  Host events below a length go, but for steps, and for what device work
 * that is kept was launched by or is owed to. */
#ifndef VRS_ANALYSIS_TRACE_SLICE_SLICE_H
#define VRS_ANALYSIS_TRACE_SLICE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "model/trace.h"

/* Ends that are open. */
#define SLICE_FROM_FIRST INT64_MIN
#define SLICE_TO_LAST INT64_MAX

struct slice_question {
    bool by_steps; /* else all of the trace */
    int64_t first_step, last_step; /* by the numbers in their names */
    bool drop_python;
    int64_t min_duration_ns; /* of host events */
};

/* Which rows are kept. */
struct slice {
    bool *span, *flow, *memory;
    uint64_t kept, all; /* spans */
};

/* Everything is taken from `arena`.  VRS_USAGE where a step that an end names is not there. */
enum vrs_status slice_make(const struct trace *t, const struct slice_question *q,
                           struct arena *arena, struct slice *ret,
                           struct vrs_error *err) MUST_CHECK;

#endif
