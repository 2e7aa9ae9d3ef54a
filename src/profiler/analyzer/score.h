/* score.h - one mark for all that was found. */
#ifndef VRS_PROFILER_ANALYZER_SCORE_H
#define VRS_PROFILER_ANALYZER_SCORE_H

#include <stdint.h>

#include "profiler/analyzer/findings.h"

/* How many findings there are of each severity. */
struct found_counts {
    uint64_t of[SEVERITY_CRITICAL + 1];
};

struct score {
    uint32_t points; /* of 100, less what each finding costs; not below 0 */
    char grade;      /* A, B, C, D from 90, 80, 70, 60 points on, else F */
};

struct score score_of(const struct found_counts *patterns, const struct found_counts *insights);

#endif
