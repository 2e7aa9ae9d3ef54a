/* trace_check.c - reads limits of traces and judges each by its value. */
#include "analysis/trace/check/trace_check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/memory/memory.h"
#include "base/bytes.h"
#include "base/size.h"
#include "base/statistics.h"
#include "model/trace.h"

#define MILLION 1e6

enum { EXIT_EXCEEDED = 1, EXIT_UNDECIDED = 4, TEXT_SHOWN = 60, ALL_MILLIONTHS = 1000000 };

const char *const trace_limit_names[TRACE_LIMITS] = {
    [TRACE_LIMIT_MIN_BUSY] = "min-busy",
    [TRACE_LIMIT_MAX_IDLE] = "max-idle",
    [TRACE_LIMIT_MAX_STEP] = "max-step",
    [TRACE_LIMIT_MAX_MEMORY_PEAK] = "max-memory-peak",
};

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
};

/* Limits. */

static bool value_read(struct trace_limit *l, str value)
{
    uint64_t n = 0;
    switch ((enum trace_measure)measure_of[l->kind]) {
    case TRACE_RATIO:
        if (!share_read(value, &n) || n > ALL_MILLIONTHS)
            return false;
        l->ratio = (double)n / MILLION;
        return true;
    case TRACE_NS:
        return duration_read(value, &l->value);
    case TRACE_BYTES:
        if (!size_read(value, &n) || n > INT64_MAX)
            return false;
        l->value = (int64_t)n;
        return true;
    }
    return false;
}

enum vrs_status trace_limit_read(str name, str value, struct trace_limit *ret,
                                 struct vrs_error *err)
{
    static const char *const wanted[] = {
        [TRACE_RATIO] = "a share of at most 100%, such as 70%",
        [TRACE_NS] = "a time, such as 120ms, 1.5s or 800us",
        [TRACE_BYTES] = "a size, such as 24GiB, 512MiB or a number of bytes",
    };
    struct trace_limit l = { 0 };
    while (l.kind < TRACE_LIMITS && !str_equal(name, str_from(trace_limit_names[l.kind])))
        l.kind++;
    int shown = name.len > TEXT_SHOWN ? TEXT_SHOWN : (int)name.len;
    if (l.kind == TRACE_LIMITS)
        return vrs_fail(err, VRS_USAGE,
                        "there is no limit \"%.*s\" of traces; min-busy, max-idle, max-step and "
                        "max-memory-peak are accepted",
                        shown, name.ptr);
    if (!value_read(&l, value))
        return vrs_fail(err, VRS_USAGE, "%.*s does not take \"%.*s\": %s", shown, name.ptr,
                        value.len > TEXT_SHOWN ? TEXT_SHOWN : (int)value.len,
                        value.len == 0 ? "" : value.ptr, wanted[measure_of[l.kind]]);
    *ret = l;
    return VRS_OK;
}

/* Values. */

static void undecided(struct trace_check_row *row, static_text reason, static_text text)
{
    row->outcome = TRACE_INCONCLUSIVE;
    row->reason = reason;
    row->reason_text = text;
}

/* The device that was busy least. */
static void find_busy(const struct trace_report *r, struct trace_check_row *row)
{
    double least = -1;
    for (uint32_t i = 0; i < r->devices; i++) {
        double busy = r->device[i].busy;
        if (busy < 0 || (least >= 0 && busy >= least))
            continue;
        least = busy;
        row->device = r->device[i].device;
    }
    row->known = least >= 0;
    row->value_ratio = row->kind == TRACE_LIMIT_MIN_BUSY ? least : 1 - least;
    if (!row->known)
        undecided(row, "no_device_activity", "the trace has no device activity");
}

/* The median of the steps, each with the device work that it launched. */
static bool find_step(const struct trace_report *r, struct arena *arena,
                      struct trace_check_row *row)
{
    struct arena_mark mark = arena_mark(arena);
    double *ns = arena_array(arena, double, r->steps);
    if (ns == NULL)
        return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->steps; i++)
        if (r->step[i].kind == STEP_PLAIN)
            ns[count++] = (double)r->step[i].aware_ns;
    row->steps = count;
    row->known = count > 0;
    if (count > 0) {
        statistics_sort(ns, count);
        row->value = i64_of_double(statistics_median(ns, count));
    } else {
        undecided(row, "no_steps",
                  r->steps == 0 ? "the trace has no steps"
                                : "no step is whole, and neither warm-up nor empty");
    }
    arena_release(arena, mark);
    return true;
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

static bool find_value(const struct trace_report *r, struct arena *arena,
                       struct trace_check_row *row)
{
    switch ((enum trace_limit_kind)row->kind) {
    case TRACE_LIMIT_MIN_BUSY:
    case TRACE_LIMIT_MAX_IDLE:
        find_busy(r, row);
        break;
    case TRACE_LIMIT_MAX_STEP:
        return find_step(r, arena, row);
    case TRACE_LIMIT_MAX_MEMORY_PEAK:
        find_peak(r, row);
        break;
    case TRACE_LIMITS:
        break;
    }
    return true;
}

/* An equal value keeps its limit. */
static bool exceeds(const struct trace_check_row *row)
{
    if (row->kind == TRACE_LIMIT_MIN_BUSY)
        return row->value_ratio < row->limit_ratio;
    return row->measure == TRACE_RATIO ? row->value_ratio > row->limit_ratio
                                       : row->value > row->limit;
}

static void judge(const struct trace_report *r, struct trace_check_row *row)
{
    if (!row->known)
        return;
    if (exceeds(row)) {
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
                                         .device = { NULL, 0 } };
        if (!find_value(r, arena, row))
            return false;
        judge(r, row);
        ret->fails += row->outcome == TRACE_FAIL;
        ret->inconclusive += row->outcome == TRACE_INCONCLUSIVE;
    }
    ret->exit_code = ret->fails > 0                        ? EXIT_EXCEEDED
                     : strict && ret->inconclusive > 0 ? EXIT_UNDECIDED
                                                           : 0;
    return true;
}
