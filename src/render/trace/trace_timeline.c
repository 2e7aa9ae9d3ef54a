/* trace_timeline.c - what a memory timeline says, for people: the peak, the curve, categories. */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/timeline/timeline.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/str.h"
#include "model/memory_timeline.h"
#include "model/trace.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/trace/trace_answer.h"
#include "render/trace/trace_file.h"
#include "render/trace/trace_line.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/row_table.h"
#include "render/write/text.h"

static const char *category_word(uint8_t category)
{
    static const char *const words[TIMELINE_CATEGORIES] = {
        [TIMELINE_PARAMETER] = "parameter",
        [TIMELINE_OPTIMIZER_STATE] = "optimizer state",
        [TIMELINE_INPUT] = "input",
        [TIMELINE_TEMPORARY] = "temporary",
        [TIMELINE_ACTIVATION] = "activation",
        [TIMELINE_GRADIENT] = "gradient",
        [TIMELINE_AUTOGRAD_DETAIL] = "autograd detail",
        [TIMELINE_UNKNOWN] = "unknown",
    };
    return words[category];
}

/* Since the first state. */
static uint64_t after_ns(const struct trace_timeline *t, int64_t ns)
{
    int64_t after = i64_minus(ns, t->first_ns);
    return after > 0 ? (uint64_t)after : 0;
}

static void put_moment(struct buf *words, const struct trace_timeline *t, int64_t ns)
{
    if (ns == TRACE_UNKNOWN) {
        buf_text(words, "already before the recording");
        return;
    }
    human_ns(words, after_ns(t, ns));
    buf_text(words, " after the first event");
}

static void peak_words(struct buf *words, const struct style *style,
                       const struct trace_timeline *t)
{
    (void)style;
    human_bytes(words, t->sum.peak);
    buf_text(words, " in use, ");
    put_moment(words, t, t->sum.peak_ns);
}

static void before_words(struct buf *words, const struct style *style,
                         const struct trace_timeline *t)
{
    (void)style;
    if (t->sum.before == 0) {
        buf_text(words, "the profiler met nothing that was there before the recording");
        return;
    }
    human_bytes(words, t->sum.before);
    buf_text(words, " of what was there before the recording, as far as the profiler met it");
}

static void end_words(struct buf *words, const struct style *style, const struct trace_timeline *t)
{
    (void)style;
    human_bytes(words, t->sum.end);
    buf_text(words, " in use at the end");
    if (t->states == 0)
        return;
    buf_text(words, ", ");
    put_moment(words, t, t->last_ns);
}

static void put_action(struct buf *words, const struct style *style, const struct trace_timeline *t,
                       enum timeline_action action, const char *what)
{
    if (t->actions[action] == 0)
        return;
    buf_text(words, words->len > 0 ? ", " : "");
    human_count(words, t->actions[action], style->ascii);
    buf_text(words, what);
}

static void events_words(struct buf *words, const struct style *style,
                         const struct trace_timeline *t)
{
    put_action(words, style, t, TIMELINE_PRE_EXISTING, " of memory that was there before");
    put_action(words, style, t, TIMELINE_CREATE, " created");
    put_action(words, style, t, TIMELINE_VERSION, " on versions, in pairs");
    put_action(words, style, t, TIMELINE_DESTROY, " destroyed");
}

/* Sums that cannot be. */
static void wrong_words(struct buf *words, const struct style *style,
                        const struct trace_timeline *t)
{
    for (uint32_t i = 0; i < t->categories; i++) {
        const struct timeline_row *row = &t->category[i];
        if (row->below_zero == 0)
            continue;
        buf_text(words, words->len > 0 ? ", " : "below 0: ");
        buf_format(words, "%s in ", category_word(row->category));
        human_counted(words, row->below_zero, "state", style->ascii);
        buf_text(words, " (lowest ");
        human_bytes(words, row->lowest);
        buf_char(words, ')');
    }
    if (words->len > 0)
        buf_text(words, "; the profiler counted more freed than allocated there");
}

static void untold_words(struct buf *words, const struct style *style,
                         const struct trace_timeline *t)
{
    (void)style;
    if (t->form == TIMELINE_STATES)
        buf_text(words, "how many allocations there were, and what came and went within one "
                        "microsecond: the file has sums alone. A path that ends with .raw.json.gz "
                        "makes export_memory_timeline() write the events");
    else
        buf_text(words, "in which order the events of one nanosecond came: what is told is how "
                        "they end");
    buf_text(words, "; neither lines of code, nor what the allocator had reserved");
}

