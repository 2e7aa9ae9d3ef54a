/* calls.c - calls sorted by function, by counting. */
#include "profiler/analyzer/calls.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"

bool calls_of_each(const struct calls *calls, struct arena *arena, struct calls_of *ret)
{
    uint32_t *first = arena_array(arena, uint32_t, (size_t)calls->functions + 2);
    uint32_t *call = arena_array(arena, uint32_t, calls->count);
    if (first == NULL || call == NULL)
        return false;
    /* One place further than it ends up: filling moves each to the begin of the next. */
    for (uint32_t i = 0; i < calls->count; i++)
        first[calls->function[i] + 2]++;
    for (uint32_t f = 0; f < calls->functions; f++)
        first[f + 2] += first[f + 1];
    for (uint32_t i = 0; i < calls->count; i++)
        call[first[calls->function[i] + 1]++] = i;
    *ret = (struct calls_of){ first, call };
    return true;
}

int64_t calls_growth(const struct calls *calls, uint32_t call)
{
    int64_t before = calls->before_bytes[call], after = calls->after_bytes[call];
    return bytes_known(before) && bytes_known(after) ? i64_minus(after, before) : BYTES_UNKNOWN;
}

static int64_t or_0(int64_t bytes)
{
    return bytes_known(bytes) ? bytes : 0;
}

static double mean(double sum, uint32_t count)
{
    return count == 0 ? 0 : sum / count;
}

struct calls_totals calls_total(const struct calls *calls)
{
    struct calls_totals total = { .seconds = 0 };
    for (uint32_t i = 0; i < calls->count; i++) {
        total.grown_bytes = i64_plus(total.grown_bytes, or_0(calls->grown_bytes[i]));
        if (calls->shrunk_bytes != NULL)
            total.shrunk_bytes = i64_plus(total.shrunk_bytes, or_0(calls->shrunk_bytes[i]));
        if (or_0(calls->peak_bytes[i]) > total.peak_bytes)
            total.peak_bytes = calls->peak_bytes[i];
        if (isfinite(calls->seconds[i]))
            total.seconds += calls->seconds[i];
    }
    total.net_bytes = i64_minus(total.grown_bytes, total.shrunk_bytes);
    total.mean_seconds = mean(total.seconds, calls->count);
    total.mean_grown_bytes = mean((double)total.grown_bytes, calls->count);
    return total;
}
