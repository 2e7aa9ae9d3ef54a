/* adjust.c - what must be added to the live allocations of each state to give the curve. */
#include "analysis/snapshot/curves/curves.h"
#include "render/page/page.h"

struct adjust_step {
    uint32_t state;
    uint64_t bytes; /* from it on, modulo 2^64 */
};

static const struct adjust_step *step_of(const void *from, uint32_t row)
{
    return (const struct adjust_step *)from + row;
}

static uint64_t step_state(const void *from, uint32_t row)
{
    return step_of(from, row)->state;
}

static uint64_t step_more(const void *from, uint32_t row)
{
    int64_t bytes = (int64_t)step_of(from, row)->bytes;
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static uint64_t step_less(const void *from, uint32_t row)
{
    int64_t bytes = (int64_t)step_of(from, row)->bytes;
    return bytes < 0 ? 0 - (uint64_t)bytes : 0;
}

/* What each event adds to the curve and not to the live allocations. */
static uint64_t *changes(const struct study *s)
{
    uint64_t *change = arena_array(s->scratch, uint64_t, s->events);
    uint32_t first = s->r->devices.first_event[s->device];
    for (uint32_t i = 0; change != NULL && i < s->events; i++)
        change[i] = requested_change(s->r, first + i);
    for (uint32_t i = 0; change != NULL && i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->birth >= 0)
            change[l->birth] -= l->bytes;
        if (l->freed >= 0 && l->freed < (int64_t)s->events)
            change[l->freed] += l->bytes;
    }
    return change;
}

enum vrs_status page_adjust(const struct study *s, struct page_chunks *blocks,
                            struct page_device *ret, struct vrs_error *err)
{
    static const struct page_column columns[] = {
        { "state", PAGE_U32, PAGE_DELTA, "state", step_state },
        { "more", PAGE_U64, PAGE_AS_IT_IS, "byte", step_more },
        { "less", PAGE_U64, PAGE_AS_IT_IS, "byte", step_less },
    };
    struct page_table *table = &ret->table[PAGE_ADJUST];
    const uint64_t *change = changes(s);
    uint64_t bytes = (uint64_t)s->curves.of[CURVE_REQUESTED].start_bytes;
    uint32_t count = 0, at = 0;
    if (change == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        bytes -= s->lifetimes.at[i].birth < 0 ? s->lifetimes.at[i].bytes : 0;
    ret->adjust_bytes = (int64_t)bytes;
    for (uint32_t i = 0; i < s->events; i++)
        count += change[i] != 0;
    if (count == 0)
        return VRS_OK;
    struct adjust_step *step = arena_array(s->scratch, struct adjust_step, count);
    if (step == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->events; i++) {
        bytes += change[i];
        if (change[i] != 0)
            step[at++] = (struct adjust_step){ i + 1, bytes };
    }
    table->rows = count;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!page_queue(blocks, &columns[i], step, count, &table->column[table->columns++]))
            return vrs_no_memory(err);
    return VRS_OK;
}
