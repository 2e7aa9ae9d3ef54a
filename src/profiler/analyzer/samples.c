/* samples.c - gaps of samples, and their order in time. */
#include "profiler/analyzer/samples.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "profiler/analyzer/calls.h"

int64_t samples_gap(const struct samples *samples, uint32_t i)
{
    int64_t used = samples->used[i], reserved = samples->reserved[i];
    return bytes_known(used) && bytes_known(reserved) ? i64_minus(used, reserved) : BYTES_UNKNOWN;
}

static int compare(const void *a, const void *b)
{
    const struct sample_at *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

void samples_sort(struct sample_at *at, uint32_t count)
{
    if (count > 1)
        qsort(at, count, sizeof *at, compare);
}
