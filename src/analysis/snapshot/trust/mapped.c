/* mapped.c - which addresses were reserved at each point of a trace, by a segment tree.
 *
 * The trace is walked from its end, where the segments are known, undoing each event.  The ends
 * of all ranges cut the address space into cells; a tree over the cells keeps, for each node, the
 * newest change that covered it whole, so that a change and a question cost log n each. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/trust/trust_checks.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

enum { HITS = 1 << 12, PAGE_MOST = 2 << 20 };

struct mapped {
    uint64_t *end; /* sorted; cell i is [end[i], end[i + 1]) */
    uint32_t ends;
    uint32_t *change; /* of a node: twice the number of the change, plus 1 if it mapped */
    uint32_t leaves, changes;
    /* Pages, as large as lets no range end inside one: the allocator's are of 2 MiB.  They are used
     * again and again: those found mapped, by hash, with what they lie in. */
    uint32_t page_shift;
    uint32_t *event; /* those that change what is mapped; rows of events, ascending */
    uint32_t events;
    struct hit {
        uint64_t page;
        uint32_t cell;    /* plus 1 */
        uint32_t changes; /* since when it may be otherwise */
    } * hit;
};

static uint64_t range_end(uint64_t from, uint64_t size)
{
    return size > UINT64_MAX - from ? UINT64_MAX : from + size;
}

static bool known_range(uint64_t from, uint64_t size)
{
    return from != UNKNOWN_U64 && size != UNKNOWN_U64 && size != 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void change(struct mapped *m, uint64_t from, uint64_t size, bool maps)
{
    if (!known_range(from, size))
        return;
    uint32_t stamp = ++m->changes * 2 + maps;
    uint32_t low = sorted_above(m->end, m->ends, from) - 1 + m->leaves;
    uint32_t high = sorted_above(m->end, m->ends, range_end(from, size)) - 1 + m->leaves;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1)
            m->change[low++] = stamp;
        if (high & 1)
            m->change[--high] = stamp;
    }
}

static bool is_mapped(struct mapped *m, uint64_t address)
{
    uint64_t page = address >> m->page_shift;
    struct hit *hit = &m->hit[page * 0x9e3779b97f4a7c15u >> 52];
    bool seen = hit->page == page && hit->cell != 0;
    if (seen && hit->changes == m->changes)
        return true;
    uint32_t cell = seen ? hit->cell : sorted_above(m->end, m->ends, address);
    if (cell == 0)
        return false;
    uint32_t newest = 0;
    for (uint32_t node = cell - 1 + m->leaves; node != 0; node /= 2)
        if (m->change[node] > newest)
            newest = m->change[node];
    if ((newest & 1) == 0)
        return false;
    *hit = (struct hit){ page, cell, m->changes };
    return true;
}

static void note_ends(struct mapped *m, uint64_t from, uint64_t size)
{
    if (!known_range(from, size))
        return;
    m->end[m->ends++] = from;
    m->end[m->ends++] = range_end(from, size);
}

static uint32_t shift_of_pages(const uint64_t *end, uint32_t ends)
{
    uint64_t bits = PAGE_MOST;
    for (uint32_t i = 0; i < ends; i++)
        bits |= end[i];
    uint32_t shift = 0;
    while ((bits >> shift & 1) == 0)
        shift++;
    return shift;
}

static bool prepare(const struct recording *r, uint32_t device, struct arena *scratch,
                    struct mapped *m)
{
    const struct devices *d = &r->devices;
    size_t ranges = d->segments[device];
    for (uint32_t i = 0; i < d->events[device]; i++) {
        uint8_t action = r->events.action[d->first_event[device] + i];
        ranges += action_obtains(action) || action_returns(action);
    }
    *m = (struct mapped){ .leaves = 1, .changes = 1 };
    if (ranges > UINT32_MAX / 8)
        return false;
    m->end = arena_array(scratch, uint64_t, ranges * 2);
    m->event = arena_array(scratch, uint32_t, ranges - d->segments[device]);
    if (m->end == NULL || m->event == NULL)
        return false;
    for (uint32_t i = 0; i < d->segments[device]; i++) {
        uint32_t row = d->first_segment[device] + i;
        note_ends(m, r->segments.address[row], r->segments.total_size[row]);
    }
    for (uint32_t i = 0; i < d->events[device]; i++) {
        uint32_t row = d->first_event[device] + i;
        if (!action_obtains(r->events.action[row]) && !action_returns(r->events.action[row]))
            continue;
        note_ends(m, r->events.address[row], r->events.size[row]);
        m->event[m->events++] = row;
    }
    if (m->ends > 1)
        qsort(m->end, m->ends, sizeof *m->end, by_value);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < m->ends; i++)
        if (distinct == 0 || m->end[distinct - 1] != m->end[i])
            m->end[distinct++] = m->end[i];
    m->ends = distinct;
    m->page_shift = shift_of_pages(m->end, m->ends);
    while (m->leaves < m->ends)
        m->leaves *= 2;
    m->change = arena_array(scratch, uint32_t, (size_t)m->leaves * 2);
    m->hit = arena_array(scratch, struct hit, HITS);
    return m->change != NULL && m->hit != NULL;
}

/* Looks at the allocs from row `from` of events on, the last first: at allocations before `*end`,
 * which stand in the order of their allocs. */
static void look_at_allocs(struct mapped *m, const struct recording *r, uint32_t device,
                           uint32_t from, uint32_t *end, struct breach *ret)
{
    const struct events *e = &r->events;
    for (; *end > r->devices.first_allocation[device]; --*end) {
        uint32_t row = r->allocations.alloc_event[*end - 1];
        if (row == NO_ROW)
            continue;
        if (row < from)
            return;
        if (!is_mapped(m, e->address[row]))
            breach_add(ret, known_or_0(e->size[row]), row - r->devices.first_event[device],
                       e->address[row]);
    }
}

enum vrs_status find_unknown_segments(const struct recording *r, uint32_t device,
                                      struct breach *ret, struct vrs_error *err)
{
    const struct devices *d = &r->devices;
    const struct events *e = &r->events;
    struct arena scratch;
    struct mapped m;
    arena_init(&scratch, SIZE_MAX);
    if (!prepare(r, device, &scratch, &m)) {
        arena_free(&scratch);
        return vrs_no_memory(err);
    }
    for (uint32_t i = 0; i < d->segments[device]; i++) {
        uint32_t row = d->first_segment[device] + i;
        change(&m, r->segments.address[row], r->segments.total_size[row], true);
    }
    uint32_t end = d->first_allocation[device] + d->allocations[device];
    for (uint32_t i = m.events; i-- > 0;) {
        uint32_t row = m.event[i];
        look_at_allocs(&m, r, device, row, &end, ret);
        change(&m, e->address[row], e->size[row], action_returns(e->action[row]));
    }
    look_at_allocs(&m, r, device, 0, &end, ret);
    arena_free(&scratch);
    return VRS_OK;
}
