/* trace_launches.c - a sentence about launches, another about delays, and a table of queues. */
#include "render/trace/trace_launches.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/queue/queue.h"
#include "analysis/trace/report/report.h"
#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/write/cells.h"
#include "render/write/row_table.h"
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

static void fill_queue(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_queue_row *q = (const struct trace_queue_row *)from + i;
    cell[0] = cell_text(cells, q->device);
    cell[1] = cell_text(cells, q->stream);
    cell[2] = cell_count(cells, q->work);
    if (q->mean >= 0)
        buf_fixed(&cells->text, q->mean, 1);
    else
        buf_char(&cells->text, '-');
    cell[3] = cell_end(cells);
    cell[4] = cell_depth(cells, q->median);
    cell[5] = cell_depth(cells, q->most);
    cell[6] = cell_share(cells, q->empty_ratio);
    cell[7] = cell_share(cells, q->full_ratio);
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
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), l->queues, most, l->queue,
                                     fill_queue, "stream" };
    if (!row_table(to, style, &table))
        return;
    table_note_text(to, style,
                    "mean depth, median, most: pieces of work that were launched and had not "
                    "begun, weighed by time; empty, full: shares of the time with none, and with "
                    "1024 or more, where launching blocks");
}

void trace_launches_tables(struct buf *to, const struct style *style, const struct trace_report *r,
                           uint32_t most)
{
    if (r->launches.calls == 0 && r->launches.queues == 0) {
        struct buf words;
        buf_init(&words, SIZE_MAX / 2);
        buf_text(&words,
                 "none: no call of the runtime or the driver that launches was recorded");
        envelope_words(to, style, "launches", &words);
        buf_end(&words, to);
        return;
    }
    put_words(to, style, &r->launches);
    queues_table(to, style, &r->launches, most);
    buf_char(to, '\n');
}
