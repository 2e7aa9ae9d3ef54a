/* gaps.c - a gap is held against the launch of the work behind it. */
#include "analysis/trace/busy/gaps.h"

#include <stdint.h>

#include "base/table.h"
#include "model/trace.h"

struct gap_parts gap_part(const struct trace_study *s, int64_t start, uint32_t next)
{
    enum { SHORT_NS = 10000 };
    const struct spans *spans = &s->trace->spans;
    uint32_t launch = s->links.launch[next];
    int64_t end = spans->start[next];
    if (launch == NO_ROW || spans->start[launch] <= start) {
        enum gap_class kind = launch == NO_ROW         ? GAP_NO_LAUNCH
                              : end - start < SHORT_NS ? GAP_QUEUED_UNDER_10US
                                                       : GAP_QUEUED;
        return (struct gap_parts){ kind, kind, end };
    }
    return (struct gap_parts){
        .kind = GAP_HOST_LATE,
        .rest = spans->duration[launch] >= SLOW_LAUNCH_NS ? GAP_SLOW_LAUNCH : GAP_LAUNCH_LATENCY,
        .late_until = spans->start[launch] < end ? spans->start[launch] : end,
    };
}

uint32_t gap_end(const struct trace_study *s, uint32_t at)
{
    const struct spans *spans = &s->trace->spans;
    const uint32_t *process = s->trace->tracks.process;
    uint32_t found = s->sorted[at];
    int64_t start = spans->start[found];
    for (uint32_t i = at + 1; i < spans->rows.len && spans->start[s->sorted[i]] == start; i++) {
        uint32_t row = s->sorted[i];
        if (span_is_work(spans->kind[row]) &&
            process[spans->track[row]] == process[spans->track[found]] &&
            spans->duration[row] < spans->duration[found])
            found = row;
    }
    return found;
}
