/* trace_line.h - a line of bars over time, and the axis under it. */
#ifndef VRS_RENDER_TRACE_TRACE_LINE_H
#define VRS_RENDER_TRACE_TRACE_LINE_H

#include <stdint.h>

#include "base/buf.h"
#include "render/write/human.h"

/* How many bars fit behind a label: as many as there are values, or fewer. */
uint32_t trace_line_columns(const struct style *style, uint32_t values);

/* A bar of this height, 0 to 1. */
void trace_line_bar(struct buf *to, const struct style *style, double height);

/* The moments at which a line of so many columns begins and ends, on a line of their own. */
void trace_line_axis(struct buf *to, const struct style *style, uint32_t columns, uint64_t first_ns,
                     uint64_t last_ns);

#endif
