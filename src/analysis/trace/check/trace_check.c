/* trace_check.c - judges each limit of a trace by its value. */
#include "analysis/trace/check/trace_check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/memory/memory.h"
#include "base/bytes.h"
#include "model/trace.h"

enum { EXIT_EXCEEDED = 1, EXIT_UNDECIDED = 4 };

const char *const trace_outcome_names[TRACE_OUTCOMES] = {
    [TRACE_PASS] = "pass",
    [TRACE_FAIL] = "fail",
    [TRACE_INCONCLUSIVE] = "inconclusive",
};

static const uint8_t measure_of[TRACE_LIMITS] = {
    [TRACE_LIMIT_MIN_BUSY] = TRACE_RATIO,
    [TRACE_LIMIT_MAX_IDLE] = TRACE_RATIO,
    [TRACE_LIMIT_MAX_STEP] = TRACE_NS,
    [TRACE_LIMIT_MAX_MEMORY_PEAK] = TRACE_BYTES,
    [TRACE_LIMIT_OTHER] = TRACE_NO_MEASURE,
};

const char *const trace_time_names[TRACE_TIMES] = {
    [TRACE_TIME_STEPS] = "steps",
    [TRACE_TIME_WINDOW] = "window",
};

/* Values. */

static void undecided(struct trace_check_row *row, static_text reason, static_text text)
{
    row->outcome = TRACE_INCONCLUSIVE;
    row->reason = reason;
    row->reason_text = text;
}

/* The device that was busy least, in the time that the page leads with: that of the steps where
 * there are any. */
static void find_busy(const struct trace_report *r, struct trace_check_row *row)
{
    double least = -1;
    for (uint32_t i = 0; i < r->devices; i++) {
        const struct trace_device *d = &r->device[i];
        double busy = d->steps_busy >= 0 ? d->steps_busy : d->busy;
        if (busy < 0 || (least >= 0 && busy >= least))
            continue;
        least = busy;
        row->device = d->device;
        row->of_time = d->steps_busy >= 0 ? TRACE_TIME_STEPS : TRACE_TIME_WINDOW;
    }
    row->known = least >= 0;
    row->value_ratio = row->kind == TRACE_LIMIT_MIN_BUSY ? least : 1 - least;
    if (!row->known)
        undecided(row, "no_device_activity", "the trace has no device activity");
}

/* The median of the steps, each with the device work that it launched. */
static void find_step(const struct trace_report *r, struct trace_check_row *row)
{
    row->steps = r->statistics.count;
    row->known = row->steps > 0;
    if (row->known)
        row->value = i64_of_double(r->statistics.aware_median_ns);
    else
        undecided(row, "no_steps",
                  r->steps == 0 ? "the trace has no steps"
                                : "no step is whole, and neither warm-up nor empty");
}

/* The device with the largest peak. */
static void find_peak(const struct trace_report *r, struct trace_check_row *row)
{
    bool is_bound = false;
    for (uint32_t i = 0; i < r->figures.memory.rows; i++) {
        const struct memory_row *m = &r->figures.memory.row[i];
        if (m->device_type == 0 || m->device_type == TRACE_UNKNOWN)
            continue; /* of the host, or of nobody knows what */
        is_bound = is_bound || m->is_lower_bound;
        if (row->known && m->peak <= row->value)
            continue;
        row->known = true;
        row->value = m->peak;
    }
    if (!row->known)
        undecided(row, "no_memory_events", "the trace has no memory events of a device");
    else if (is_bound && row->value <= row->limit)
        undecided(row, "lower_bound", "without totals the peak is a lower bound");
}

static void find_value(const struct trace_report *r, struct trace_check_row *row)
{
    switch ((enum trace_limit_kind)row->kind) {
    case TRACE_LIMIT_MIN_BUSY:
    case TRACE_LIMIT_MAX_IDLE:
        find_busy(r, row);
        break;
    case TRACE_LIMIT_MAX_STEP:
        find_step(r, row);
        break;
    case TRACE_LIMIT_MAX_MEMORY_PEAK:
        find_peak(r, row);
        break;
    case TRACE_LIMIT_OTHER:
        undecided(row, "other_kind", "a limit of memory snapshots");
        break;
    case TRACE_LIMITS:
        break;
    }
}

/* An equal value keeps its limit. */
static bool exceeds(const struct trace_check_row *row)
{
    if (row->kind == TRACE_LIMIT_MIN_BUSY)
        return row->value_ratio < row->limit_ratio;
    return row->measure == TRACE_RATIO ? row->value_ratio > row->limit_ratio
                                       : row->value > row->limit;
}

static bool has_damage(const struct trace_file *file, enum trace_damage kind)
{
    for (uint32_t i = 0; i < file->damages; i++)
        if (file->damage[i].kind == kind)
            return true;
    return false;
}

/* A peak only grows by what is missing; how busy a device was may become any share. */
static bool is_proven(const struct trace_report *r, const struct trace_check_row *row)
{
    return r->file.complete || row->measure != TRACE_RATIO;
}

static void judge(const struct trace_report *r, struct trace_check_row *row)
{
    if (!row->known)
        return;
    bool is_of_time = row->measure == TRACE_RATIO || row->measure == TRACE_NS;
    if (is_of_time && has_damage(&r->file, DAMAGE_RANGE)) {
        undecided(row, "time_beyond_range", "a time beyond 64 bits is in the file");
    } else if (exceeds(row) && is_proven(r, row)) {
        row->outcome = TRACE_FAIL;
        row->reason = NULL;
    } else if (!r->file.complete && row->reason == NULL) {
        undecided(row, "incomplete", "the file ends within");
    }
}

bool trace_check_make(const struct trace_report *r, const struct trace_limit *limit,
                      uint32_t limits, bool strict, struct arena *arena, struct trace_check *ret)
{
    *ret = (struct trace_check){ .file = r->file,
                                 .row = arena_array(arena, struct trace_check_row, limits),
                                 .rows = limits,
                                 .strict = strict };
    if (ret->row == NULL)
        return false;
    for (uint32_t i = 0; i < limits; i++) {
        struct trace_check_row *row = &ret->row[i];
        *row = (struct trace_check_row){ .kind = limit[i].kind,
                                         .measure = measure_of[limit[i].kind],
                                         .limit = limit[i].value,
                                         .limit_ratio = limit[i].ratio,
                                         .of_time = TRACE_TIMES,
                                         .name = limit[i].name,
                                         .asked = limit[i].asked,
                                         .device = { NULL, 0 } };
        find_value(r, row);
        judge(r, row);
        ret->fails += row->outcome == TRACE_FAIL;
        ret->inconclusive += row->outcome == TRACE_INCONCLUSIVE;
    }
    ret->exit_code = ret->fails > 0                        ? EXIT_EXCEEDED
                     : strict && ret->inconclusive > 0 ? EXIT_UNDECIDED
                                                           : 0;
    return true;
}
