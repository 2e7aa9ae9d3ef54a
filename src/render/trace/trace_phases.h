/* trace_phases.h - the tables of phases: all steps together, and step by step. */
#ifndef VRS_RENDER_TRACE_TRACE_PHASES_H
#define VRS_RENDER_TRACE_TRACE_PHASES_H

#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "base/buf.h"
#include "render/write/human.h"

/* At most `most` steps. */
void trace_phases_tables(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most);

/* "forward", "recompute (of checkpoints)"; `phase` is enum trace_phase. */
const char *trace_phase_word(uint8_t phase);

#endif
