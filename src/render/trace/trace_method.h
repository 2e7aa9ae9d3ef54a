/* trace_method.h - the method of four phases on one page, with what proves a change. */
#ifndef VRS_RENDER_TRACE_TRACE_METHOD_H
#define VRS_RENDER_TRACE_TRACE_METHOD_H

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/bottleneck.h"
#include "base/buf.h"
#include "render/write/human.h"

/* The baseline, the kind of bottleneck, the component, the operation, three things to change, and
 * the command that compares a later trace with this one. */
void trace_method_text(struct buf *to, const struct style *style, const struct trace_report *r);

/* Of it the modules, the operators, the kernels, and three things to change; `all` has the rest. */
void trace_method_parts(struct buf *to, const struct style *style, const struct trace_report *r,
                        const char *all);

/* The kind alone. */
void bottleneck_text(struct buf *to, const struct style *style, const struct bottleneck *b);

#endif
