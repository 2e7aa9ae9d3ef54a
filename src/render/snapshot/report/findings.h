/* findings.h - what a report says beyond its figures, in words. */
#ifndef VRS_RENDER_SNAPSHOT_REPORT_FINDINGS_H
#define VRS_RENDER_SNAPSHOT_REPORT_FINDINGS_H

#include "render/answer/result.h"
#include "render/write/human.h"
#include "render/write/json.h"

/* "event 3159 asked for 2.00 GiB with 74.00 MiB free on the device; …" */
void finding_oom_text(struct buf *to, const struct oom_fact *oom);

/* "2.00 GiB of the peak (14.0 %) is older than the recording: …" */
void finding_old_text(struct buf *to, const struct report_device *device);

/* "the file contradicts itself: 1.00 KiB must be added to the rows to give the peak" */
void finding_adjust_text(struct buf *to, const struct report_device *device);

/* A note for each thing that reading a file left out or repaired, so that no loss is silent. */
void losses_text(struct buf *to, const struct style *style, const struct file_facts *file);

/* One element of "findings", from its braces to its evidence, which the caller fills, and its end.
 * `name` NULL: of the file.  A saving that is not known is UNKNOWN_U64. */
void finding_open(struct json *j, const char *id, const char *severity,
                  const struct device_name *name, const struct buf *text);
void finding_close(struct json *j, uint64_t saving_bytes);

/* The member "findings". */
void findings_json(struct json *j, const struct report *report);

#endif
