/* trace_memory.h - what was in memory at the peak of each device, for people. */
#ifndef VRS_RENDER_TRACE_TRACE_MEMORY_H
#define VRS_RENDER_TRACE_TRACE_MEMORY_H

#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "base/buf.h"
#include "render/write/human.h"

/* Behind the table of devices: of each its peak, what it consisted of, and whether it grows. */
void trace_memory_peaks(struct buf *to, const struct style *style, const struct trace_report *r,
                        uint32_t most);

#endif
