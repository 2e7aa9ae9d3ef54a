/* flows.h - from device work along the arrow that ends at it to the operator where that begins. */
#ifndef VRS_ANALYSIS_TRACE_STUDY_FLOWS_H
#define VRS_ANALYSIS_TRACE_STUDY_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/idtab.h"
#include "model/trace.h"

struct flow_ends {
    struct idtab starts;   /* by category and id: the last in the file */
    struct idtab finishes; /* by process and time: the first */
};

/* Into empty tables.  False when out of memory; to be freed in any case. */
bool flow_ends_index(const struct trace *t, struct flow_ends *ret);
void flow_ends_free(struct flow_ends *ends);

/* From this moment on this operator is the innermost of its thread, up to the next change. */
struct op_change {
    int64_t moment;
    uint32_t op; /* or NO_ROW */
};

struct op_times {
    uint32_t *first; /* of each track, and one more */
    struct op_change *at;
};

/* Everything is taken from `arena`.  False when out of memory. */
bool op_times_make(const struct trace_study *s, struct arena *arena, struct op_times *ret);

/* The operator that a device event is owed to by a flow, or NO_ROW. */
uint32_t owner_by_flow(const struct trace *t, const struct flow_ends *ends,
                       const struct op_times *ops, uint32_t row);

#endif
