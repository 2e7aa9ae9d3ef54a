/* compare.c - pairs what two measurements have by name, and judges each pair. */
#include "analysis/measurement/compare/compare.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/noise.h"
#include "base/statistics.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/measurement.h"

struct comparing {
    const struct comparison_question *q;
    struct arena *arena;
    struct comparison *ret;
};

/* A text of a measurement as the answer keeps it; false: no memory. */
static bool keep(struct comparing *c, str text, str *ret)
{
    if (text.ptr == NULL) {
        *ret = text;
        return true;
    }
    *ret = arena_copy(c->arena, text);
    return ret->ptr != NULL;
}

/* A row. */

static void judge(struct compared_row *row)
{
    double between_runs = isnan(row->between_runs) ? 0 : row->between_runs;
    double noise = row->a.noise + row->b.noise + between_runs;
    row->low = fmax(row->change - noise, -fabs(row->a.median)); /* no time is below 0 */
    row->high = row->change + noise;
    row->verdict =
        (uint8_t)noise_judge(row->change, noise, COMPARED_SAME_SHARE * fabs(row->a.median));
}

void compared_row_judge(struct compared_row *row)
{
    const struct compared_value *a = &row->a, *b = &row->b;
    bool is_one = row->reason == COMPARED_UNITS || row->reason == COMPARED_CLOCKS;
    row->change = is_one ? NAN : b->median - a->median;
    row->ratio = a->median != 0 ? row->change / a->median : NAN;
    row->low = row->high = NAN;
    row->verdict = NOISE_NOT_JUDGED;
    if (row->reason != COMPARED_JUDGED)
        return;
    if (isnan(row->change))
        row->reason = COMPARED_UNKNOWN;
    else if (a->count < COMPARED_VALUES_LEAST || b->count < COMPARED_VALUES_LEAST)
        row->reason = COMPARED_FEW_VALUES;
    else if (isnan(a->noise) || isnan(b->noise))
        row->reason = COMPARED_NO_VALUES;
    else
        judge(row);
}

/* Whether few values are most of the time: workers of a loader give batches out at once, and the
 * median of the waits says nothing of how long all of them are. */
static bool is_in_bursts(const struct compared_value *v)
{
    return v->mean > COMPARED_BURST * v->median;
}

/* What makes it two things that are compared. */
static uint8_t reason_of(str a_unit, str b_unit, str a_clock, str b_clock)
{
    return !str_equal(a_unit, b_unit)     ? COMPARED_UNITS
           : !str_equal(a_clock, b_clock) ? COMPARED_CLOCKS
                                          : COMPARED_JUDGED;
}

/* Times. */

/* The median and its interval, by the values where the document has them. */
static bool value_of_time(struct comparing *c, const struct measurement *m,
                          const struct measured_time *t, struct compared_value *ret)
{
    *ret = (struct compared_value){
        .count = t->count, .median = t->median, .mean = NAN, .deviation = NAN, .noise = NAN
    };
    if (!keep(c, t->unit, &ret->unit) || !keep(c, t->clock, &ret->timed_by))
        return false;
    if (!t->has_values)
        return true;
    struct arena_mark mark = arena_mark(c->arena);
    double *sorted = arena_array(c->arena, double, t->values);
    if (sorted == NULL)
        return false;
    for (uint32_t i = 0; i < t->values; i++)
        sorted[i] = m->value.at[t->first_value + i];
    statistics_sort(sorted, t->values);
    ret->count = t->values;
    ret->median = statistics_median(sorted, t->values);
    ret->mean = statistics_mean(sorted, t->values);
    if (t->values > 1) {
        ret->deviation = statistics_deviation(sorted, t->values) *
                         sqrt((double)t->values / ((double)t->values - 1));
        ret->noise = noise_of_median(ret->deviation, t->values);
    }
    arena_release(c->arena, mark);
    return true;
}

