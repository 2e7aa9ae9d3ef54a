/* chrome.h - a trace written as a profiler writes it: Chrome Trace Event JSON.
 *
 * It has what a trace is made of: processes with their names and labels, what lasts, both ends of
 * links, what allocators did, the devices of the header and what was recorded.  Read again it has
 * the same rows in the same order, to the nanosecond.  What a reader does not keep is not there:
 * arguments without a meaning here, counters, instants that are no allocator's. */
#ifndef VRS_RENDER_TRACE_CHROME_H
#define VRS_RENDER_TRACE_CHROME_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"
#include "render/write/out.h"

/* The tables that events are in. */
enum chrome_table { CHROME_SPANS, CHROME_FLOWS, CHROME_MEMORY };

/* Which rows are written; NULL: all of them. */
struct chrome_choice {
    bool (*keeps)(const void *arg, enum chrome_table table, uint32_t row);
    const void *arg;
};

/* Failures are those of `out`. */
void chrome_write(struct out *out, const struct trace *t, const struct chrome_choice *choice);

#endif
