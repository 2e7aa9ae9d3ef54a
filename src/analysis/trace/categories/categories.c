/* categories.c - blocks of one device, their rules, and what of them is there at the peak. */
#include "analysis/trace/categories/categories.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/trace/busy/intervals.h"
#include "analysis/trace/categories/hosts.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/report/steps.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "model/trace.h"

/* An allocation: places in the order of its device, NO_ROW for before the recording and never. */
struct block {
    uint32_t taken, given;
    int64_t bytes;
    uint8_t category;
};

/* One device. */
struct device {
    const struct trace_study *study;
    const struct trace_report *report;
    const struct trace_hosts *hosts;
    const int64_t *backward; /* moments at which a backward begins, ascending */
    uint32_t backwards;
    const uint32_t *event; /* by time */
    uint32_t events;
    int64_t *value; /* bytes in use behind each event */
    uint32_t peak;  /* the event that reached it; NO_ROW: none did */
    struct block *block;
    uint32_t blocks;
};

static int64_t known(int64_t value)
{
    return value == TRACE_UNKNOWN ? 0 : value;
}

static int64_t time_of(const struct device *d, uint32_t place)
{
    return d->study->trace->memory.time[d->event[place]];
}

/* The curve. */

static bool curve_make(struct device *d, const struct memory_row *row, struct arena *arena)
{
    const struct memory_events *m = &d->study->trace->memory;
    int64_t now = row->base;
    d->value = arena_array(arena, int64_t, d->events);
    d->peak = NO_ROW;
    if (d->value == NULL)
        return false;
    for (uint32_t i = 0; i < d->events; i++) {
        uint32_t e = d->event[i];
        now = row->has_totals ? m->total_allocated[e] : i64_plus(now, known(m->bytes[e]));
        d->value[i] = now;
        if (d->peak == NO_ROW && row->peak > row->base && now == row->peak)
            d->peak = i;
    }
    return true;
}

/* Blocks. */

/* Open blocks by their address. */
struct open_blocks {
    struct idtab index; /* of blocks, plus 1 */
    const struct device *device;
};

static uint64_t address_of(const struct device *d, uint32_t place)
{
    return d->study->trace->memory.address[d->event[place]];
}

static uint32_t open_at(const struct open_blocks *o, uint64_t address)
{
    uint64_t hash = hash_u64(address);
    uint32_t at = idtab_first(&o->index, hash);
    while (o->index.slot[at].id != 0 &&
           address_of(o->device, o->device->block[o->index.slot[at].id - 1].taken) != address)
        at = idtab_next(&o->index, hash, at);
    return at;
}

/* An allocation on a live address gives back what was there; a free of nothing known gives back
 * what was there before the recording. */
static void pair(struct device *d, struct open_blocks *o, uint32_t place)
{
    int64_t bytes = known(d->study->trace->memory.bytes[d->event[place]]);
    uint32_t at = open_at(o, address_of(d, place)), there = o->index.slot[at].id;
    if (there != 0) {
        d->block[there - 1].given = place;
        idtab_remove(&o->index, at);
    }
    if (bytes > 0) {
        d->block[d->blocks++] = (struct block){ .taken = place, .given = NO_ROW, .bytes = bytes };
        idtab_put(&o->index, hash_u64(address_of(d, place)), d->blocks);
    } else if (there == 0 && bytes < 0) {
        d->block[d->blocks++] =
            (struct block){ .taken = NO_ROW, .given = place, .bytes = i64_minus(0, bytes) };
    }
}

static bool blocks_make(struct device *d, struct arena *arena)
{
    struct open_blocks o = { .device = d };
    bool ok = true;
    d->block = arena_array(arena, struct block, d->events);
    if (d->block == NULL)
        return false;
    for (uint32_t i = 0; i < d->events && ok; i++) {
        ok = idtab_reserve(&o.index);
        if (ok)
            pair(d, &o, i);
    }
    idtab_free(&o.index);
    return ok;
}

/* Rules. */

static enum trace_phase phase_of(const struct device *d, uint32_t place)
{
    return trace_phase_at(&d->report->phases, time_of(d, place));
}

