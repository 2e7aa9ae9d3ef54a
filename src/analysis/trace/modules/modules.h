/* modules.h - the time of modules (torch.nn.Module), by the frames that the profiler writes of their
 * calls, forward and backward. */
#ifndef VRS_ANALYSIS_TRACE_MODULES_MODULES_H
#define VRS_ANALYSIS_TRACE_MODULES_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/memory_sums.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

/* A module inside those around it.  Self is without the modules inside. */
struct module_row {
    str path;  /* "Net_0.Linear_1"; of its backward pass "Net_0.Linear_1.backward" */
    str name;  /* "Linear_1" */
    uint32_t depth; /* modules around it */
    bool backward;
    uint64_t calls; /* of the backward pass: operators that a forward operator of it leads to */
    int64_t host_ns, self_host_ns;
    int64_t device_ns, self_device_ns;
    struct memory_sum bytes; /* given out */
};

struct modules {
    struct module_row *row; /* a module, its backward pass, then the modules inside it */
    uint32_t rows;
    uint32_t modules; /* without the rows of backward passes */
};

/* It holds no pointer into the trace; what is kept is taken from `arena`.  A trace without frames of
 * modules has no row. */
enum vrs_status trace_modules_make(const struct trace_study *s, struct arena *scratch,
                             struct arena *arena, struct modules *ret,
                             struct vrs_error *err) MUST_CHECK;

/* The innermost module that a span of the host lies in, or is the backward pass of. */
struct span_modules {
    uint32_t *of; /* of each span: a place in `path`, or NO_ROW; NULL: there are no modules */
    str *path;    /* as of struct module_row */
};

/* `scratch` and `arena` are two.  Ranges lie in no module: see calls.h. */
enum vrs_status trace_modules_of_spans(const struct trace_study *s, struct arena *scratch,
                                       struct arena *arena, struct span_modules *ret,
                                       struct vrs_error *err) MUST_CHECK;

extern const struct row_type trace_module_row_type;

#endif
