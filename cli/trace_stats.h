/* trace_stats.h - how long a trace took to read and to answer, and how much memory. */
#ifndef CLI_TRACE_STATS_H
#define CLI_TRACE_STATS_H

#include "vramscope/trace.h"

/* Moments in seconds of one clock. */
struct trace_stats {
    double begun, read, answered;
};

double trace_stats_now(void);

/* Says it of one file on standard error. */
void trace_stats_say(const char *path, const struct vrs_trace *trace,
                     const struct trace_stats *stats);

#endif