static bool is_backward(enum trace_phase phase)
{
    return phase == PHASE_BACKWARD || phase == PHASE_RECOMPUTE;
}

/* Whether the optimizer goes on without a break from one moment to the other. */
static bool same_optimizer(const struct device *d, int64_t from, int64_t to)
{
    const struct intervals *set = &d->report->phases.up_to[PHASE_OPTIMIZER];
    uint32_t low = 0, high = set->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->at[middle].end <= from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->len && set->at[low].start <= from && to < set->at[low].end;
}

/* Whether a backward begins after one moment and, unless `never`, up to the other. */
static bool backward_between(const struct device *d, int64_t from, int64_t to, bool never)
{
    uint32_t low = 0, high = d->backwards;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->backward[middle] <= from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->backwards && (never || d->backward[low] <= to);
}

static enum trace_category of_backward(const struct device *d, const struct block *b)
{
    if (d->hosts->accumulates[d->event[b->taken]] != 0 || b->given == NO_ROW)
        return TRACE_GRADIENT;
    enum trace_phase given = phase_of(d, b->given);
    return given == PHASE_OPTIMIZER || given == PHASE_FORWARD ? TRACE_GRADIENT
                                                              : TRACE_AUTOGRAD_DETAIL;
}

static enum trace_category of_forward(const struct device *d, const struct block *b)
{
    bool never = b->given == NO_ROW;
    if (backward_between(d, time_of(d, b->taken), never ? 0 : time_of(d, b->given), never))
        return TRACE_ACTIVATION;
    return never ? TRACE_CATEGORY_UNKNOWN : TRACE_TEMPORARY;
}

static enum trace_category category_of(const struct device *d, const struct block *b)
{
    const struct trace_hosts *h = d->hosts;
    if (b->taken == NO_ROW)
        return TRACE_PRE_EXISTING;
    uint32_t taken = d->event[b->taken];
    bool never = b->given == NO_ROW;
    if (!never && h->outer[taken] != NO_ROW && h->outer[taken] == h->outer[d->event[b->given]])
        return TRACE_TEMPORARY;
    enum trace_phase phase = phase_of(d, b->taken);
    if (phase == PHASE_OPTIMIZER)
        return !never && same_optimizer(d, time_of(d, b->taken), time_of(d, b->given))
                   ? TRACE_TEMPORARY
                   : TRACE_OPTIMIZER_STATE;
    if (phase == PHASE_BACKWARD)
        return of_backward(d, b);
    /* What a checkpoint runs again is given back by the backward that it is for. */
    if (phase == PHASE_RECOMPUTE)
        return TRACE_ACTIVATION;
    if (phase == PHASE_FORWARD)
        return of_forward(d, b);
    return phase == PHASE_DATA || h->copies[taken] != 0 ? TRACE_INPUT : TRACE_CATEGORY_UNKNOWN;
}

static void sort_out(struct device *d)
{
    for (uint32_t i = 0; i < d->blocks; i++)
        d->block[i].category = (uint8_t)category_of(d, &d->block[i]);
}

/* Over time. */

/* The event of the most in use, of those from one to before another. */
static uint32_t highest(const struct device *d, uint32_t from, uint32_t end)
{
    uint32_t most = from;
    for (uint32_t i = from + 1; i < end; i++)
        most = d->value[i] > d->value[most] ? i : most;
    return most;
}

/* What each event changes, category by category, up to `place`: sums of blocks taken and given. */
static void go_on(const struct device *d, const uint32_t *taken, const uint32_t *given,
                  uint32_t *at, uint32_t place, int64_t sum[TRACE_CATEGORIES])
{
    for (; *at <= place; (*at)++) {
        if (taken[*at] != 0) {
            const struct block *b = &d->block[taken[*at] - 1];
            sum[b->category] = i64_plus(sum[b->category], b->bytes);
        }
        if (given[*at] != 0) {
            const struct block *b = &d->block[given[*at] - 1];
            sum[b->category] = i64_minus(sum[b->category], b->bytes);
        }
    }
}

