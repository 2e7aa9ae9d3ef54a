/* agreement.c - holds the figures of a time against its values, its count and each other. */
#include "format/measurement/agreement.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/statistics.h"
#include "model/ids.h"
#include "model/measurement.h"

const char *const stated_figure_names[STATED_FIGURES] = {
    [STATED_LEAST] = "least", [STATED_MEDIAN] = "median",       [STATED_P95] = "p95",
    [STATED_P99] = "p99",     [STATED_MOST] = "most",           [STATED_MEAN] = "mean",
    [STATED_DEVIATION] = "deviation",
};

enum { DIGITS = 12 };

static void put_is(struct buf *words, double value)
{
    buf_text(words, "is ");
    buf_real(words, value, DIGITS);
}

/* Whether `a` is above `b` by more than is lost in printing; never where one is not known. */
static bool is_above(double a, double b, double largest)
{
    return a - b > AGREEMENT_SHARE * fmax(largest, fmax(fabs(a), fabs(b)));
}

static bool count_agrees(const struct stated_time *t, struct buf *words, const char **ret_member)
{
    const struct measured_time *row = &t->row;
    bool is_thinned = row->values < row->count && row->values >= AGREEMENT_THINNED;
    if (row->has_values && row->values != row->count && !is_thinned) {
        *ret_member = "count";
        buf_text(words, "is ");
        buf_u64(words, row->count);
        buf_text(words, ", but the number of its values is ");
        buf_u64(words, row->values);
        return false;
    }
    for (int i = 0; row->count == 0 && i < STATED_FIGURES; i++) {
        if (isnan(t->figure[i]))
            continue;
        *ret_member = stated_figure_names[i];
        put_is(words, t->figure[i]);
        buf_text(words, ", but \"count\" is 0");
        return false;
    }
    return true;
}

static bool order_agrees(const struct stated_time *t, struct buf *words, const char **ret_member)
{
    static const struct {
        enum stated_figure low, high;
    } pairs[] = {
        { STATED_LEAST, STATED_MEDIAN }, { STATED_LEAST, STATED_MEAN },
        { STATED_LEAST, STATED_P95 },    { STATED_LEAST, STATED_P99 },
        { STATED_LEAST, STATED_MOST },   { STATED_MEDIAN, STATED_P95 },
        { STATED_MEDIAN, STATED_P99 },   { STATED_MEDIAN, STATED_MOST },
        { STATED_MEAN, STATED_MOST },    { STATED_P95, STATED_P99 },
        { STATED_P95, STATED_MOST },     { STATED_P99, STATED_MOST },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double low = t->figure[pairs[i].low], high = t->figure[pairs[i].high];
        if (!is_above(low, high, 0))
            continue;
        *ret_member = stated_figure_names[pairs[i].low];
        put_is(words, low);
        buf_format(words, ", but \"%s\", which cannot be less, is ",
                   stated_figure_names[pairs[i].high]);
        buf_real(words, high, DIGITS);
        return false;
    }
    return true;
}

/* What the values give; NAN where values that are missing may have made it what it is. */
static void figures_of(const struct stated_time *t, const double *sorted,
                       double ret[STATED_FIGURES])
{
    uint32_t count = t->row.values;
    bool is_thinned = count < t->row.count;
    ret[STATED_LEAST] = is_thinned && t->figure[STATED_LEAST] < sorted[0] ? NAN : sorted[0];
    ret[STATED_MOST] =
        is_thinned && t->figure[STATED_MOST] > sorted[count - 1] ? NAN : sorted[count - 1];
    ret[STATED_MEDIAN] = is_thinned ? NAN : statistics_median(sorted, count);
    ret[STATED_P95] = is_thinned ? NAN : statistics_percentile(sorted, count, 0.95);
    ret[STATED_P99] = is_thinned ? NAN : statistics_percentile(sorted, count, 0.99);
    ret[STATED_MEAN] = is_thinned ? NAN : statistics_mean(sorted, count);
    ret[STATED_DEVIATION] = is_thinned ? NAN : statistics_deviation(sorted, count);
}

static bool values_agree(const struct stated_time *t, const double *sorted, struct buf *words,
                         const char **ret_member)
{
    double found[STATED_FIGURES];
    if (t->row.values == 0)
        return true;
    figures_of(t, sorted, found);
    double largest = sorted[t->row.values - 1];
    for (int i = 0; i < STATED_FIGURES; i++) {
        double stated = t->figure[i];
        if (!is_above(stated, found[i], largest) && !is_above(found[i], stated, largest))
            continue;
        *ret_member = stated_figure_names[i];
        put_is(words, stated);
        buf_text(words, ", but its values give ");
        buf_real(words, found[i], DIGITS);
        return false;
    }
    return true;
}

bool stated_time_agrees(const struct stated_time *t, const double *sorted, struct buf *words,
                        const char **ret_member)
{
    /* Where there are values they are what is believed. */
    return count_agrees(t, words, ret_member) && values_agree(t, sorted, words, ret_member) &&
           order_agrees(t, words, ret_member);
}

bool measured_phase_agrees(const struct measured_phase *p, struct buf *words,
                           const char **ret_member)
{
    if (p->peak_bytes == UNKNOWN_U64 || p->peak_delta_bytes == UNKNOWN_U64 ||
        p->peak_delta_bytes <= p->peak_bytes)
        return true;
    *ret_member = "peak_delta_bytes";
    buf_text(words, "is ");
    buf_u64(words, p->peak_delta_bytes);
    buf_text(words, ", but \"peak_bytes\", which cannot be less, is ");
    buf_u64(words, p->peak_bytes);
    return false;
}
