/* findings_sentences.h - what a report says beyond its figures, in words. */
#ifndef VRS_RENDER_SNAPSHOT_REPORT_FINDINGS_SENTENCES_H
#define VRS_RENDER_SNAPSHOT_REPORT_FINDINGS_SENTENCES_H

#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "model/file_facts.h"
#include "render/answer/answer.h"
#include "render/write/human.h"

/* "event 3159 asked for 2.00 GiB with 74.00 MiB free on the device; …" */
void finding_oom_text(struct buf *to, const struct oom_fact *oom);

/* "2.00 GiB of the peak (14.0 %) is older than the recording: …" */
void finding_old_text(struct buf *to, const struct report_device *device);

/* "the file contradicts itself: 1.00 KiB must be added to the rows to give the peak" */
void finding_adjust_text(struct buf *to, const struct report_device *device);

/* A note for each thing that reading a file left out or repaired, so that no loss is silent. */
void losses_text(struct buf *to, const struct style *style, const struct file_facts *file);

/* The field "text" of a struct finding. */
field_sentence finding_sentence;

#endif
