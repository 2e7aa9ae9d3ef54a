/* split.h - the table of operators with a row for each name and what else tells calls apart: the
 * shapes of inputs, the Python frames around, the module, the phase, the step. */
#ifndef VRS_ANALYSIS_TRACE_SPLITS_SPLIT_H
#define VRS_ANALYSIS_TRACE_SPLITS_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/trace.h"

struct trace_report;

enum split_part {
    SPLIT_SHAPES = 1,
    SPLIT_MODULE = 2,
    SPLIT_PHASE = 4,
    SPLIT_STEP = 8,
    SPLIT_STACK = 16
};

struct trace_split {
    uint32_t parts;  /* enum split_part */
    uint32_t frames; /* of SPLIT_STACK: so many of the innermost */
};

/* Calls of one name that are alike in the parts that were asked for. */
struct split_row {
    struct operator_row op;
    /* ptr NULL: not asked for, not known, or there is none. */
    str shapes; /* "[[16, 32], []]" */
    str module; /* the innermost, as module_row.path */
    str step;
    str stack;     /* the innermost frame first, "; " between two */
    uint8_t phase; /* enum trace_phase; TRACE_PHASES: not asked for */
};

struct split_table {
    struct trace_split by; /* no parts: it was not asked for */
    struct split_row *row; /* by falling self CPU, ties by name, then by the parts */
    uint32_t rows;
};

/* "shapes,stack:3": words with a comma between them, each once. */
enum vrs_status trace_split_read(str words, struct trace_split *ret,
                                 struct vrs_error *err) MUST_CHECK;

/* Which key each call of the host has, and what it says. */
struct split_keys {
    uint32_t *of; /* of each span of the trees but frames */
    struct split_row *key; /* of `op` it has the name alone */
    uint32_t keys;
};

/* Of the calls in `trees`; `report`, which is about them, has its steps.  Texts are taken from
 * `arena`, all else from `scratch`. */
enum vrs_status split_keys_make(const struct trace_study *study, const struct trace_report *report,
                                struct trace_split by, const struct forest *trees,
                                struct arena *scratch, struct arena *arena,
                                struct split_keys *ret, struct vrs_error *err) MUST_CHECK;

/* Fills `split` of a report that is made, about the same trace; as_framework: see
 * trace_report_make.  Everything is taken from `arena`. */
enum vrs_status trace_split_make(const struct trace *t, struct trace_split by, bool as_framework,
                                 struct arena *arena, struct trace_report *ret,
                                 struct vrs_error *err) MUST_CHECK;

extern const struct row_type split_row_type;

#endif
