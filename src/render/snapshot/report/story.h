/* story.h - what the analyses of a device say, as parts of its report. */
#ifndef VRS_RENDER_SNAPSHOT_REPORT_STORY_H
#define VRS_RENDER_SNAPSHOT_REPORT_STORY_H

#include "render/answer/envelope.h"

/* Why the last request failed, and what would have had to go; nothing without one. */
void story_verdict_text(struct buf *to, const struct style *style, const struct story *story);

/* What the peak is made of. */
void story_made_of_text(struct buf *to, const struct style *style, const struct story *story);

/* What grows from step to step, and what of reserved memory is lost; nothing where all is well. */
void story_trends_text(struct buf *to, const struct style *style, const struct story *story);

/* What to change, most bytes first. */
void story_advice_text(struct buf *to, const struct style *style, const struct story *story);

/* Enough of it is stranded to be told. */
bool story_is_stranded(const struct story *story);

/* Elements of "findings", most important first; the member "made_of". */
void story_findings_json(struct json *j, const struct story *story, struct device_name name);
void story_made_of_json(struct json *j, const struct story *story);

#endif
