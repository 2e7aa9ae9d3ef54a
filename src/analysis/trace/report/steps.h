/* steps.h - the steps of the training loop, and the device work that each launched. */
#ifndef VRS_ANALYSIS_TRACE_REPORT_STEPS_H
#define VRS_ANALYSIS_TRACE_REPORT_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"

/* Fills step, steps, their statistics, source and track.  False when out of memory. */
bool trace_steps_make(const struct trace_study *s, struct arena *arena, struct trace_report *ret);

/* The step in which a moment lies, of whatever thread, or NO_ROW. */
uint32_t trace_step_of(const struct trace_report *report, int64_t moment);

/* Whether a step is one that is judged: it is not empty, and all of it is there. */
static inline bool trace_step_is_judged(const struct trace_step *step)
{
    return step->kind == STEP_PLAIN || step->kind == STEP_WARM_UP;
}

/* The judged step in which a moment lies, or NO_ROW. */
uint32_t trace_judged_step_of(const struct trace_report *report, int64_t moment);

#endif
