/* trace_tables.h - the tables about a trace, of at most so many rows; empty ones are not drawn. */
#ifndef VRS_RENDER_TRACE_TRACE_TABLES_H
#define VRS_RENDER_TRACE_TRACE_TABLES_H

#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "base/buf.h"
#include "render/write/human.h"

typedef void trace_table(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most);

trace_table trace_steps_table, trace_whole_steps_table; /* whole: its columns are explained */
trace_table trace_ops_table, trace_ops_by_device_table, trace_kernels_table, trace_copies_table,
    trace_calls_table, trace_memory_table;
/* By class, by reason, by length, and the longest ones, device by device. */
trace_table trace_gaps_tables;

#endif
