/* waste.c - sums over all lifetimes, by site where that tells whose they are. */
#include "analysis/snapshot/advise/waste.h"

#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/advise/waste_parts.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/recording.h"

/* Histograms. */

/* 0, 1, 2 to 3, 4 to 7, … */
static uint32_t bin_of(uint64_t value)
{
    uint32_t bin = 0;
    for (; value != 0; value >>= 1)
        bin++;
    return bin;
}

static void count_in(struct waste_histogram *h, uint64_t value, uint64_t bytes)
{
    uint32_t bin = bin_of(value);
    h->bin[bin].bytes += bytes;
    h->bin[bin].count++;
    h->bins = bin + 1 > h->bins ? bin + 1 : h->bins;
}

/* Says where each begins and keeps those that count something. */
static void name_bins(struct waste_histogram *h)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < h->bins; i++) {
        struct waste_bin bin = h->bin[i];
        bin.from = i == 0 ? 0 : (uint64_t)1 << (i - 1);
        if (bin.count > 0)
            h->bin[kept++] = bin;
    }
    h->bins = kept;
}

static uint64_t time_at(const struct study *s, int64_t event)
{
    return s->r->events.time_us[s->r->devices.first_event[s->device] + (uint32_t)event];
}

static void count_lives(struct wasting *g)
{
    const struct study *s = g->s;
    struct waste *w = g->w;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->origin == ORIGIN_TRACED)
            w->all_bytes += l->bytes;
        if (l->origin != ORIGIN_TRACED || l->freed >= (int64_t)s->events) {
            w->censored_bytes += l->bytes;
            w->censored_count++;
            continue;
        }
        uint64_t born = time_at(s, l->birth), died = time_at(s, l->freed);
        count_in(&w->events, (uint64_t)(l->freed - l->birth), l->bytes);
        if (born != UNKNOWN_U64 && died != UNKNOWN_U64 && died >= born)
            count_in(&w->us, died - born, l->bytes);
        if (s->steps.count > 0)
            count_in(&w->steps,
                     (uint64_t)(steps_at(&s->steps, l->freed) - steps_at(&s->steps, l->birth)),
                     l->bytes);
    }
    name_bins(&w->events);
    name_bins(&w->us);
    name_bins(&w->steps);
    w->churn_ratio = g->peak_bytes == 0 ? -1 : (double)w->all_bytes / (double)g->peak_bytes;
}

const uint8_t life_percent[LIFE_POINTS] = { [LIFE_50] = 50, [LIFE_90] = 90, [LIFE_99] = 99 };

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The shortest life that so many percent of lives do not exceed. */
static enum vrs_status find_percentiles(struct wasting *g)
{
    const struct study *s = g->s;
    struct arena_mark mark = arena_mark(s->scratch);
    uint64_t *life = arena_array(s->scratch, uint64_t, s->lifetimes.count), lives = 0;
    if (life == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->origin == ORIGIN_TRACED && l->freed < (int64_t)s->events)
            life[lives++] = (uint64_t)(l->freed - l->birth);
    }
    if (lives > 1)
        qsort(life, lives, sizeof *life, by_number);
    for (int k = 0; k < LIFE_POINTS; k++)
        g->w->life_events[k] =
            lives == 0 ? UNKNOWN_U64 : life[(lives * life_percent[k] + 99) / 100 - 1];
    arena_release(s->scratch, mark);
    return VRS_OK;
}

/* Sums by site. */

static int by_sum(const void *a, const void *b)
{
    const struct site_sum *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

uint32_t site_sums_rank(struct site_sum *sum, uint32_t sites)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sites; i++)
        if (sum[i].sum != 0) {
            struct site_sum row = sum[i];
            row.site = i;
            sum[kept++] = row;
        }
    if (kept > 1)
        qsort(sum, kept, sizeof *sum, by_sum);
    return kept;
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

static enum vrs_status find_byte_time(struct wasting *g, struct site_sum *sum)
{
    const struct study *s = g->s;
    uint64_t all = 0, peak = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        struct site_sum *row = &sum[g->sites.of[i]];
        uint64_t spent = l->bytes * (uint64_t)(l->freed - l->birth);
        row->sum += spent;
        all += spent;
        if (lifetime_alive(l, g->peak_event)) {
            row->other += l->bytes;
            peak += l->bytes;
        }
    }
    uint32_t rows = site_sums_rank(sum, g->sites.sites);
    g->w->byte_time = arena_array(s->keep, struct byte_time, rows);
    if (g->w->byte_time == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < rows; i++) {
        struct byte_time *row = &g->w->byte_time[i];
        row->byte_events = sum[i].sum;
        row->share_ratio = ratio(sum[i].sum, all);
        row->peak_share_ratio = ratio(sum[i].other, peak);
        TRY(site_table_show(s, &g->sites, sum[i].site, &row->site, g->err));
    }
    g->w->byte_times = rows;
    return VRS_OK;
}

