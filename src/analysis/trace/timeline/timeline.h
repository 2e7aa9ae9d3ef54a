/* timeline.h - what a memory timeline says: its peak by category, and what each had at most.
 *
 * A category's bytes are looked at in every state, what was there before the recording among them;
 * of equal peaks the first counts.  It holds no pointer into the trace. */
#ifndef VRS_ANALYSIS_TRACE_TIMELINE_TIMELINE_H
#define VRS_ANALYSIS_TRACE_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "model/memory_timeline.h"
#include "model/trace.h"

/* Of the time from the first state to the last so many equal parts. */
enum { TIMELINE_BINS = 120 };

/* A category, or the sum of all. */
struct timeline_row {
    uint8_t category; /* enum timeline_category; of the sum TIMELINE_CATEGORIES */
    int64_t at_peak;  /* bytes when the sum was highest */
    double at_peak_ratio; /* of the sum; negative: not known */
    int64_t peak, peak_ns; /* TRACE_UNKNOWN where it was there before the recording */
    int64_t before, end; /* before: of what the framework met of it */
    uint64_t below_zero; /* states in which it is below 0 */
    int64_t lowest;
};

struct trace_timeline {
    struct trace_file file; /* its events are rows of the file */
    uint8_t form;           /* enum timeline_form */
    uint64_t actions[TIMELINE_ACTIONS];
    uint32_t states;
    int64_t first_ns, last_ns, length_ns; /* of the states; where there are any */
    struct timeline_row sum;
    struct timeline_row category[TIMELINE_CATEGORIES]; /* by falling bytes at the peak */
    uint32_t categories;
    int64_t bin[TIMELINE_BINS]; /* the most that the sum was in each part; where has_bins */
    bool has_bins;
};

/* Everything is taken from `arena`; path and size are the caller's to fill. */
enum vrs_status trace_timeline_make(const struct trace *t, struct arena *arena,
                                    struct trace_timeline *ret, struct vrs_error *err) MUST_CHECK;

extern const struct row_type trace_timeline_row_type;

#endif
