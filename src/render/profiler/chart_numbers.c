/* chart_numbers.c - ranges, values of groups, bins. */
#include "render/profiler/chart_numbers.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "render/profiler/chart.h"

struct chart_range chart_range_empty(void)
{
    return (struct chart_range){ INFINITY, -INFINITY };
}

void chart_range_take(struct chart_range *range, const double *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (chart_is_known(value[i])) {
            range->low = value[i] < range->low ? value[i] : range->low;
            range->high = value[i] > range->high ? value[i] : range->high;
        }
}

void chart_range_widen(struct chart_range *range)
{
    if (range->low > range->high)
        *range = (struct chart_range){ 0, 1 };
    /* So that the ends differ also where one is nothing beside the other. */
    double least = fabs(range->low) * 1e-9;
    if (!(range->high - range->low > least))
        range->high = range->low + (range->low != 0 ? fabs(range->low) : 1);
}

double *chart_reduce(const struct chart_series *series, uint32_t groups, struct arena *arena)
{
    double *made = arena_array(arena, double, groups + 1);
    double *sorted = arena_array(arena, double, series->count + 1);
    uint32_t *end = arena_array(arena, uint32_t, groups + 1);
    if (made == NULL || sorted == NULL || end == NULL)
        return NULL;
    for (uint32_t i = 0; i < series->count; i++)
        end[series->group[i]] += chart_is_known(series->y[i]);
    for (uint32_t g = 0, sum = 0; g < groups; g++) {
        sum += end[g];
        end[g] = sum - end[g]; /* where it begins; below it moves to its end */
    }
    for (uint32_t i = 0; i < series->count; i++)
        if (chart_is_known(series->y[i]))
            sorted[end[series->group[i]]++] = series->y[i];
    for (uint32_t g = 0, begin = 0; g < groups; begin = end[g++]) {
        struct chart_range range = chart_range_empty();
        made[g] = statistics_mean(sorted + begin, end[g] - begin);
        chart_range_take(&range, sorted + begin, end[g] - begin);
        if (series->most && range.low <= range.high)
            made[g] = range.high;
    }
    return made;
}

struct valued {
    double value;
    uint32_t number;
};

static int ascending(const void *a, const void *b)
{
    const struct valued *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Numbers in ascending order of their values, which are not NaN. */
static uint32_t *numbers_by(struct valued *row, uint32_t count, struct arena *arena)
{
    uint32_t *made = arena_array(arena, uint32_t, count + 1);
    if (made == NULL)
        return NULL;
    qsort(row, count, sizeof *row, ascending);
    for (uint32_t i = 0; i < count; i++)
        made[i] = row[i].number;
    return made;
}

uint32_t *chart_descending(const double *value, uint32_t count, struct arena *arena)
{
    struct valued *row = arena_array(arena, struct valued, count + 1);
    if (row == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        row[i] = (struct valued){ isnan(value[i]) ? INFINITY : -value[i], i };
    return numbers_by(row, count, arena);
}

uint32_t *chart_by_x(const struct chart_series *series, struct arena *arena)
{
    struct valued *row = arena_array(arena, struct valued, series->count + 1);
    if (row == NULL)
        return NULL;
    for (uint32_t i = 0; i < series->count; i++)
        row[i] = (struct valued){ chart_is_known(series->x[i]) ? series->x[i] : INFINITY, i };
    return numbers_by(row, series->count, arena);
}

struct chart_bins chart_bins_of(const double *value, uint32_t count)
{
    struct chart_range range = chart_range_empty();
    struct chart_bins b = { .bins = 1 };
    chart_range_take(&range, value, count);
    for (uint32_t i = 0; i < count; i++)
        b.known += chart_is_known(value[i]);
    for (uint32_t n = b.known; n > 1 && range.low < range.high && b.bins < CHART_BINS_MOST; n /= 2)
        b.bins++;
    chart_range_widen(&range);
    b.low = range.low;
    b.width = range.high / b.bins - range.low / b.bins;
    for (uint32_t i = 0; i < count; i++) {
        if (!chart_is_known(value[i]))
            continue;
        double place = floor((value[i] - b.low) / b.width);
        uint32_t bin = place < b.bins ? (uint32_t)place : b.bins - 1;
        b.in[bin]++;
        b.highest = b.in[bin] > b.highest ? b.in[bin] : b.highest;
    }
    return b;
}
