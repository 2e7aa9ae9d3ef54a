/* trace_stacks.h - paths of the call tree as stacks of frames, with what each weighs. */
#ifndef VRS_RENDER_EXPORT_TRACE_TRACE_STACKS_H
#define VRS_RENDER_EXPORT_TRACE_TRACE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/trace.h"
#include "render/export/trace/trace_export.h"

/* A stack is its frames from the innermost on.  One of more than this many has one frame for all
 * that stand outside of them: written out, a tree of calls that deep would grow by its square. */
enum { TRACE_FRAMES_MOST = 1024 };

/* A frame is a path by its number; TRACE_FRAME_REST stands for those that are left out. */
#define TRACE_FRAME_REST UINT32_MAX
#define TRACE_REST_NAME "(frames left out)"

/* The frames of a path, at most TRACE_FRAMES_MOST + 2; how many.  The root is one of them where
 * there are several. */
uint32_t trace_stack(const struct trace_exporting *e, uint32_t path, uint32_t *frame);

/* What it weighs by itself. */
uint64_t trace_weight_of(const struct trace_exporting *e, enum trace_weight weight, uint32_t path);

/* What the frame is called, whole; not escaped. */
void trace_frame_name(const struct trace_exporting *e, uint32_t frame, struct buf *to);

/* Whether an allocator of a device was recorded. */
bool trace_has_device_bytes(const struct trace *t);

#endif
