/* step_parts.h - what answers say of steps, whatever they were asked. */
#ifndef VRS_RENDER_SNAPSHOT_STEPS_STEP_PARTS_H
#define VRS_RENDER_SNAPSHOT_STEPS_STEP_PARTS_H

#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/timeline/phase_rows.h"
#include "base/buf.h"
#include "render/write/human.h"

/* The lines "steps" and "loop": how many there are, by what they were found, what was refused. */
void steps_lines(struct buf *to, const struct style *style, const struct step_rows *steps);

/* "forward", or "-" where there is none. */
const char *phase_word(enum phase phase);

#endif
