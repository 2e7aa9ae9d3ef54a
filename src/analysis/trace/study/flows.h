/* flows.h - the arrows of a trace: from their ends to where they begin, and the operator there. */
#ifndef VRS_ANALYSIS_TRACE_STUDY_FLOWS_H
#define VRS_ANALYSIS_TRACE_STUDY_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/idtab.h"
#include "model/trace.h"

/* A table of flows' beginnings, by category and id.  Adds one, in place of one of the same; false when
 * out of memory. */
bool flow_start_add(const struct flows *f, struct idtab *index, uint32_t row);
/* That of a beginning's, or an end's, category and id; NO_ROW. */
uint32_t flow_start_find(const struct flows *f, const struct idtab *index, uint32_t row);

/* From an operator of a forward to that of its backward. */
bool flow_joins_backward(const struct trace *t, uint32_t row);

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
