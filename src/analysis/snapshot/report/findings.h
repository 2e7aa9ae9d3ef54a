/* findings.h - what a report says beyond its figures. */
#ifndef VRS_ANALYSIS_SNAPSHOT_REPORT_FINDINGS_H
#define VRS_ANALYSIS_SNAPSHOT_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/report/report.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "model/file_facts.h"

/* Fills report->finding: of each device, then of the file.  In `keep`. */
enum vrs_status findings_make(struct report *report, struct arena *keep,
                              struct vrs_error *err) MUST_CHECK;

/* Enough of the reserved bytes is stranded to be told. */
bool report_is_stranded(const struct report_sections *sections);

/* What reading a file left out or repaired, at most so many kinds; returns how many there are. */
enum { LOSSES = 6 };
uint32_t losses_of(const struct file_facts *file, struct loss ret[LOSSES]);

/* What each kind of finding shows as evidence. */
extern const struct row_type oom_evidence_row_type, leak_evidence_row_type,
    advice_evidence_row_type, stranded_evidence_row_type, older_evidence_row_type,
    loss_evidence_row_type;

#endif