static void put_words(struct buf *to, const struct style *style, const char *label,
                      const struct trace_timeline *t,
                      void (*say)(struct buf *, const struct style *,
                                  const struct trace_timeline *))
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    say(&words, style, t);
    if (words.len > 0)
        envelope_words(to, style, label, &words);
    buf_end(&words, to);
}

/* The sum over time, each bar the most of its span; what is below 0 is as 0. */
static void put_curve(struct buf *to, const struct style *style, const struct trace_timeline *t)
{
    if (!t->has_bins || t->sum.peak <= 0)
        return;
    uint32_t columns = trace_line_columns(style, TIMELINE_BINS);
    envelope_label(to, style, "memory");
    paint_on(to, style, PAINT_USED);
    for (uint32_t c = 0; c < columns; c++) {
        int64_t most = 0;
        for (uint32_t i = c * TIMELINE_BINS / columns; i < (c + 1) * TIMELINE_BINS / columns; i++)
            most = t->bin[i] > most ? t->bin[i] : most;
        trace_line_bar(to, style, (double)most / (double)t->sum.peak);
    }
    paint_off(to, style);
    buf_char(to, '\n');
    trace_line_axis(to, style, columns, 0, after_ns(t, t->last_ns));
}

/* The categories that ever had something. */
struct shown {
    const struct trace_timeline *t;
    uint8_t place[TIMELINE_CATEGORIES];
    uint32_t count;
};

static str cell_moment(struct cells *cells, const struct trace_timeline *t,
                       const struct timeline_row *row)
{
    if (row->peak == 0)
        return S("-");
    if (row->peak_ns == TRACE_UNKNOWN)
        return S("before");
    human_ns(&cells->text, after_ns(t, row->peak_ns));
    return cell_end(cells);
}

static void fill_category(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct shown *shown = from;
    const struct timeline_row *row = &shown->t->category[shown->place[i]];
    cell[0] = str_from(category_word(row->category));
    cell[1] = cell_bytes(cells, row->at_peak);
    cell[2] = cell_share(cells, row->at_peak_ratio);
    cell[3] = cell_bytes(cells, row->peak);
    cell[4] = cell_moment(cells, shown->t, row);
    cell[5] = cell_bytes(cells, row->before);
    cell[6] = cell_bytes(cells, row->end);
}

static void put_categories(struct buf *to, const struct style *style,
                           const struct trace_timeline *t, uint32_t most)
{
    static const struct text_column columns[] = {
        { "category", false, true, 8, CUT_END },   { "at the peak", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },      { "own peak", true, false, 0, CUT_END },
        { "at", true, false, 0, CUT_END },         { "before", true, false, 0, CUT_END },
        { "at the end", true, false, 0, CUT_END },
    };
    struct shown shown = { .t = t };
    for (uint32_t i = 0; i < t->categories; i++)
        if (t->category[i].peak != 0 || t->category[i].lowest != 0)
            shown.place[shown.count++] = (uint8_t)i;
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), shown.count, most, &shown,
                                     fill_category, "row" };
    buf_char(to, '\n');
    row_table(to, style, &table);
}

static void put_timeline(struct buf *to, const struct trace_timeline *t,
                         const struct render_options *options)
{
    const struct style *style = &options->style;
    bool is_states = t->form == TIMELINE_STATES;
    trace_file_text(to, style, &t->file,
                    is_states ? "memory timeline of torch.profiler, sums by category"
                              : "memory timeline of torch.profiler, raw events",
                    is_states ? "row" : "event");
    put_words(to, style, "peak", t, peak_words);
    put_curve(to, style, t);
    put_words(to, style, "before", t, before_words);
    put_words(to, style, "end", t, end_words);
    put_words(to, style, "events", t, events_words);
    put_words(to, style, "wrong", t, wrong_words);
    put_words(to, style, "untold", t, untold_words);
    put_categories(to, style, t, options->rows == 0 ? UINT32_MAX : options->rows);
}

void trace_timeline_text(struct out *out, const struct answer_set *set, bool several,
                         const struct render_options *options)
{
    const struct trace_timeline *timelines = set->answers;
    (void)several;
    for (uint32_t i = 0; i < set->count; i++) {
        if (i > 0)
            buf_char(&out->text, '\n');
        put_timeline(&out->text, &timelines[i], options);
        out_flush(out, OUT_ENOUGH);
    }
}
