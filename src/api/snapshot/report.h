/* report.h - a report that was made, with the studies that it rests on. */
#ifndef VRS_API_SNAPSHOT_REPORT_H
#define VRS_API_SNAPSHOT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/study/proven_study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "render/answer/answer.h"
#include "vramscope/snapshot.h"

struct kept_report;

/* Makes a report as vrs_report does, one that is neither quick nor part of a set.  Its devices are
 * compared with others where `compared` says so, whatever the file holds.  In `arena`, which does
 * not end before report_end; a failed call needs none. */
enum vrs_status report_begin(const struct vrs_recording *recording,
                             const struct vrs_report_options *options, bool compared,
                             struct arena *arena, struct kept_report **ret,
                             struct vrs_error *err) MUST_CHECK;
void report_end(struct kept_report *kept);

/* Until then: the report, and the proven study of each device of it.  What is taken of a study's
 * scratch may stay there. */
const struct answer_set *report_answers(const struct kept_report *kept);
const struct proven_study *report_study(const struct kept_report *kept, uint32_t device);

#endif
