/* trace_tree.h - the call tree of a trace for people. */
#ifndef VRS_RENDER_TRACE_TRACE_TREE_H
#define VRS_RENDER_TRACE_TRACE_TREE_H

#include <stdint.h>

#include "analysis/trace/calls/tree.h"
#include "base/buf.h"
#include "render/write/human.h"

/* At most so many rows, then what was left out. */
void trace_tree_text(struct buf *to, const struct style *style, const struct trace_tree *tree,
                     uint32_t most);

#endif
