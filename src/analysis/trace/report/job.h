/* job.h - which files, or which processes of one file, are the ranks of one job. */
#ifndef VRS_ANALYSIS_TRACE_REPORT_JOB_H
#define VRS_ANALYSIS_TRACE_REPORT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/ranks/trace_ranks.h"
#include "analysis/trace/report/report.h"
#include "base/arena.h"
#include "base/field.h"

/* Of one file, into which several ranks were merged; NULL where it is of one.  False when out of
 * memory. */
bool job_of_file(const struct rank_parts *parts, struct arena *arena,
                 const struct trace_ranks **ret);

/* Of several files: by distributedInfo where all have it, of one job and of different ranks, else
 * by their names; NULL where neither tells. */
bool job_of_files(const struct trace_report *report, uint32_t reports, struct arena *arena,
                  const struct trace_ranks **ret);

/* What several files have besides. */
struct trace_set {
    const struct trace_ranks *ranks; /* or NULL */
};
extern const struct row_type trace_set_row_type;

#endif
