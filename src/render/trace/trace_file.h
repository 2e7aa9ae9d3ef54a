/* trace_file.h - the first lines that an answer has about a file. */
#ifndef VRS_RENDER_TRACE_TRACE_FILE_H
#define VRS_RENDER_TRACE_TRACE_FILE_H

#include "analysis/trace/report/report.h"
#include "base/buf.h"
#include "render/write/human.h"

/* "run.json: profiler trace, 12.3 MiB, 48 120 events, complete": `what` it is, and `one` of what it
 * has. */
void trace_file_text(struct buf *to, const struct style *style, const struct trace_file *f,
                     const char *what, const char *one);

/* What was read around, in one line; nothing where nothing was. */
void trace_damage_text(struct buf *to, const struct style *style, const struct trace_file *f,
                       const char *one);

/* What would tell more, and what records it. */
void trace_missing_text(struct buf *to, const struct style *style, const struct trace_report *r);

#endif
