/* queue.h - launches: how long they took, how long their work waited, how much was queued.
 *
 * A piece of work is in the queue of its stream from the start of its launch to its own start.
 * Where the clocks of device and host disagree, work may start before its launch does; a depth
 * below 0 counts as 0, and is counted. */
#ifndef VRS_ANALYSIS_TRACE_QUEUE_QUEUE_H
#define VRS_ANALYSIS_TRACE_QUEUE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/field.h"
#include "base/str.h"

/* From the first launch to the start of the last work of a stream. */
struct trace_queue_row {
    str device, stream;
    uint64_t work; /* pieces that have a launch */
    int64_t ns;
    double mean;           /* depth, by time; negative, as all below: there is no time */
    int64_t median, most;  /* likewise; the last at any instant */
    double empty_ratio;    /* of the time */
    double full_ratio;     /* with QUEUE_FULL or more */
    uint64_t below_zero;   /* changes after which more had started than was launched */
};

enum { QUEUE_FULL = 1024 }; /* what a queue of CUDA holds before launches wait */

/* From the end of a launch to the start of its work. */
struct launch_delay {
    uint64_t count, negative;
    double mean_ns; /* 0, as all below, where there is none */
    int64_t least_ns, median_ns, p95_ns, most_ns; /* of an even number the lower */
};

struct trace_launches {
    uint64_t calls; /* whose name holds "launch" */
    int64_t ns;
    struct launch_delay delay;
    struct trace_queue_row *queue; /* by device, then by stream, as texts */
    uint32_t queues;
};

/* With what is only needed meanwhile in `scratch`; false when out of memory. */
bool launch_delay_find(const struct trace_study *s, struct arena *scratch,
                       struct launch_delay *ret);

/* With the delays of the same study.  Everything is taken from `arena`; false when out of memory. */
bool trace_launches_make(const struct trace_study *s, const struct launch_delay *delay,
                         struct arena *arena, struct trace_launches *ret);

extern const struct row_type trace_launches_row_type, trace_queue_row_type;

#endif
