/* categories.h - what memory was used for at the peak of each device, and whether it grows.
 *
 * A block is an allocation with its free, paired by the address.  Its category is what the first of
 * these rules says that holds:
 *     1 taken and given back inside one outermost operator: temporary
 *     2 there before the recording: pre-existing
 *     3 taken in the optimizer: optimizer state if it outlives the optimizer's range, else temporary
 *     4 taken in a backward: gradient, if AccumulateGrad is around it, or if it is given back by
 *       the optimizer or a forward, or never; else autograd detail
 *     5 taken in a forward: activation if it is there when a backward begins, temporary if it is
 *       given back before, else unknown
 *     6 taken while data is loaded, or by an operator that copies from the host: input
 *     7 unknown */
#ifndef VRS_ANALYSIS_TRACE_CATEGORIES_CATEGORIES_H
#define VRS_ANALYSIS_TRACE_CATEGORIES_CATEGORIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/memory/memory.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/field.h"
#include "base/str.h"

struct trace_report;

enum trace_category {
    TRACE_PRE_EXISTING,
    TRACE_OPTIMIZER_STATE,
    TRACE_INPUT,
    TRACE_TEMPORARY,
    TRACE_ACTIVATION,
    TRACE_GRADIENT,
    TRACE_AUTOGRAD_DETAIL,
    TRACE_CATEGORY_UNKNOWN,
    TRACE_CATEGORIES
};

extern const char *const trace_category_names[TRACE_CATEGORIES];

struct trace_live_row {
    uint64_t address;
    int64_t bytes, allocated_ns;
    str op;           /* that allocated it; ptr NULL: none was around */
    str step;         /* in which; ptr NULL: in none */
    uint8_t category; /* enum trace_category */
};

struct trace_category_row {
    uint8_t category; /* enum trace_category */
    uint64_t blocks;  /* those of pre-existing are those that were given back later */
    int64_t bytes;
};

/* What was in use at a moment. */
struct trace_timeline_row {
    int64_t ns, total;
    int64_t bytes[TRACE_CATEGORIES];
};

struct trace_memory_peak {
    const struct memory_row *row;
    str op, step;  /* at the peak; ptr NULL: none */
    uint8_t phase; /* enum trace_phase */
    bool has_blocks; /* events tell addresses: else nothing is known of all below up to `steps` */
    uint32_t live;
    int64_t live_bytes;   /* allocated since the recording began */
    int64_t before_bytes; /* the rest of the peak; TRACE_UNKNOWN where the sums do not agree */
    struct trace_live_row *top; /* the largest first, TRACE_LIVE_SHOWN at most */
    uint32_t tops;
    struct trace_category_row category[TRACE_CATEGORIES]; /* the largest first; those there are */
    uint32_t categories;
    /* The most of each of so many equal parts of the events, TRACE_TIMELINE_ROWS at most. */
    struct trace_timeline_row *timeline;
    uint32_t moments;
    double unknown; /* share of the peak that no rule explains; negative: not known */
    /* Bytes in use at the end of each step, and whether the last ones grow. */
    int64_t *step_end;
    uint32_t steps;
    uint32_t grown; /* so many steps, up to the last, each ended with > 1 % more */
    int64_t grown_from, grown_to;
    bool grows; /* that is 3 or more */
    /* Gradients and activations that the end of each step saw, and the end of the one before it;
     * NULL where blocks are not known, or steps lie in each other. */
    uint64_t *held;
    uint32_t held_steps; /* so many steps, up to the last, each ended with more of them */
    bool holds;          /* that is 2 or more */
    bool leaks;          /* either */
};

enum { TRACE_LIVE_SHOWN = 20, TRACE_TIMELINE_ROWS = 200 };

struct trace_memory_peaks {
    struct trace_memory_peak *row; /* as the rows of figures.memory */
    uint32_t rows;
};

/* Fills `peaks` of a report that has its figures, steps and phases.  False when out of memory. */
bool trace_categories_make(const struct trace_study *s, struct arena *scratch, struct arena *arena,
                           struct trace_report *ret);

extern const struct row_type trace_memory_peak_row_type, trace_memory_timeline_row_type;

#endif
