/* report_sections.h - the sections of a report as text: what the analyses of a device say. */
#ifndef VRS_RENDER_SNAPSHOT_REPORT_REPORT_SECTIONS_H
#define VRS_RENDER_SNAPSHOT_REPORT_REPORT_SECTIONS_H

#include "base/buf.h"
#include "render/write/human.h"

/* Why the last request failed, and what would have had to go; nothing without one. */
void section_verdict_text(struct buf *to, const struct style *style,
                          const struct report_sections *sections);

/* What the peak is made of. */
void section_made_of_text(struct buf *to, const struct style *style,
                          const struct report_sections *sections);

/* What grows from step to step, and what of reserved memory is lost; nothing where all is well. */
void section_trends_text(struct buf *to, const struct style *style,
                         const struct report_sections *sections);

/* What to change, most bytes first. */
void section_advice_text(struct buf *to, const struct style *style,
                         const struct report_sections *sections);

#endif
