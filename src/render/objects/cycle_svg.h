/* cycle_svg.h - a reference cycle and the way from it to a tensor, as a drawing. */
#ifndef VRS_RENDER_CYCLE_SVG_H
#define VRS_RENDER_CYCLE_SVG_H

#include "analysis/objects/cycles.h"
#include "base/buf.h"

/* No script, nothing from elsewhere; of a long cycle the ends. */
void cycle_svg(struct buf *to, const struct cycle_row *cycle);

#endif
