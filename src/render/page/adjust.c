/* adjust.c - what must be added to the live allocations of each state to give the curve. */
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "render/page/column.h"
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

/* Before the first event. */
static uint64_t start_bytes(const struct study *s)
{
    uint64_t bytes = (uint64_t)s->curves.of[CURVE_REQUESTED].start_bytes;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        bytes -= s->lifetimes.at[i].birth < 0 ? s->lifetimes.at[i].bytes : 0;
    return bytes;
}

/* Few, where there are any: they stay as long as the report. */
static enum vrs_status find_steps(const struct study *s, const uint64_t *change, uint64_t bytes,
                                  struct adjust_step **ret, uint32_t *ret_count,
                                  struct vrs_error *err)
{
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i < s->events; i++)
        count += change[i] != 0;
    struct adjust_step *step = arena_array(s->keep, struct adjust_step, count);
    if (step == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->events; i++) {
        bytes += change[i];
        if (change[i] != 0)
            step[at++] = (struct adjust_step){ i + 1, bytes };
    }
    *ret = step;
    *ret_count = count;
    return VRS_OK;
}

enum vrs_status page_adjust(const struct study *s, struct page_chunks *chunks,
                            struct page_device *ret, struct vrs_error *err)
{
    static const struct page_column columns[] = {
        { "state", PAGE_U32, PAGE_DELTA, "state", step_state, PAGE_NEEDED },
        { "more", PAGE_U64, PAGE_AS_IT_IS, "byte", step_more, PAGE_NEEDED },
        { "less", PAGE_U64, PAGE_AS_IT_IS, "byte", step_less, PAGE_NEEDED },
    };
    struct page_table *table = &ret->table[PAGE_ADJUST];
    struct adjust_step *step = NULL;
    struct arena_mark mark = arena_mark(s->scratch);
    const uint64_t *change = changes(s);
    if (change == NULL)
        return vrs_no_memory(err);
    uint64_t bytes = start_bytes(s);
    ret->adjust_bytes = (int64_t)bytes;
    enum vrs_status status = find_steps(s, change, bytes, &step, &table->rows, err);
    arena_release(s->scratch, mark);
    for (size_t i = 0; status == VRS_OK && table->rows > 0 && i < sizeof columns / sizeof *columns;
         i++)
        status = page_queue(chunks, table, &columns[i], step) ? VRS_OK : vrs_no_memory(err);
    return status;
}
