/* findings.h - what a report says beyond its figures, in words. */
#ifndef VRS_RENDER_FINDINGS_H
#define VRS_RENDER_FINDINGS_H

#include "render/json.h"
#include "render/result.h"

/* "event 3159 asked for 2.00 GiB with 74.00 MiB free on the device; …" */
void finding_oom_text(struct buf *to, const struct oom_fact *oom);

/* "2.00 GiB of the peak (14.0 %) is older than the recording: …" */
void finding_old_text(struct buf *to, const struct report_device *device);

/* "the file contradicts itself: 1.00 KiB must be added to the rows to give the peak" */
void finding_adjust_text(struct buf *to, const struct report_device *device);

/* The member "findings". */
/* What reading a file left out or repaired, so that no loss is silent. */
enum { LOSSES = 6 };
struct loss {
    const char *id; /* static, as the text */
    uint64_t count;
    const char *text; /* the count follows */
};

/* Those that a file has; their number. */
uint32_t losses_of(const struct file_facts *file, struct loss ret[LOSSES]);
void loss_text(struct buf *to, const struct loss *loss, bool ascii);

void findings_json(struct json *j, const struct report *report);

#endif
