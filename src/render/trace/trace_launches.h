/* trace_launches.h - the way of work from its launch to its start, as text. */
#ifndef VRS_RENDER_TRACE_TRACE_LAUNCHES_H
#define VRS_RENDER_TRACE_TRACE_LAUNCHES_H

#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "base/buf.h"
#include "render/write/human.h"

/* At most `most` streams. */
void trace_launches_tables(struct buf *to, const struct style *style, const struct trace_report *r,
                           uint32_t most);

#endif
