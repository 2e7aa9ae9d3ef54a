/* trace_launches.c - a sentence about launches, another about delays, and a table of queues. */
#include "render/trace/trace_launches.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/queue/queue.h"
#include "analysis/trace/report/report.h"
#include "base/str.h"
#include "render/write/cells.h"
#include "render/write/text.h"

static void put_ns(struct buf *to, int64_t ns)
{
    if (ns < 0)
        buf_char(to, '-');
    human_ns(to, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
}

static void put_words(struct buf *to, const struct style *style, const struct trace_launches *l)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_counted(&words, l->calls, "launch call", style->ascii);
    buf_text(&words, " took ");
    put_ns(&words, l->ns);
    buf_text(&words, " of the host");
    if (l->delay.count > 0) {
        buf_text(&words, "; work began ");
        put_ns(&words, l->delay.median_ns);
        buf_text(&words, " after its launch had ended in the median, from ");
        put_ns(&words, l->delay.least_ns);
        buf_text(&words, " to ");
        put_ns(&words, l->delay.most_ns);
    }
    if (l->delay.negative > 0) {
        buf_text(&words, "; ");
        human_counted(&words, l->delay.negative, "piece", style->ascii);
        buf_text(&words, " of work began before the launch had ended");
    }
    text_wrap(to, style, buf_slice(&words), 0, 2);
    buf_end(&words, to);
}

static str cell_depth(struct cells *cells, int64_t depth)
{
    return depth < 0 ? S("-") : cell_count(cells, (uint64_t)depth);
}

static void queues_table(struct buf *to, const struct style *style, const struct trace_launches *l,
                         uint32_t most)
{
    static const struct text_column columns[] = {
        { "device", false, true, 6, CUT_END },   { "stream", false, true, 6, CUT_END },
        { "work", true, false, 0, CUT_END },     { "mean depth", true, false, 0, CUT_END },
        { "median", true, false, 0, CUT_END },   { "most", true, false, 0, CUT_END },
        { "empty", true, false, 0, CUT_END },    { "full", true, false, 0, CUT_END },
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    uint32_t shown = l->queues < most ? l->queues : most;
    struct cells cells;
    cells_init(&cells, style);
    str *cell = cells_array(&cells, shown, COLUMNS);
    for (uint32_t i = 0; i < shown && cell != NULL; i++) {
        str *at = cell + (size_t)i * COLUMNS;
        const struct trace_queue_row *q = &l->queue[i];
        at[0] = cell_text(&cells, q->device);
        at[1] = cell_text(&cells, q->stream);
        at[2] = cell_count(&cells, q->work);
        if (q->mean >= 0)
            buf_fixed(&cells.text, q->mean, 1);
        else
            buf_char(&cells.text, '-');
        at[3] = cell_end(&cells);
        at[4] = cell_depth(&cells, q->median);
        at[5] = cell_depth(&cells, q->most);
        at[6] = cell_share(&cells, q->empty_ratio);
        at[7] = cell_share(&cells, q->full_ratio);
    }
    if (cell != NULL)
        text_table(to, style, &(struct text_table){ columns, COLUMNS, shown, cell, 2 });
    cells_free(&cells, to);
    if (shown < l->queues) {
        buf_text(to, "  and ");
        human_counted(to, l->queues - shown, "stream", style->ascii);
        buf_text(to, " more\n");
    }
}

void trace_launches_tables(struct buf *to, const struct style *style, const struct trace_report *r,
                           uint32_t most)
{
    if (r->launches.calls == 0 && r->launches.queues == 0) {
        buf_text(to, "launches none: no call of the runtime or the driver that launches was recorded\n");
        return;
    }
    put_words(to, style, &r->launches);
    if (r->launches.queues > 0)
        queues_table(to, style, &r->launches, most);
    buf_char(to, '\n');
}
