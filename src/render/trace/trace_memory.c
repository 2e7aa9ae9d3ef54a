/* trace_memory.c - the peak of each device: when, in what, by whom; and growth from step to step. */
#include "render/trace/trace_memory.h"

#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/categories/categories.h"
#include "analysis/trace/phases/phases.h"
#include "base/str.h"
#include "render/trace/trace_words.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/row_table.h"
#include "render/write/text.h"

static const char *category_word(uint8_t category)
{
    static const char *const words[TRACE_CATEGORIES] = {
        [TRACE_PRE_EXISTING] = "there before the recording",
        [TRACE_OPTIMIZER_STATE] = "optimizer state",
        [TRACE_INPUT] = "input",
        [TRACE_TEMPORARY] = "temporary",
        [TRACE_ACTIVATION] = "activation",
        [TRACE_GRADIENT] = "gradient",
        [TRACE_AUTOGRAD_DETAIL] = "autograd detail",
        [TRACE_CATEGORY_UNKNOWN] = "unknown",
    };
    return words[category];
}

/* When, in what, and how much was reserved. */
static void put_peak(struct buf *words, const struct style *style, const struct trace_report *r,
                     const struct trace_memory_peak *p)
{
    int64_t after = p->row->peak_ns - r->figures.first_ns;
    trace_memory_device(words, p->row->device_type, p->row->device_number);
    buf_text(words, p->row->is_lower_bound ? ": at least " : ": ");
    human_bytes(words, p->row->peak);
    buf_text(words, " in use at the peak, ");
    human_ns(words, after > 0 ? (uint64_t)after : 0);
    buf_text(words, " after the first event");
    if (p->step.ptr != NULL) {
        buf_text(words, ", in ");
        trace_name(words, style, p->step);
    }
    if (p->phase < PHASE_OTHER)
        buf_format(words, ", phase %s", trace_phase_names[p->phase]);
    if (p->op.ptr != NULL) {
        buf_text(words, ", when ");
        trace_name(words, style, p->op);
        buf_text(words, " allocated");
    }
    if (p->row->has_totals && p->row->peak_reserved > 0) {
        buf_text(words, "; ");
        human_bytes(words, p->row->peak_reserved);
        buf_text(words, " reserved at most");
    }
    buf_char(words, '.');
}

static void put_growth(struct buf *words, const struct trace_memory_peak *p)
{
    buf_format(words, "It grows: the last %u steps each ended with over 1 %% more in use than the "
                      "one before, from ", (unsigned)p->grown);
    human_bytes(words, p->grown_from);
    buf_text(words, " to ");
    human_bytes(words, p->grown_to);
    buf_char(words, '.');
}

static void put_held(struct buf *words, const struct trace_memory_peak *p)
{
    uint32_t last = p->steps - 1;
    buf_format(words, "The last %u steps each ended with more gradients and activations that earlier "
                      "steps had made: from %llu to %llu.",
               (unsigned)p->held_steps, (unsigned long long)p->held[last - p->held_steps],
               (unsigned long long)p->held[last]);
}

static void fill_category(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_memory_peak *p = from;
    const struct trace_category_row *c = &p->category[i];
    cell[0] = str_from(category_word(c->category));
    cell[1] = cell_bytes(cells, c->bytes);
    cell[2] = cell_share(cells, p->row->peak > 0 ? (double)c->bytes / (double)p->row->peak : -1);
}

static void put_categories(struct buf *to, const struct style *style,
                           const struct trace_memory_peak *p, uint32_t most)
{
    static const struct text_column columns[] = {
        { "at the peak", false, false, 0, CUT_END },
        { "bytes", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },
    };
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), p->categories, most, p,
                                     fill_category, "category" };
    row_table(to, style, &table);
}

static void fill_largest(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_memory_peak *p = from;
    const struct trace_live_row *l = &p->top[i];
    cell[0] = cell_bytes(cells, l->bytes);
    cell[1] = str_from(category_word(l->category));
    cell[2] = l->step.ptr == NULL ? S("-") : cell_text(cells, l->step);
    cell[3] = l->op.ptr == NULL ? S("-") : cell_text(cells, l->op);
}

static void put_largest(struct buf *to, const struct style *style,
                        const struct trace_memory_peak *p, uint32_t most)
{
    static const struct text_column columns[] = {
        { "bytes", true, false, 0, CUT_END },
        { "category", false, false, 0, CUT_END },
        { "allocated in", false, true, 8, CUT_MIDDLE },
        { "by", false, true, 12, CUT_MIDDLE },
    };
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), p->tops, most, p, fill_largest,
                                     "allocation", .all = p->live };
    row_table(to, style, &table);
}

/* One sentence on lines of its own; empties it. */
static void put_line(struct buf *to, const struct style *style, struct buf *words)
{
    text_wrap(to, style, buf_slice(words), 0, 0);
    buf_char(to, '\n');
    words->len = 0;
}

static void put_sentences(struct buf *to, const struct style *style, const struct trace_report *r,
                          const struct trace_memory_peak *p)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    put_peak(&words, style, r, p);
    put_line(to, style, &words);
    if (p->grows) {
        put_growth(&words, p);
        put_line(to, style, &words);
    }
    if (p->holds) {
        put_held(&words, p);
        put_line(to, style, &words);
    }
    if (!p->has_blocks) {
        buf_text(&words, "What it consisted of is not known: the events tell no addresses.");
        put_line(to, style, &words);
    }
    buf_end(&words, to);
}

void trace_memory_peaks(struct buf *to, const struct style *style, const struct trace_report *r,
                        uint32_t most)
{
    for (uint32_t i = 0; i < r->peaks.rows && i < most; i++) {
        const struct trace_memory_peak *p = &r->peaks.row[i];
        put_sentences(to, style, r, p);
        if (!p->has_blocks)
            continue;
        put_categories(to, style, p, most);
        buf_char(to, '\n');
        put_largest(to, style, p, most);
        buf_char(to, '\n');
    }
}
