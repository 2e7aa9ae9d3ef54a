/* study_jobs.h - tasks about one study, run in parallel.
 *
 * They run on as many threads as the study may have and its number of events is worth.  A thread
 * has a copy of the study, with memory, names and a list of stacks to show of its own; when all
 * jobs are done these become the study's, so that answers do not depend on threads. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_STUDY_JOBS_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_STUDY_JOBS_H

#include <stdint.h>

#include "analysis/snapshot/study/proven_study.h"
#include "base/fail.h"

/* One more thread for so many events of the device: to start it, and to give it names and a list
 * of its own, takes as long as the jobs take for a tenth of them. */
enum { STUDY_JOBS_EVENTS = 1 << 13 };

/* Does job `i` with the study that its thread has.  What it takes of `scratch` and does not
 * release stays until the study's memory is freed, whatever is released before. */
typedef enum vrs_status study_job(void *arg, uint32_t i, const struct proven_study *proven,
                                  struct vrs_error *err);

/* Does jobs 0 … jobs - 1, begun in this order.  The error is that of the first that failed. */
enum vrs_status study_jobs_run(const struct proven_study *proven, uint32_t jobs, study_job *job,
                               void *arg, struct vrs_error *err) MUST_CHECK;

#endif
