/* memory.c - the instants of one device in the order of time, as a curve and as live blocks. */
#include "analysis/trace/memory/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/radix_sort.h"
#include "model/ids.h"
#include "model/trace.h"

/* The events of one device. */
struct group {
    const struct memory_events *m;
    const uint32_t *event;
    uint32_t events;
    int64_t from_ns; /* what `peak_ns` is where nothing is above the base */
};

static int64_t known(int64_t value)
{
    return value == TRACE_UNKNOWN ? 0 : value;
}

static void count(const struct group *g, struct memory_row *r)
{
    r->events = g->events;
    r->has_totals = r->has_addresses = true;
    for (uint32_t i = 0; i < g->events; i++) {
        uint32_t e = g->event[i];
        int64_t bytes = known(g->m->bytes[e]);
        r->allocs += bytes > 0;
        r->frees += bytes < 0;
        r->alloc_bytes = i64_plus(r->alloc_bytes, bytes > 0 ? bytes : 0);
        r->free_bytes = i64_minus(r->free_bytes, bytes < 0 ? bytes : 0);
        r->has_totals = r->has_totals && g->m->total_allocated[e] != TRACE_UNKNOWN;
        r->has_addresses = r->has_addresses && g->m->address[e] != UNKNOWN_U64;
    }
}

static void follow_totals(const struct group *g, struct memory_row *r)
{
    const struct memory_events *m = g->m;
    int64_t before =
        i64_minus(m->total_allocated[g->event[0]], known(m->bytes[g->event[0]]));
    r->base = r->peak = before;
    for (uint32_t i = 0; i < g->events; i++) {
        uint32_t e = g->event[i];
        int64_t total = m->total_allocated[e], reserved = known(m->total_reserved[e]);
        r->chain_breaks += total != i64_plus(before, known(m->bytes[e]));
        if (total > r->peak) {
            r->peak = total;
            r->peak_ns = m->time[e];
        }
        if (i == 0 || reserved > r->peak_reserved)
            r->peak_reserved = reserved;
        before = total;
    }
    r->final = before;
}

static void follow_sums(const struct group *g, struct memory_row *r)
{
    const struct memory_events *m = g->m;
    int64_t now = 0, least = 0;
    for (uint32_t i = 0; i < g->events; i++) {
        now = i64_plus(now, known(m->bytes[g->event[i]]));
        least = now < least ? now : least;
    }
    now = r->base = r->peak = i64_minus(0, least);
    for (uint32_t i = 0; i < g->events; i++) {
        now = i64_plus(now, known(m->bytes[g->event[i]]));
        if (now > r->peak) {
            r->peak = now;
            r->peak_ns = m->time[g->event[i]];
        }
    }
    r->final = now;
}

/* Live blocks by their address. */
struct live {
    struct idtab index; /* of the event that allocated each, plus 1 */
    const struct memory_events *m;
};

static uint32_t live_at(const struct live *l, uint64_t address)
{
    uint64_t hash = hash_u64(address);
    uint32_t at = idtab_first(&l->index, hash);
    while (l->index.slot[at].id != 0 && l->m->address[l->index.slot[at].id - 1] != address)
        at = idtab_next(&l->index, hash, at);
    return at;
}

static bool follow_addresses(const struct group *g, struct memory_row *r)
{
    const struct memory_events *m = g->m;
    struct live l = { .m = m };
    bool ok = true;
    for (uint32_t i = 0; i < g->events; i++) {
        uint32_t e = g->event[i];
        int64_t bytes = known(m->bytes[e]);
        ok = idtab_reserve(&l.index);
        if (!ok)
            break;
        uint32_t at = live_at(&l, m->address[e]), there = l.index.slot[at].id;
        if (there != 0) {
            r->alive_at_end--;
            r->alive_at_end_bytes = i64_minus(r->alive_at_end_bytes, known(m->bytes[there - 1]));
            idtab_remove(&l.index, at);
        }
        if (bytes > 0) {
            r->alloc_on_live_address += there != 0;
            idtab_put(&l.index, hash_u64(m->address[e]), e + 1);
            r->alive_at_end++;
            r->alive_at_end_bytes = i64_plus(r->alive_at_end_bytes, bytes);
        } else {
            r->free_without_alloc += there == 0;
        }
    }
    idtab_free(&l.index);
    return ok;
}