static enum vrs_status find_slack(struct wasting *g, struct site_sum *sum)
{
    const struct study *s = g->s;
    g->w->slack_exact = g->proven->curves.of[CURVE_ACTIVE].exact;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint64_t slack = proven_slack(g->proven, i);
        if (!lifetime_alive(l, g->peak_event) || slack == 0)
            continue;
        g->w->slack_bytes += slack;
        sum[g->sites.of[i]].sum += slack;
        sum[g->sites.of[i]].count++;
    }
    uint32_t rows = site_sums_rank(sum, g->sites.sites);
    g->w->slack = arena_array(s->keep, struct slack_site, rows);
    if (g->w->slack == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < rows; i++) {
        struct slack_site *row = &g->w->slack[i];
        row->slack_bytes = sum[i].sum;
        row->count = sum[i].count;
        TRY(site_table_show(s, &g->sites, sum[i].site, &row->site, g->err));
    }
    g->w->slacks = rows;
    return VRS_OK;
}

static enum vrs_status find_pending(struct wasting *g, struct site_sum *sum)
{
    const struct study *s = g->s;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint64_t span = l->freed > l->requested ? (uint64_t)(l->freed - l->requested) : 0;
        struct site_sum *row = &sum[g->sites.of[i]];
        /* A completion next to its request is no wait. */
        if (span <= 1)
            continue;
        row->sum += l->bytes * span;
        row->other = span > row->other ? span : row->other;
        g->w->pending_byte_events += l->bytes * span;
    }
    uint32_t rows = site_sums_rank(sum, g->sites.sites);
    g->w->pending = arena_array(s->keep, struct pending_site, rows);
    if (g->w->pending == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < rows; i++) {
        struct pending_site *row = &g->w->pending[i];
        row->byte_events = sum[i].sum;
        row->longest_events = sum[i].other;
        TRY(site_table_show(s, &g->sites, sum[i].site, &row->site, g->err));
    }
    g->w->pendings = rows;
    return VRS_OK;
}

typedef enum vrs_status summing(struct wasting *g, struct site_sum *sum);

static enum vrs_status with_sums(struct wasting *g, summing *find)
{
    struct arena_mark mark = arena_mark(g->s->scratch);
    struct site_sum *sum = arena_array(g->s->scratch, struct site_sum, g->sites.sites);
    enum vrs_status status = sum == NULL ? vrs_no_memory(g->err) : find(g, sum);
    arena_release(g->s->scratch, mark);
    return status;
}

/* The device. */

static void count_device_calls(struct wasting *g)
{
    const struct study *s = g->s;
    struct waste *w = g->w;
    uint32_t first = s->r->devices.first_event[s->device];
    uint32_t from = s->steps.count > 1 ? s->steps.boundary[1].event : 0;
    for (uint32_t i = from; i < s->events; i++) {
        uint8_t action = s->r->events.action[first + i];
        uint64_t bytes = known_or_0(s->r->events.size[first + i]);
        if (action_obtains(action)) {
            w->mapped_bytes += bytes;
            w->mapped++;
        } else if (action_returns(action)) {
            w->returned_bytes += bytes;
            w->returned++;
        }
    }
}

static int64_t step_end(const struct steps *s, int64_t step)
{
    return step + 1 < (int64_t)s->count ? s->boundary[step + 1].event : (int64_t)s->end_event + 1;
}

/* Outputs that outlive their step, as if they had died at its end. */
static enum vrs_status free_early(struct wasting *g, struct counterfactual *c)
{
    const struct study *s = g->s;
    struct arena_mark mark = arena_mark(s->scratch);
    struct removal *removal = arena_array(s->scratch, struct removal, s->lifetimes.count);
    if (removal == NULL)
        return vrs_no_memory(g->err);
    uint32_t removals = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        int64_t step = s->steps.count == 0 ? -1 : steps_at(&s->steps, l->birth);
        if (s->categories.retained[i] && step >= 0 && step < (int64_t)s->steps.count)
            removal[removals++] =
                (struct removal){ step_end(&s->steps, step), l->freed, l->bytes, i };
    }
    g->w->early_free = counterfactual_without(c, removal, removals);
    g->w->early_free_saving_bytes = (int64_t)((uint64_t)s->curves.of[CURVE_REQUESTED].peak_bytes -
                                              (uint64_t)g->w->early_free.bytes);
    arena_release(s->scratch, mark);
    return VRS_OK;
}

enum vrs_status waste_compute(const struct proven_study *proven, struct counterfactual *c,
                              struct waste *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct curve *requested = &s->curves.of[CURVE_REQUESTED];
    *ret = (struct waste){ .churn_ratio = -1 };
    struct wasting g = {
        .proven = proven,
        .s = s,
        .peak_event = requested->peak_event,
        .peak_bytes = requested->peak_bytes > 0 ? (uint64_t)requested->peak_bytes : 0,
        .w = ret,
        .err = err,
    };
    g.floor_bytes = g.peak_bytes / 100;
    TRY(site_table_make(s, SITE_LINE, &g.sites, err));
    count_lives(&g);
    TRY(find_percentiles(&g));
    TRY(with_sums(&g, find_byte_time));
    TRY(with_sums(&g, find_slack));
    TRY(with_sums(&g, find_pending));
    TRY(waste_find_churn(&g));
    TRY(waste_find_long(&g));
    TRY(waste_find_held(&g));
    count_device_calls(&g);
    return free_early(&g, c);
}
