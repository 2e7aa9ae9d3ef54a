/* memory_sums.c - sums up to each event, so that those of a stretch are a difference. */
#include "analysis/trace/tables/memory_sums.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/bytes.h"

struct row {
    int64_t time;
    struct memory_sum bytes;
    uint32_t index;
};

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void memory_sum_add(struct memory_sum *sum, struct memory_sum more)
{
    sum->cpu = i64_plus(sum->cpu, more.cpu);
    sum->device = i64_plus(sum->device, more.device);
}

struct memory_sum memory_sum_without(struct memory_sum sum, struct memory_sum less)
{
    return (struct memory_sum){ i64_minus(sum.cpu, less.cpu), i64_minus(sum.device, less.device) };
}

bool memory_sums_make(const struct trace *t, struct arena *arena, struct memory_sums *ret)
{
    enum { TYPE_CPU = 0 };
    const struct memory_events *m = &t->memory;
    ret->events = m->rows.len;
    ret->time = arena_array(arena, int64_t, ret->events);
    ret->before = arena_array(arena, struct memory_sum, (size_t)ret->events + 1);
    struct arena_mark mark = arena_mark(arena);
    struct row *row = arena_array(arena, struct row, ret->events);
    if (ret->time == NULL || ret->before == NULL || row == NULL)
        return false;
    for (uint32_t i = 0; i < ret->events; i++) {
        int64_t bytes = m->bytes[i] == TRACE_UNKNOWN ? 0 : m->bytes[i];
        bool is_cpu = m->device_type[i] == TYPE_CPU;
        row[i] = (struct row){ m->time[i], { is_cpu ? bytes : 0, is_cpu ? 0 : bytes }, i };
    }
    qsort(row, ret->events, sizeof *row, by_time);
    for (uint32_t i = 0; i < ret->events; i++) {
        ret->time[i] = row[i].time;
        ret->before[i + 1] = ret->before[i];
        memory_sum_add(&ret->before[i + 1], row[i].bytes);
    }
    arena_release(arena, mark);
    return true;
}

/* How many events lie before a moment; with `its_own` also those at it. */
static uint32_t count_before(const struct memory_sums *m, int64_t moment, bool its_own)
{
    uint32_t low = 0, high = m->events;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->time[middle] < moment || (its_own && m->time[middle] == moment))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory_sum memory_sums_between(const struct memory_sums *m, int64_t from, int64_t to)
{
    return memory_sum_without(m->before[count_before(m, to, true)],
                              m->before[count_before(m, from, false)]);
}
