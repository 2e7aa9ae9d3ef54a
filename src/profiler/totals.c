/* totals.c - one row for a path, a kind and a device. */
#include "profiler/totals.h"

#include <stddef.h>

#include "base/hash.h"

/* Two paths times devices; far above what the names have room for. */
enum { ROWS_MAX = 1 << 22 };

void totals_init(struct totals *t)
{
    *t = (struct totals){ .rows.max = ROWS_MAX };
}

void totals_free(struct totals *t)
{
    vec_free(&t->rows);
    idtab_free(&t->index);
}

void totals_clear(struct totals *t)
{
    totals_free(t);
    totals_init(t);
}

static bool is_of(const struct total *row, const struct interval *i)
{
    return row->path == i->path && row->device == i->device && row->kind == i->kind;
}

static uint64_t hash_of(const struct interval *i)
{
    return hash_pair(i->path, (uint64_t)i->device * 2 + i->kind);
}

/* NULL: there is none.  The index has room. */
static struct total *find(const struct totals *t, const struct interval *i, uint64_t hash)
{
    for (uint32_t at = idtab_first(&t->index, hash); t->index.slot[at].id != 0;
         at = idtab_next(&t->index, hash, at)) {
        struct total *row = &t->rows.at[t->index.slot[at].id - 1];
        if (is_of(row, i))
            return row;
    }
    return NULL;
}

/* NULL: no memory. */
static struct total *find_or_make(struct totals *t, const struct interval *i)
{
    uint64_t hash = hash_of(i);
    if (!idtab_reserve(&t->index))
        return NULL;
    struct total *there = find(t, i, hash);
    if (there != NULL)
        return there;
    struct total row = {
        .path = i->path,
        .device = i->device,
        .kind = (uint8_t)i->kind,
        .start = VRS_UNKNOWN,
        .end = VRS_UNKNOWN,
        .peak = VRS_UNKNOWN,
        .peak_delta = VRS_UNKNOWN,
        .gross = VRS_UNKNOWN,
        .kept = VRS_UNKNOWN,
        .allocations = VRS_UNKNOWN,
    };
    if (!vec_push(&t->rows, row))
        return NULL;
    idtab_put(&t->index, hash, t->rows.len);
    return &t->rows.at[t->rows.len - 1];
}

static struct total *row_of(struct totals *t, const struct interval *i)
{
    if (t->last != 0 && is_of(&t->rows.at[t->last - 1], i))
        return &t->rows.at[t->last - 1];
    struct total *row = find_or_make(t, i);
    if (row != NULL)
        t->last = (uint32_t)(row - t->rows.at) + 1;
    return row;
}

/* Sums and maxima of what is known. */
static void plus(uint64_t *sum, uint64_t value)
{
    if (value != VRS_UNKNOWN)
        *sum = *sum == VRS_UNKNOWN ? value : *sum + value;
}

static void most(uint64_t *highest, uint64_t value)
{
    if (value != VRS_UNKNOWN && (*highest == VRS_UNKNOWN || value > *highest))
        *highest = value;
}

static void add_memory(struct total *row, const struct interval *i)
{
    most(&row->peak, i->peak);
    plus(&row->gross, i->gross);
    plus(&row->allocations, i->allocations);
    if (i->end != VRS_UNKNOWN)
        row->end = i->end;
    if (i->start == VRS_UNKNOWN)
        return;
    if (row->start == VRS_UNKNOWN)
        row->start = i->start;
    if (i->peak != VRS_UNKNOWN)
        most(&row->peak_delta, i->peak > i->start ? i->peak - i->start : 0);
    if (i->end == VRS_UNKNOWN)
        return;
    row->growth += (int64_t)(i->end - i->start);
    uint64_t grown = i->end > i->start ? i->end - i->start : 0;
    if (i->gross != VRS_UNKNOWN)
        plus(&row->kept, grown < i->gross ? grown : i->gross);
}

void totals_add(struct totals *t, const struct interval *i)
{
    struct total *row = row_of(t, i);
    if (row == NULL) {
        t->refused++;
        return;
    }
    row->calls++;
    row->raised += i->raised;
    row->total_ns += i->duration_ns;
    most(&row->longest_ns, i->duration_ns);
    row->states[i->state]++;
    add_memory(row, i);
}

void totals_timed(struct totals *t, const struct interval *i, uint64_t device_ns)
{
    struct total *row = t->rows.len != 0 ? find(t, i, hash_of(i)) : NULL;
    if (row == NULL)
        return; /* there was no memory for it */
    row->timed++;
    row->device_ns += device_ns;
}
