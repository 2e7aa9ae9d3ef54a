/* alignment.c - by step, else by annotation, else by the clock. */
#include "analysis/snapshot/ranks/alignment.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot/ranks/mad.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

struct aligning {
    const struct summary_moments *const *of; /* each of `unit` */
    uint32_t units;
    int64_t *value, *sorted; /* room for one of each */
    struct arena *keep, *scratch;
    struct alignment a;
};

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Those that `has` says; false where they are fewer than two. */
static enum vrs_status take_units(struct aligning *g, const struct summary_moments *const *moments,
                                  const uint32_t *unit, uint32_t units,
                                  bool (*has)(const struct summary_moments *m),
                                  struct vrs_error *err)
{
    const struct summary_moments **of =
        arena_array(g->scratch, const struct summary_moments *, units);
    uint32_t *number = arena_array(g->keep, uint32_t, units);
    if (of == NULL || number == NULL)
        return vrs_no_memory(err);
    g->units = 0;
    for (uint32_t i = 0; i < units; i++) {
        if (!has(moments[i]))
            continue;
        of[g->units] = moments[i];
        number[g->units++] = unit[i];
    }
    g->of = of;
    g->a = (struct alignment){ .unit = number, .units = g->units, .exact = true };
    return VRS_OK;
}

static enum vrs_status make_moments(struct aligning *g, uint32_t most, struct vrs_error *err)
{
    g->a.moment = arena_array(g->keep, struct aligned_moment, most);
    g->value = arena_array(g->scratch, int64_t, g->units);
    g->sorted = arena_array(g->scratch, int64_t, g->units);
    return g->a.moment == NULL || g->value == NULL || g->sorted == NULL ? vrs_no_memory(err)
                                                                        : VRS_OK;
}

/* The moment of which `value` has the peaks. */
static void add_moment(struct aligning *g, str name, uint32_t nth)
{
    uint32_t worst = 0;
    for (uint32_t i = 0; i < g->units; i++) {
        g->sorted[i] = g->value[i];
        worst = g->value[i] > g->value[worst] ? i : worst;
    }
    qsort(g->sorted, g->units, sizeof *g->sorted, by_value);
    int64_t median = mad_median(g->sorted, g->units);
    g->a.moment[g->a.moments++] = (struct aligned_moment){
        .name = name,
        .nth = nth,
        .worst = g->a.unit[worst],
        .worst_bytes = g->value[worst],
        .median_bytes = median,
        .skew_ratio = median > 0 ? (double)g->value[worst] / (double)median : -1,
    };
}

static bool has_steps(const struct summary_moments *m)
{
    return m->steps != 0;
}

static enum vrs_status align_steps(struct aligning *g, struct vrs_error *err)
{
    uint32_t steps = SUMMARY_MOMENTS_MOST;
    for (uint32_t i = 0; i < g->units; i++)
        steps = g->of[i]->steps < steps ? g->of[i]->steps : steps;
    TRY(make_moments(g, steps, err));
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t i = 0; i < g->units; i++)
            g->value[i] = g->of[i]->step_peak[step];
        add_moment(g, S(""), step);
    }
    g->a.by = ALIGNED_STEP;
    return VRS_OK;
}

static bool has_ranges(const struct summary_moments *m)
{
    return m->ranges != 0;
}

static int by_name(const void *a, const void *b)
{
    const struct summary_range *x = a, *y = b;
    int order = str_compare(x->name, y->name);
    return order != 0 ? order : (x->nth > y->nth) - (x->nth < y->nth);
}

/* The ranges of each unit by name. */
static struct summary_range **sort_ranges(const struct aligning *g)
{
    struct summary_range **sorted = arena_array(g->scratch, struct summary_range *, g->units);
    for (uint32_t i = 0; sorted != NULL && i < g->units; i++) {
        const struct summary_moments *m = g->of[i];
        sorted[i] = arena_array(g->scratch, struct summary_range, m->ranges);
        if (sorted[i] == NULL)
            return NULL;
        memcpy(sorted[i], m->range, m->ranges * sizeof *m->range);
        qsort(sorted[i], m->ranges, sizeof *m->range, by_name);
    }
    return sorted;
}

/* The ranges of the first unit that all have, in its order. */
static enum vrs_status align_ranges(struct aligning *g, struct vrs_error *err)
{
    struct summary_range **sorted = sort_ranges(g);
    if (sorted == NULL)
        return vrs_no_memory(err);
    TRY(make_moments(g, g->of[0]->ranges, err));
    for (uint32_t i = 0; i < g->of[0]->ranges; i++) {
        const struct summary_range *range = &g->of[0]->range[i], *found = range;
        for (uint32_t k = 0; k < g->units && found != NULL; k++) {
            found = bsearch(range, sorted[k], g->of[k]->ranges, sizeof *range, by_name);
            g->value[k] = found == NULL ? 0 : found->peak_bytes;
        }
        if (found != NULL)
            add_moment(g, range->name, range->nth);
    }
    g->a.by = g->a.moments == 0 ? ALIGNED_NOT : ALIGNED_ANNOTATION;
    return VRS_OK;
}

static bool has_clock(const struct summary_moments *m)
{
    return m->timed;
}

/* The time that all have, where it is at least half of the time of each. */
static enum vrs_status align_clock(struct aligning *g, struct vrs_error *err)
{
    uint64_t from = 0, to = UINT64_MAX, longest = 0;
    for (uint32_t i = 0; i < g->units; i++) {
        const struct summary_moments *m = g->of[i];
        from = m->begin_us > from ? m->begin_us : from;
        to = m->end_us < to ? m->end_us : to;
        longest = m->end_us - m->begin_us > longest ? m->end_us - m->begin_us : longest;
    }
    if (to < from || to - from < longest - longest / 2)
        return VRS_OK;
    TRY(make_moments(g, 1, err));
    for (uint32_t i = 0; i < g->units; i++)
        if (!summary_moments_between(g->of[i], from, to, &g->value[i]))
            g->a.exact = false;
    add_moment(g, S(""), 0);
    g->a.from_us = from;
    g->a.to_us = to;
    g->a.by = ALIGNED_CLOCK;
    return VRS_OK;
}

enum vrs_status alignment_find(const struct summary_moments *const *moments, const uint32_t *unit,
                               uint32_t units, bool one_clock, struct arena *keep,
                               struct arena *scratch, struct alignment *ret, struct vrs_error *err)
{
    static const struct {
        bool (*has)(const struct summary_moments *m);
        enum vrs_status (*align)(struct aligning *g, struct vrs_error *err);
        bool by_clock;
    } ways[] = {
        { has_steps, align_steps, false },
        { has_ranges, align_ranges, false },
        { has_clock, align_clock, true },
    };
    *ret = (struct alignment){ .by = ALIGNED_NOT };
    for (size_t i = 0; i < sizeof ways / sizeof *ways && ret->by == ALIGNED_NOT; i++) {
        struct aligning g = { .keep = keep, .scratch = scratch };
        if (ways[i].by_clock && !one_clock)
            break;
        TRY(take_units(&g, moments, unit, units, ways[i].has, err));
        if (g.units > 1)
            TRY(ways[i].align(&g, err));
        if (g.a.by != ALIGNED_NOT)
            *ret = g.a;
    }
    return VRS_OK;
}
