/* report_sections.h - the sections of a report: what the analyses of a device say together. */
#ifndef VRS_API_SNAPSHOT_REPORT_SECTIONS_H
#define VRS_API_SNAPSHOT_REPORT_SECTIONS_H

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/study/proven_study.h"
#include "base/fail.h"

/* In s->keep. */
enum vrs_status section_make(struct parts *parts, const struct proven_study *proven,
                             const struct report_sections **ret, struct vrs_error *err) MUST_CHECK;

#endif