static const struct measured_time *time_named(const struct measurement *m, str name)
{
    for (uint32_t i = 0; i < m->time.len; i++)
        if (str_equal(m->time.at[i].name, name))
            return &m->time.at[i];
    return NULL;
}

/* How far the median of a repeat is from A's; NAN: it does not tell.  False: no memory. */
static bool find_distance(struct comparing *c, const struct measurement *again,
                          const struct measured_time *one, double median, double *ret)
{
    const struct measured_time *t = time_named(again, one->name);
    struct compared_value value;
    *ret = NAN;
    if (t == NULL || reason_of(one->unit, t->unit, one->clock, t->clock) != COMPARED_JUDGED)
        return true;
    if (!value_of_time(c, again, t, &value))
        return false;
    if (value.count >= COMPARED_VALUES_LEAST)
        *ret = fabs(value.median - median);
    return true;
}

static bool add_between_runs(struct comparing *c, const struct measured_time *one,
                             struct compared_row *row)
{
    row->between_runs = NAN;
    for (uint32_t i = 0; i < c->q->repeats; i++) {
        double distance;
        if (!find_distance(c, c->q->again[i], one, row->a.median, &distance))
            return false;
        if (isnan(distance))
            continue;
        row->repeats++;
        if (isnan(row->between_runs) || distance > row->between_runs)
            row->between_runs = distance;
    }
    return true;
}

static bool compare_times(struct comparing *c)
{
    const struct measurement *a = c->q->a, *b = c->q->b;
    struct comparison *d = c->ret;
    d->timing = arena_array(c->arena, struct compared_row, a->time.len);
    if (d->timing == NULL)
        return false;
    for (uint32_t i = 0; i < a->time.len; i++) {
        const struct measured_time *one = &a->time.at[i], *other = time_named(b, one->name);
        if (other == NULL)
            continue;
        struct compared_row *row = &d->timing[d->timings++];
        if (!keep(c, one->name, &row->name) || !value_of_time(c, a, one, &row->a) ||
            !value_of_time(c, b, other, &row->b) || !add_between_runs(c, one, row))
            return false;
        row->reason = reason_of(one->unit, other->unit, one->clock, other->clock);
        if (row->reason == COMPARED_JUDGED && str_equal(one->name, S("data")) &&
            (is_in_bursts(&row->a) || is_in_bursts(&row->b)))
            row->reason = COMPARED_BURSTS;
        compared_row_judge(row);
    }
    d->left_out += a->time.len + b->time.len - 2 * d->timings;
    return true;
}

/* Figures, each of them one number. */

static bool value_of_figure(struct comparing *c, const struct measured_figure *f,
                            struct compared_value *ret)
{
    *ret = (struct compared_value){
        .count = isnan(f->value) ? 0u : 1u,
        .median = f->value,
        .mean = NAN,
        .deviation = NAN,
        .noise = NAN
    };
    return keep(c, f->unit, &ret->unit) && keep(c, f->clock, &ret->timed_by);
}

static const struct measured_figure *figure_named(const struct measurement *m, str name)
{
    for (uint32_t i = 0; i < m->figure.len; i++)
        if (str_equal(m->figure.at[i].name, name))
            return &m->figure.at[i];
    return NULL;
}

static bool compare_figures(struct comparing *c)
{
    const struct measurement *a = c->q->a, *b = c->q->b;
    struct comparison *d = c->ret;
    d->figure = arena_array(c->arena, struct compared_row, a->figure.len);
    if (d->figure == NULL)
        return false;
    for (uint32_t i = 0; i < a->figure.len; i++) {
        const struct measured_figure *one = &a->figure.at[i], *other = figure_named(b, one->name);
        if (other == NULL)
            continue;
        struct compared_row *row = &d->figure[d->figures++];
        if (!keep(c, one->name, &row->name) || !value_of_figure(c, one, &row->a) ||
            !value_of_figure(c, other, &row->b))
            return false;
        row->between_runs = NAN; /* it has no interval that this could be added to */
        row->reason = reason_of(one->unit, other->unit, one->clock, other->clock);
        if (row->reason == COMPARED_JUDGED)
            row->reason = isnan(one->value) || isnan(other->value) ? COMPARED_UNKNOWN
                                                                   : COMPARED_ONE_VALUE;
        compared_row_judge(row);
    }
    d->left_out += a->figure.len + b->figure.len - 2 * d->figures;
    return true;
}

