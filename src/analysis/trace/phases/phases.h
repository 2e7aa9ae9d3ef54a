/* phases.h - the time of steps by phase of training: data, forward, backward, optimizer.
 *
 * Wall time: each instant of a step belongs to one phase, the first of enum trace_phase that any
 * thread is in, so that the phases of a step add up to it.  Device time: each piece of work
 * belongs to the phase of the host code that launched it.  The two differ, because launches run
 * ahead of the device. */
#ifndef VRS_ANALYSIS_TRACE_PHASES_PHASES_H
#define VRS_ANALYSIS_TRACE_PHASES_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/busy/intervals.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/field.h"
#include "base/str.h"

struct trace_report;

enum trace_phase {
    PHASE_DATA,
    PHASE_OPTIMIZER,
    /* Forward code that the backward of a checkpoint runs again: of a reentrant one, whose node has
     * a name of its own; that of another is told from no other backward. */
    PHASE_RECOMPUTE,
    PHASE_BACKWARD,
    PHASE_FORWARD,
    PHASE_OTHER,
    PHASE_UNKNOWN, /* device work whose host code is not in the trace */
    TRACE_PHASES
};

extern const char *const trace_phase_names[TRACE_PHASES];

struct trace_phase_row {
    uint8_t phase; /* enum trace_phase */
    int64_t wall_ns, device_ns;
};

struct trace_step_phases {
    str step;
    int64_t wall_ns[TRACE_PHASES], device_ns[TRACE_PHASES];
};

struct trace_phases {
    bool of_steps; /* `row` is about all steps together but empty ones; else about the trace */
    struct trace_phase_row row[TRACE_PHASES]; /* those that have time, as they follow in a step */
    uint32_t rows;
    struct trace_step_phases *step; /* as the steps of the report */
    uint32_t steps;
    /* The instants of each phase and of all before it. */
    struct intervals up_to[PHASE_OTHER];
};

/* Fills `phases` of a report that has its steps.  Everything is taken from `arena`; false when out
 * of memory. */
bool trace_phases_make(const struct trace_study *s, struct arena *arena, struct trace_report *ret);

/* The phase of the wall at a moment. */
enum trace_phase trace_phase_at(const struct trace_phases *p, int64_t moment);

/* The phase of each span of the host, as device work that it launches has it: enum trace_phase.
 * `report` has its steps.  False when out of memory. */
bool trace_phases_of_spans(const struct trace_study *s, const struct trace_report *report,
                           struct arena *arena, uint8_t **ret);

/* The phase that the name of a range says, PHASE_OTHER where it says none. */
enum trace_phase trace_phase_of_range(str name);

extern const struct row_type trace_phase_row_type, trace_step_phases_row_type;

#endif
