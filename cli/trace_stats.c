/* trace_stats.c - one line with rates of reading, and the process's memory at its most. */
#define _POSIX_C_SOURCE 200809L
#include "trace_stats.h"

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "message.h"

double trace_stats_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Linux counts in KiB. */
static double resident_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss * 1024 : 0;
}

void trace_stats_say(const char *path, const struct vrs_trace *trace,
                     const struct trace_stats *stats)
{
    double reading = stats->read - stats->begun, all = stats->answered - stats->begun;
    double least = 1e-9; /* a clock that stands still divides nothing by zero */
    uint64_t bytes = vrs_trace_read_bytes(trace), events = vrs_trace_events(trace);
    message(
        "%s: %llu bytes (unpacked) with %llu events read in %.3f s, %.1f MB/s and %.0f events/s; "
        "answered after %.3f s; %llu bytes skipped; resident at most %.1f MB",
        path, (unsigned long long)bytes, (unsigned long long)events, reading,
        (double)bytes / (reading > least ? reading : least) / 1e6,
        (double)events / (reading > least ? reading : least), all,
        (unsigned long long)vrs_trace_skipped_bytes(trace), resident_bytes() / 1e6);
}
