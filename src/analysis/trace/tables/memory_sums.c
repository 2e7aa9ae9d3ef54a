/* memory_sums.c - sums up to each event, so that those of a stretch are a difference. */
#include "analysis/trace/tables/memory_sums.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/radix_sort.h"

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
    const uint32_t *row = radix_ordered(m->time, m->rows.len, arena);
    if (ret->time == NULL || ret->before == NULL || row == NULL)
        return false;
    for (uint32_t i = 0; i < ret->events; i++) {
        uint32_t event = row[i];
        int64_t bytes = m->bytes[event] == TRACE_UNKNOWN ? 0 : m->bytes[event];
        bool is_cpu = m->device_type[event] == TYPE_CPU;
        ret->time[i] = m->time[event];
        ret->before[i + 1] = ret->before[i];
        memory_sum_add(&ret->before[i + 1],
                       (struct memory_sum){ is_cpu ? bytes : 0, is_cpu ? 0 : bytes });
    }
    arena_release(arena, mark);
    return true;
}

static bool is_before(const struct memory_sums *m, uint32_t event, int64_t moment, bool its_own)
{
    return m->time[event] < moment || (its_own && m->time[event] == moment);
}

/* How many events lie before a moment, with `its_own` also those at it: `low` or more.  Steps that
 * double, then halves. */
static uint32_t count_before(const struct memory_sums *m, uint32_t low, int64_t moment,
                             bool its_own)
{
    uint32_t step = 1;
    while (step <= m->events - low && is_before(m, low + step - 1, moment, its_own)) {
        low += step;
        step = step < m->events - low ? 2 * step : step;
    }
    uint32_t high = step <= m->events - low ? low + step - 1 : m->events;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(m, middle, moment, its_own))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory_sum memory_sums_between(const struct memory_sums *m, uint32_t *place, int64_t from,
                                      int64_t to)
{
    bool is_behind = *place == 0 || is_before(m, *place - 1, from, false);
    *place = count_before(m, is_behind ? *place : 0, from, false);
    return memory_sum_without(m->before[count_before(m, *place, to, true)], m->before[*place]);
}