/* Memory. */

static const struct measured_phase *phase_like(const struct measurement *m,
                                               const struct measured_phase *like)
{
    for (uint32_t i = 0; i < m->phase.len; i++)
        if (str_equal(m->phase.at[i].path, like->path) && m->phase.at[i].device == like->device)
            return &m->phase.at[i];
    return NULL;
}

static bool are_known(uint64_t a, uint64_t b)
{
    return a != UNKNOWN_U64 && b != UNKNOWN_U64;
}

/* As far as 63 bits reach. */
static int64_t change_of(uint64_t a, uint64_t b)
{
    if (!are_known(a, b))
        return 0;
    uint64_t apart = b < a ? a - b : b - a;
    int64_t size = apart > INT64_MAX ? INT64_MAX : (int64_t)apart;
    return b < a ? -size : size;
}

static void judge_memory(struct compared_memory *row)
{
    bool known = are_known(row->a_peak, row->b_peak);
    row->change = change_of(row->a_peak, row->b_peak);
    row->change_delta = change_of(row->a_delta, row->b_delta);
    row->ratio = known && row->a_peak != 0 ? (double)row->change / (double)row->a_peak : NAN;
    row->verdict = !known            ? COMPARED_MEMORY_UNKNOWN
                   : row->change < 0 ? COMPARED_LESS
                   : row->change > 0 ? COMPARED_MORE
                                     : COMPARED_EQUAL;
}

static bool compare_memory(struct comparing *c)
{
    const struct measurement *a = c->q->a, *b = c->q->b;
    struct comparison *d = c->ret;
    d->memory = arena_array(c->arena, struct compared_memory, a->phase.len);
    if (d->memory == NULL)
        return false;
    for (uint32_t i = 0; i < a->phase.len; i++) {
        const struct measured_phase *one = &a->phase.at[i], *other = phase_like(b, one);
        if (other == NULL)
            continue;
        struct compared_memory *row = &d->memory[d->memories++];
        *row = (struct compared_memory){ .device = one->device,
                                         .a_peak = one->peak_bytes,
                                         .b_peak = other->peak_bytes,
                                         .a_delta = one->peak_delta_bytes,
                                         .b_delta = other->peak_delta_bytes };
        if (!keep(c, one->path, &row->path))
            return false;
        judge_memory(row);
    }
    d->left_out += a->phase.len + b->phase.len - 2 * d->memories;
    return true;
}

/* Conditions. */

static bool is_same_condition(str a, str b)
{
    return (a.ptr == NULL) == (b.ptr == NULL) && str_equal(a, b);
}

/* Those of `other` that are not A's; `ret_count` is 0 before. */
static bool compare_conditions(struct comparing *c, const struct measurement *other,
                               struct compared_condition **ret, uint32_t *ret_count)
{
    struct compared_condition *rows = arena_array(c->arena, struct compared_condition, CONDITIONS);
    *ret = rows;
    if (rows == NULL)
        return false;
    for (uint32_t i = 0; i < CONDITIONS; i++) {
        str a = c->q->a->condition[i], b = other->condition[i];
        if (is_same_condition(a, b))
            continue;
        struct compared_condition *row = &rows[(*ret_count)++];
        row->name = measured_condition_names[i];
        if (!keep(c, a, &row->a) || !keep(c, b, &row->b))
            return false;
    }
    return true;
}

/* The whole. */

