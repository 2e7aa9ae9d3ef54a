/* job.h - which files, or which processes of one file, are the ranks of one job. */
#ifndef VRS_ANALYSIS_TRACE_REPORT_JOB_H
#define VRS_ANALYSIS_TRACE_REPORT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/ranks/trace_ranks.h"
#include "analysis/trace/report/report.h"
#include "base/arena.h"
#include "base/field.h"
#include "base/str.h"

/* Of one file, into which several ranks were merged; NULL where it is of one.  False when out of
 * memory. */
bool job_of_file(const struct rank_parts *parts, struct arena *arena,
                 const struct trace_ranks **ret);

/* Two files of one rank of a job, of which none is chosen: no ranks are compared then. */
struct same_rank {
    static_text by; /* as in struct trace_ranks */
    int64_t rank;
    str path, other_path;
};

/* What several files have besides. */
struct trace_set {
    const struct trace_ranks *ranks;   /* or NULL */
    const struct same_rank *same_rank; /* why not; or NULL */
    str outsider; /* why not: the first file that is of no job, or of another; or ptr NULL */
};

/* Of several files: by distributedInfo where all have it, of one job of several ranks or of
 * different ranks, else by their names; nothing where neither tells. */
bool job_of_files(const struct trace_report *report, uint32_t reports, struct arena *arena,
                  struct trace_set *ret);

extern const struct row_type trace_set_row_type;

#endif
