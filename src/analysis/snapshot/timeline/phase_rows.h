/* phase_rows.h - what happened in each phase of each step, and the steps themselves. */
#ifndef VRS_ANALYSIS_SNAPSHOT_TIMELINE_PHASE_ROWS_H
#define VRS_ANALYSIS_SNAPSHOT_TIMELINE_PHASE_ROWS_H

#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/field.h"
#include "model/ids.h"

/* An inner loop with its place. */
struct inner_row {
    struct inner_loop loop;
    struct site_ref site;
};

/* The steps of a device as answers show them. */
struct step_rows {
    struct steps steps; /* its arrays live in the answer */
    struct inner_row *inner;
    uint32_t inners;
};
/* Of a struct step_boundary, a struct step_pass, and of a struct step_rows. */
extern const struct row_type boundary_row_type, pass_row_type, steps_row_type;

enum vrs_status step_rows_make(const struct study *s, struct step_rows *ret,
                               struct vrs_error *err) MUST_CHECK;

/* One phase interval, or the part of one that lies in one step: from its first alloc to its last.
 * Bytes are requested ones: entry + allocated - freed = exit. */
struct phase_row {
    uint32_t step; /* from 1; 0: in no complete step */
    uint8_t kind;  /* enum step_kind of what it lies in; STEP_KINDS: in none */
    uint8_t phase; /* enum phase */
    uint32_t first_event, last_event;
    uint32_t allocs;
    uint64_t alloc_bytes, freed_bytes;
    int64_t entry_bytes, exit_bytes; /* alive before its first and after its last alloc */
    int64_t peak_bytes, peak_event;
    int64_t contribution_bytes; /* peak less what was alive where the step began; step 0: none */
    stack_id first_stack;
    struct site_ref largest; /* of its largest alloc */
    uint64_t largest_bytes;
};

struct phase_rows {
    struct step_rows steps;
    struct phase_row *row;
    uint32_t rows;
    uint32_t peak_row;      /* the row that the device's peak lies in, or NO_ROW */
    enum phase peak_phase;  /* PHASES: the peak is older than the first alloc */
    struct curve requested; /* of the device */
    uint32_t by_stack, by_annotation, annotation_agrees; /* allocs */
};

/* Of a struct phase_row, and of a struct phase_rows, the result of a device. */
extern const struct row_type phase_row_type, phases_row_type;

/* In s->keep. */
enum vrs_status phase_rows_compute(const struct study *s, struct phase_rows *ret,
                                   struct vrs_error *err) MUST_CHECK;

#endif