static const struct compared_row *row_named(const struct compared_row *row, uint32_t rows,
                                            const char *name)
{
    for (uint32_t i = 0; i < rows; i++)
        if (str_equal(row[i].name, str_from(name)))
            return &row[i];
    return NULL;
}

/* What a person asked about: a step, without its loading; a call; else the throughput. */
static void find_judged(struct comparison *d)
{
    d->row = row_named(d->timing, d->timings, "step");
    if (d->row == NULL)
        d->row = row_named(d->timing, d->timings, "latency");
    if (d->row == NULL)
        d->row = row_named(d->figure, d->figures, "throughput");
    d->loading = row_named(d->timing, d->timings, "data");
    d->verdict = d->row == NULL ? NOISE_NOT_JUDGED : d->row->verdict;
    if (d->row != NULL)
        d->judged = d->row->name;
}

static bool apply_limit(struct comparing *c)
{
    const double ns_of_ms = 1e6;
    const struct noise_limit *asked = c->q->limit;
    const struct compared_row *row = c->ret->row;
    if (asked == NULL)
        return true;
    struct compared_limit *limit = arena_array(c->arena, struct compared_limit, 1);
    if (limit == NULL)
        return false;
    limit->most = *asked;
    double most = row == NULL       ? NAN
                  : asked->is_ratio ? asked->ratio * row->a.median
                                    : (double)asked->ns / ns_of_ms;
    /* What cannot be compared keeps no limit, nor does what is no time. */
    limit->is_told = row != NULL && str_equal(row->a.unit, S("ms")) && !isnan(row->change);
    limit->exceeded = !limit->is_told || !(row->change <= most);
    c->ret->limit = limit;
    return true;
}

static bool keep_side(struct comparing *c, const struct measurement *m, struct compared_side *ret)
{
    return keep(c, m->what, &ret->what) && keep(c, m->tool, &ret->tool);
}

static bool keep_sides(struct comparing *c)
{
    struct comparison *d = c->ret;
    const struct comparison_question *q = c->q;
    if (!keep_side(c, q->a, &d->a) || !keep_side(c, q->b, &d->b) ||
        !compare_conditions(c, q->b, &d->condition, &d->conditions))
        return false;
    d->again = arena_array(c->arena, struct compared_repeat, q->repeats);
    if (d->again == NULL)
        return false;
    for (; d->repeats < q->repeats; d->repeats++) {
        struct compared_repeat *repeat = &d->again[d->repeats];
        const struct measurement *m = q->again[d->repeats];
        if (!keep_side(c, m, &repeat->side) ||
            !compare_conditions(c, m, &repeat->condition, &repeat->conditions))
            return false;
    }
    return true;
}

static enum vrs_status check_kinds(const struct comparison_question *q, struct vrs_error *err)
{
    if (!str_equal(q->a->what, q->b->what))
        return vrs_fail(err, VRS_USAGE,
                        "A and B measured different things, as their members \"what\" say; compare "
                        "two of one kind, such as two of measure_training()");
    for (uint32_t i = 0; i < q->repeats; i++)
        if (!str_equal(q->a->what, q->again[i]->what))
            return vrs_fail(err, VRS_USAGE,
                            "repeat %u measured another thing than A, as their members \"what\" "
                            "say; a repeat is A's program, measured again",
                            (unsigned)(i + 1));
    return VRS_OK;
}

enum vrs_status comparison_make(const struct comparison_question *q, struct arena *arena,
                                struct comparison *ret, struct vrs_error *err)
{
    struct comparing c = { .q = q, .arena = arena, .ret = ret };
    assert(q->repeats <= COMPARED_REPEATS_MOST);
    *ret = (struct comparison){ .verdict = NOISE_NOT_JUDGED };
    TRY(check_kinds(q, err));
    if (!keep_sides(&c) || !compare_times(&c) || !compare_figures(&c) || !compare_memory(&c))
        return vrs_no_memory(err);
    find_judged(ret);
    return apply_limit(&c) ? VRS_OK : vrs_no_memory(err);
}
