/* trace_modules.h - the table of modules of a trace. */
#ifndef VRS_RENDER_TRACE_TRACE_MODULES_H
#define VRS_RENDER_TRACE_TRACE_MODULES_H

#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "base/buf.h"
#include "render/write/human.h"

/* At most so many rows; where there are none, what would record them. */
void trace_modules_table(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most);

#endif