/* What was there before is the rest, most of which has no event. */
static struct trace_timeline_row moment_of(const struct device *d, uint32_t place,
                                           const int64_t sum[TRACE_CATEGORIES])
{
    struct trace_timeline_row row = { .ns = time_of(d, place), .total = d->value[place] };
    int64_t rest = row.total;
    for (uint32_t c = 0; c < TRACE_CATEGORIES; c++) {
        if (c == TRACE_PRE_EXISTING)
            continue;
        row.bytes[c] = sum[c];
        rest = i64_minus(rest, sum[c]);
    }
    row.bytes[TRACE_PRE_EXISTING] = rest > 0 ? rest : 0;
    return row;
}

static bool timeline_make(const struct device *d, struct arena *scratch, struct arena *arena,
                          struct trace_memory_peak *ret)
{
    uint32_t *taken = arena_array(scratch, uint32_t, d->events);
    uint32_t *given = arena_array(scratch, uint32_t, d->events);
    uint32_t moments = d->events < TRACE_TIMELINE_ROWS ? d->events : TRACE_TIMELINE_ROWS, at = 0;
    int64_t sum[TRACE_CATEGORIES] = { 0 };
    ret->timeline = arena_array(arena, struct trace_timeline_row, moments);
    if (taken == NULL || given == NULL || ret->timeline == NULL)
        return false;
    for (uint32_t i = 0; i < d->blocks; i++) {
        if (d->block[i].taken != NO_ROW)
            taken[d->block[i].taken] = i + 1;
        if (d->block[i].given != NO_ROW)
            given[d->block[i].given] = i + 1;
    }
    for (uint64_t i = 0; i < moments; i++) {
        uint32_t place = highest(d, (uint32_t)(i * d->events / moments),
                                 (uint32_t)((i + 1) * d->events / moments));
        go_on(d, taken, given, &at, place, sum);
        ret->timeline[ret->moments++] = moment_of(d, place, sum);
    }
    return true;
}

/* What is there at the peak. */

static bool is_live(const struct device *d, const struct block *b)
{
    uint32_t first = d->peak == NO_ROW ? 0 : d->peak + 1; /* event behind the peak */
    return (b->taken == NO_ROW || b->taken < first) && (b->given == NO_ROW || b->given >= first);
}

