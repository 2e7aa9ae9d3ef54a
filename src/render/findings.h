/* findings.h - what a report says beyond its figures, in words. */
#ifndef VRS_RENDER_FINDINGS_H
#define VRS_RENDER_FINDINGS_H

#include "render/json.h"
#include "render/result.h"

/* "event 3159 asked for 2.00 GiB with 74.00 MiB free on the device; …" */
void finding_oom_text(struct buf *to, const struct oom_fact *oom);

/* "2.00 GiB of the peak (14.0 %) is older than the recording: …" */
void finding_old_text(struct buf *to, const struct report_device *device);

/* The member "findings". */
void findings_json(struct json *j, const struct report *report);

#endif