static bool row_make(const struct group *g, struct memory_row *r)
{
    r->device_type = g->m->device_type[g->event[0]];
    r->device_number = g->m->device_number[g->event[0]];
    r->peak_ns = g->from_ns;
    count(g, r);
    r->is_lower_bound = !r->has_totals;
    if (r->has_totals)
        follow_totals(g, r);
    else
        follow_sums(g, r);
    return !r->has_addresses || follow_addresses(g, r);
}

/* Groups. */

static void text_of(int64_t value, char text[24])
{
    if (value == TRACE_UNKNOWN)
        snprintf(text, 24, "None");
    else
        snprintf(text, 24, "%lld", (long long)value);
}

static bool is_before(const struct memory_row *a, const struct memory_row *b)
{
    char x[2][24], y[2][24], left[52], right[52];
    text_of(a->device_type, x[0]);
    text_of(a->device_number, x[1]);
    text_of(b->device_type, y[0]);
    text_of(b->device_number, y[1]);
    snprintf(left, sizeof left, "(%s, %s)", x[0], x[1]);
    snprintf(right, sizeof right, "(%s, %s)", y[0], y[1]);
    return strcmp(left, right) < 0;
}

enum { GROUPS_MOST = 256 };

/* No machine has so many devices: those beyond are one with the last. */
static uint32_t group_of(const struct memory_events *m, uint32_t e, uint32_t *sample,
                         uint32_t *groups)
{
    uint32_t g = 0;
    while (g < *groups && (m->device_type[sample[g]] != m->device_type[e] ||
                           m->device_number[sample[g]] != m->device_number[e]))
        g++;
    if (g == GROUPS_MOST)
        return g - 1;
    if (g == *groups)
        sample[(*groups)++] = e;
    return g;
}

bool memory_groups_make(const struct trace *t, struct arena *arena, struct memory_groups *ret)
{
    const struct memory_events *m = &t->memory;
    *ret = (struct memory_groups){ .groups = 0 };
    uint32_t events = m->rows.len, sample[GROUPS_MOST];
    ret->event = arena_array(arena, uint32_t, events);
    ret->first = arena_array(arena, uint32_t, GROUPS_MOST + 1);
    struct arena_mark mark = arena_mark(arena);
    const uint32_t *by_time = radix_ordered(m->time, events, arena);
    if (ret->event == NULL || ret->first == NULL || by_time == NULL)
        return false;
    uint32_t *group = arena_array(arena, uint32_t, events);
    if (group == NULL)
        return false;
    for (uint32_t e = 0; e < events; e++) {
        group[e] = group_of(m, e, sample, &ret->groups);
        ret->first[group[e] + 1]++;
    }
    for (uint32_t g = 0; g < ret->groups; g++)
        ret->first[g + 1] += ret->first[g];
    for (uint32_t i = 0; i < events; i++)
        ret->event[ret->first[group[by_time[i]]]++] = by_time[i];
    for (uint32_t g = ret->groups; g > 0; g--)
        ret->first[g] = ret->first[g - 1];
    ret->first[0] = 0;
    arena_release(arena, mark);
    return true;
}

enum vrs_status memory_make(const struct trace_study *s, struct arena *arena, struct memory *ret,
                            struct vrs_error *err)
{
    struct memory_groups g;
    *ret = (struct memory){ .rows = 0 };
    if (!memory_groups_make(s->trace, arena, &g))
        return vrs_no_memory(err);
    ret->row = arena_array(arena, struct memory_row, g.groups);
    if (ret->row == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < g.groups; i++) {
        struct group one = { .m = &s->trace->memory,
                             .event = g.event + g.first[i],
                             .events = g.first[i + 1] - g.first[i],
                             .from_ns = s->first_ns };
        struct memory_row made = { .group = i };
        if (!row_make(&one, &made))
            return vrs_no_memory(err);
        uint32_t at = ret->rows++;
        for (; at > 0 && is_before(&made, &ret->row[at - 1]); at--)
            ret->row[at] = ret->row[at - 1];
        ret->row[at] = made;
    }
    return VRS_OK;
}