static int by_bytes(const void *a, const void *b)
{
    const struct block *x = *(const struct block *const *)a, *y = *(const struct block *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->taken < y->taken ? -1 : x->taken > y->taken;
}

static bool keep_name(const struct trace_study *s, uint32_t row, struct arena *arena, str *ret)
{
    *ret = (str){ NULL, 0 };
    if (row == NO_ROW)
        return true;
    *ret = arena_copy(arena, trace_text(s->trace, s->trace->spans.name[row]));
    return ret->ptr != NULL;
}

static str step_at(const struct trace_report *r, int64_t moment)
{
    uint32_t step = trace_step_of(r, moment);
    return step == NO_ROW ? (str){ NULL, 0 } : r->step[step].name;
}

static bool top_make(const struct device *d, const struct block **live, uint32_t count,
                     struct arena *arena, struct trace_memory_peak *ret)
{
    qsort(live, count, sizeof *live, by_bytes);
    ret->tops = count < TRACE_LIVE_SHOWN ? count : TRACE_LIVE_SHOWN;
    ret->top = arena_array(arena, struct trace_live_row, ret->tops);
    if (ret->top == NULL)
        return false;
    for (uint32_t i = 0; i < ret->tops; i++) {
        uint32_t place = live[i]->taken;
        ret->top[i] = (struct trace_live_row){ .address = address_of(d, place),
                                               .bytes = live[i]->bytes,
                                               .allocated_ns = time_of(d, place),
                                               .step = step_at(d->report, time_of(d, place)),
                                               .category = live[i]->category };
        if (!keep_name(d->study, d->hosts->inner[d->event[place]], arena, &ret->top[i].op))
            return false;
    }
    return true;
}

static void sort_categories(struct trace_memory_peak *p, const struct trace_category_row *all)
{
    for (uint32_t c = 0; c < TRACE_CATEGORIES; c++) {
        if (all[c].bytes <= 0)
            continue;
        uint32_t at = p->categories++;
        for (; at > 0 && p->category[at - 1].bytes < all[c].bytes; at--)
            p->category[at] = p->category[at - 1];
        p->category[at] = all[c];
        p->category[at].category = (uint8_t)c;
    }
}

static bool live_make(struct device *d, struct arena *scratch, struct arena *arena,
                      struct trace_memory_peak *ret)
{
    struct trace_category_row all[TRACE_CATEGORIES] = { { .bytes = 0 } };
    const struct block **live = arena_array(scratch, const struct block *, d->blocks);
    if (live == NULL)
        return false;
    sort_out(d);
    for (uint32_t i = 0; i < d->blocks; i++) {
        struct block *b = &d->block[i];
        if (!is_live(d, b))
            continue;
        all[b->category].blocks++;
        all[b->category].bytes = i64_plus(all[b->category].bytes, b->bytes);
        if (b->taken == NO_ROW)
            continue;
        live[ret->live++] = b;
        ret->live_bytes = i64_plus(ret->live_bytes, b->bytes);
    }
    int64_t before = i64_minus(ret->row->peak, ret->live_bytes);
    ret->before_bytes = before < 0 ? TRACE_UNKNOWN : before;
    /* Most of what was there before is never given back, and has no event. */
    all[TRACE_PRE_EXISTING].bytes = before < 0 ? 0 : before;
    if (ret->row->peak > 0 && before >= 0)
        ret->unknown = (double)all[TRACE_CATEGORY_UNKNOWN].bytes / (double)ret->row->peak;
    sort_categories(ret, all);
    return top_make(d, live, ret->live, arena, ret);
}

/* Growth. */

/* Bytes in use at a moment. */
static int64_t value_at(const struct device *d, const struct memory_row *row, int64_t moment)
{
    uint32_t low = 0, high = d->events;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (time_of(d, middle) <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? row->base : d->value[low - 1];
}

static int64_t end_of_step(const struct trace_report *r, uint32_t step)
{
    return r->step[step].first_ns + r->step[step].ns;
}

static bool growth_make(const struct device *d, struct arena *arena, struct trace_memory_peak *ret)
{
    enum { STEPS_LEAST = 3 };
    const double more = 1.01;
    const struct trace_report *r = d->report;
    ret->step_end = arena_array(arena, int64_t, r->steps);
    ret->steps = r->steps;
    if (ret->step_end == NULL)
        return false;
    for (uint32_t i = 0; i < r->steps; i++)
        ret->step_end[i] = value_at(d, ret->row, end_of_step(r, i));
    uint32_t first = r->steps == 0 ? 0 : r->steps - 1;
    while (first > 0 && (double)ret->step_end[first] > more * (double)ret->step_end[first - 1])
        first--;
    if (r->steps > 0) {
        ret->grown = r->steps - 1 - first;
        ret->grown_from = ret->step_end[first];
        ret->grown_to = ret->step_end[r->steps - 1];
    }
    ret->leaks = ret->grows = ret->grown >= STEPS_LEAST;
    return true;
}

/* The first step from which on `moment` is no later than the end. */
static uint32_t step_behind(const struct trace_report *r, int64_t moment)
{
    uint32_t low = 0, high = r->steps;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (end_of_step(r, middle) < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool ends_ascend(const struct trace_report *r)
{
    for (uint32_t i = 1; i < r->steps; i++)
        if (end_of_step(r, i) < end_of_step(r, i - 1))
            return false;
    return true;
}

/* What a step makes and the next one no longer needs: who holds more of it at each end leaks.  The
 * first ends see what a warm-up makes to stay, so one rise tells nothing. */
static bool held_make(const struct device *d, struct arena *arena, struct trace_memory_peak *ret)
{
    enum { RISES_LEAST = 2 };
    const struct trace_report *r = d->report;
    if (!ends_ascend(r))
        return true;
    uint64_t *held = arena_array(arena, uint64_t, (size_t)r->steps + 1);
    if (held == NULL)
        return false;
    /* First what comes and what goes at each end. */
    for (uint32_t i = 0; i < d->blocks; i++) {
        const struct block *b = &d->block[i];
        if (b->taken == NO_ROW ||
            (b->category != TRACE_GRADIENT && b->category != TRACE_ACTIVATION))
            continue;
        uint32_t first = step_behind(r, time_of(d, b->taken));
        uint32_t last = b->given == NO_ROW ? r->steps : step_behind(r, time_of(d, b->given));
        if (first + 1 >= last)
            continue;
        held[first + 1]++;
        held[last]--;
    }
    for (uint32_t i = 1; i < r->steps; i++)
        held[i] += held[i - 1];
    uint32_t last = r->steps == 0 ? 0 : r->steps - 1, at = last;
    while (at > 0 && held[at] > held[at - 1])
        at--;
    ret->held = held;
    ret->held_steps = last - at;
    ret->holds = ret->held_steps >= RISES_LEAST;
    ret->leaks = ret->grows || ret->holds;
    return true;
}

static bool peak_make(struct device *d, struct arena *scratch, struct arena *arena,
                      struct trace_memory_peak *ret)
{
    const struct memory_row *row = ret->row;
    ret->unknown = -1;
    ret->has_blocks = row->has_addresses;
    if (!curve_make(d, row, scratch) || !growth_make(d, arena, ret))
        return false;
    ret->step = step_at(d->report, row->peak_ns);
    ret->phase = (uint8_t)trace_phase_at(&d->report->phases, row->peak_ns);
    if (d->peak != NO_ROW &&
        !keep_name(d->study, d->hosts->inner[d->event[d->peak]], arena, &ret->op))
        return false;
    return !ret->has_blocks ||
           (blocks_make(d, scratch) && live_make(d, scratch, arena, ret) &&
            held_make(d, arena, ret) && timeline_make(d, scratch, arena, ret));
}

/* The moments at which a backward begins: an interval does, or what went before it ends. */
static bool backwards_make(const struct trace_phases *p, struct arena *arena, int64_t **ret,
                           uint32_t *ret_count)
{
    const struct intervals *all = &p->up_to[PHASE_BACKWARD], *less = &p->up_to[PHASE_OPTIMIZER];
    int64_t *moment = arena_array(arena, int64_t, (size_t)all->len + less->len);
    uint32_t i = 0, k = 0, count = 0;
    if (moment == NULL)
        return false;
    while (i < all->len || k < less->len) {
        bool first = k == less->len || (i < all->len && all->at[i].start <= less->at[k].end);
        int64_t at = first ? all->at[i++].start : less->at[k++].end;
        if (is_backward(trace_phase_at(p, at)))
            moment[count++] = at;
    }
    *ret = moment;
    *ret_count = count;
    return true;
}

/* The memory of a device that ran work, which its process names by the same number. */
static void tell_devices(struct trace_report *r)
{
    for (uint32_t k = 0; k < r->peaks.rows; k++) {
        const struct memory_row *row = r->peaks.row[k].row;
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)row->device_number);
        for (uint32_t i = 0; i < r->devices && row->device_type != 0; i++)
            if (str_equal(r->device[i].device, str_from(number)))
                r->device[i].memory = &r->peaks.row[k];
    }
}

bool trace_categories_make(const struct trace_study *s, struct arena *scratch, struct arena *arena,
                           struct trace_report *ret)
{
    const struct memory *memory = &ret->figures.memory;
    struct trace_hosts hosts;
    struct memory_groups groups;
    struct device d = { .study = s, .report = ret, .hosts = &hosts };
    int64_t *backward = NULL;
    if (memory->rows == 0)
        return true;
    ret->peaks = (struct trace_memory_peaks){
        .row = arena_array(arena, struct trace_memory_peak, memory->rows), .rows = memory->rows
    };
    if (ret->peaks.row == NULL || !trace_hosts_make(s, scratch, &hosts) ||
        !memory_groups_make(s->trace, scratch, &groups) ||
        !backwards_make(&ret->phases, scratch, &backward, &d.backwards))
        return false;
    d.backward = backward;
    for (uint32_t i = 0; i < memory->rows; i++) {
        uint32_t g = memory->row[i].group;
        ret->peaks.row[i].row = &memory->row[i];
        d.event = groups.event + groups.first[g];
        d.events = groups.first[g + 1] - groups.first[g];
        d.blocks = 0;
        if (!peak_make(&d, scratch, arena, &ret->peaks.row[i]))
            return false;
    }
    tell_devices(ret);
    return true;
}
