/* trace_tables.c - each table is its columns and a function that fills a row. */
#include "render/trace/trace_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/memory/memory.h"
#include "analysis/trace/queue/queue.h"
#include "analysis/trace/tables/tables.h"
#include "base/bytes.h"
#include "base/str.h"
#include "render/trace/trace_words.h"
#include "render/write/cells.h"
#include "render/write/row_table.h"
#include "render/write/text.h"

enum { NAME_LEAST = 16 };

static void draw(struct buf *to, const struct style *style, const struct row_table *table)
{
    if (row_table(to, style, table))
        buf_char(to, '\n');
}

/* Cells. */

static str cell_ns(struct cells *cells, int64_t ns)
{
    if (ns < 0)
        buf_char(&cells->text, '-');
    human_ns(&cells->text, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
    return cell_end(cells);
}

static str cell_word(struct cells *cells, const char *word)
{
    buf_text(&cells->text, word);
    return cell_end(cells);
}

static str cell_part(struct cells *cells, int64_t part, int64_t whole)
{
    return cell_share(cells, part < 0 || whole <= 0 ? -1 : (double)part / (double)whole);
}

static str cell_name(struct cells *cells, str name)
{
    return name.ptr == NULL ? S("-") : cell_text(cells, name);
}

/* Steps. */

static void fill_host_step(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_report *r = from;
    const struct trace_step *s = &r->step[i];
    cell[0] = cell_text(cells, s->name);
    cell[1] = cell_ns(cells, s->first_ns - r->figures.first_ns);
    cell[2] = cell_ns(cells, s->ns);
}

static void fill_step(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_report *r = from;
    const struct trace_step *s = &r->step[i];
    fill_host_step(cells, from, i, cell);
    cell[3] = cell_ns(cells, s->device_ns);
    cell[4] = cell_count(cells, s->work);
    cell[5] = cell_ns(cells, s->aware_ns);
    cell[6] = cell_share(cells, s->busy);
    cell[7] = cell_word(cells, trace_step_word(s->kind));
}

/* Work that no row of the table counts, where that is not next to nothing. */
static void put_of_no_step(struct buf *to, const struct style *style, const struct trace_report *r)
{
    const double little = 0.01;
    int64_t all = r->figures.tables.device_ns, rest = all;
    struct buf words;
    for (uint32_t i = 0; i < r->steps; i++)
        rest = i64_minus(rest, r->step[i].device_ns);
    if ((double)rest <= little * (double)all)
        return;
    buf_init(&words, SIZE_MAX / 2);
    human_ns(&words, (uint64_t)rest);
    buf_text(&words, " of the devices' work are of no step: the launch was not recorded, or lies "
                     "outside of the steps");
    table_note(to, style, &words);
    buf_end(&words, to);
}

static bool put_steps(struct buf *to, const struct style *style, const struct trace_report *r,
                      uint32_t most)
{
    static const struct text_column columns[] = {
        { "step", false, true, NAME_LEAST, CUT_MIDDLE },
        { "begins", true, false, 0, CUT_END },
        { "on host", true, false, 0, CUT_END },
        { "its work", true, false, 0, CUT_END },
        { "events", true, false, 0, CUT_END },
        { "with work", true, false, 0, CUT_END },
        { "busy", true, false, 0, CUT_END },
        { "", false, false, 0, CUT_END },
    };
    enum { HOST_COLUMNS = 3 };
    struct row_table d = { ROW_TABLE_COLUMNS(columns), r->steps, most, r, fill_step, "step" };
    if (r->devices == 0) {
        d.columns = HOST_COLUMNS;
        d.fill = fill_host_step;
    }
    if (!row_table(to, style, &d))
        return false;
    put_of_no_step(to, style, r);
    return true;
}

void trace_steps_table(struct buf *to, const struct style *style, const struct trace_report *r,
                       uint32_t most)
{
    if (put_steps(to, style, r, most))
        buf_char(to, '\n');
}

void trace_whole_steps_table(struct buf *to, const struct style *style,
                             const struct trace_report *r, uint32_t most)
{
    if (!put_steps(to, style, r, most))
        return;
    table_note_text(to, style,
                    r->devices == 0
                        ? "begins: from the first event of the trace"
                        : "begins: from the first event of the trace; its work, events: how long "
                          "what was launched in the step ran on devices, and how many pieces that "
                          "was; with work: from its begin, or the end of the work of the step "
                          "before, to the end of its own");
    buf_char(to, '\n');
}

/* Operators. */

/* The operators in an order; NULL: by CPU time. */
struct ordered_ops {
    const struct trace_report *report;
    const uint32_t *order;
};

static const struct operator_row *op_at(const struct ordered_ops *from, uint32_t i)
{
    return &from->report->op[from->order == NULL ? i : from->order[i]];
}

static void fill_host_op(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_report *r = ((const struct ordered_ops *)from)->report;
    const struct operator_row *o = op_at(from, i);
    cell[0] = cell_text(cells, o->name);
    cell[1] = cell_count(cells, o->calls);
    cell[2] = cell_ns(cells, o->self_cpu_ns);
    cell[3] = cell_part(cells, o->self_cpu_ns, r->self_cpu_ns);
    cell[4] = cell_ns(cells, o->cpu_total_ns);
}

static void fill_op(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_report *r = ((const struct ordered_ops *)from)->report;
    const struct operator_row *o = op_at(from, i);
    fill_host_op(cells, from, i, cell);
    cell[5] = cell_ns(cells, o->self_device_ns);
    cell[6] = cell_part(cells, o->self_device_ns, r->figures.tables.device_ns);
}

static void ops_table(struct buf *to, const struct style *style, const struct trace_report *r,
                      const uint32_t *order, uint32_t most)
{
    struct text_column columns[] = {
        { order == NULL ? "by self CPU" : "by self device", false, true, NAME_LEAST, CUT_APART },
        { "calls", true, false, 0, CUT_END },
        { "self CPU", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },
        { "CPU total", true, false, 0, CUT_END },
        { "self device", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },
    };
    enum { DEVICE_COLUMNS = 2 };
    uint32_t hidden = r->figures.tables.kernels == 0 ? DEVICE_COLUMNS : 0;
    const struct ordered_ops ops = { r, order };
    struct row_table d = { ROW_TABLE_COLUMNS(columns), r->ops, most, &ops,
                         hidden == 0 ? fill_op : fill_host_op, "row" };
    d.columns -= hidden;
    draw(to, style, &d);
}

void trace_ops_table(struct buf *to, const struct style *style, const struct trace_report *r,
                     uint32_t most)
{
    ops_table(to, style, r, NULL, most);
}

void trace_ops_by_device_table(struct buf *to, const struct style *style,
                               const struct trace_report *r, uint32_t most)
{
    ops_table(to, style, r, r->op_by_device, most);
}

/* Device work. */

static void fill_kernel(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct tables *t = from;
    const struct name_row *k = &t->kernel[i];
    cell[0] = cell_text(cells, k->name);
    cell[1] = cell_count(cells, k->calls);
    cell[2] = cell_ns(cells, k->ns);
    cell[3] = cell_part(cells, k->ns, t->device_ns);
    cell[4] = cell_ns(cells, k->ns / (int64_t)k->calls);
}

void trace_kernels_table(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most)
{
    static const struct text_column columns[] = {
        { "on the device", false, true, NAME_LEAST, CUT_CPP },
        { "calls", true, false, 0, CUT_END },
        { "total", true, false, 0, CUT_END },
        { "share", true, false, 0, CUT_END },
        { "mean", true, false, 0, CUT_END },
    };
    const struct tables *t = &r->figures.tables;
    struct row_table d = { ROW_TABLE_COLUMNS(columns), t->kernels, most, t, fill_kernel, "name",
                         .says_cut = "--kernels --csv" };
    draw(to, style, &d);
}

static void fill_copy(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const double second = 1e9;
    const struct copy_row *c = (const struct copy_row *)from + i;
    cell[0] = cell_text(cells, c->kind);
    cell[1] = cell_count(cells, c->calls);
    cell[2] = cell_bytes(cells, (int64_t)c->bytes);
    cell[3] = cell_ns(cells, c->ns);
    if (c->ns > 0) {
        human_bytes(&cells->text, i64_of_double((double)c->bytes / (double)c->ns * second));
        buf_text(&cells->text, "/s");
    }
    cell[4] = cell_end(cells);
}

void trace_copies_table(struct buf *to, const struct style *style, const struct trace_report *r,
                        uint32_t most)
{
    static const struct text_column columns[] = {
        { "copies", false, true, NAME_LEAST, CUT_MIDDLE },
        { "calls", true, false, 0, CUT_END },
        { "bytes", true, false, 0, CUT_END },
        { "total", true, false, 0, CUT_END },
        { "rate", true, false, 0, CUT_END },
    };
    const struct tables *t = &r->figures.tables;
    struct row_table d = { ROW_TABLE_COLUMNS(columns), t->copies, most, t->copy, fill_copy, "kind" };
    draw(to, style, &d);
}

static void fill_call(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct name_row *c = (const struct name_row *)from + i;
    cell[0] = cell_text(cells, c->name);
    cell[1] = cell_count(cells, c->calls);
    cell[2] = cell_ns(cells, c->ns);
    cell[3] = cell_ns(cells, c->ns / (int64_t)c->calls);
}

void trace_calls_table(struct buf *to, const struct style *style, const struct trace_report *r,
                       uint32_t most)
{
    static const struct text_column columns[] = {
        { "call", false, true, NAME_LEAST, CUT_MIDDLE },
        { "calls", true, false, 0, CUT_END },
        { "total", true, false, 0, CUT_END },
        { "mean", true, false, 0, CUT_END },
    };
    const struct tables *t = &r->figures.tables;
    struct row_table d = { ROW_TABLE_COLUMNS(columns), t->calls, most, t->call, fill_call, "call" };
    draw(to, style, &d);
    const struct launch_delay *delay = &r->figures.delay;
    if (delay->count == 0)
        return;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    buf_text(&words, "from the end of a launch to the start on the device: ");
    human_ns(&words, delay->median_ns > 0 ? (uint64_t)delay->median_ns : 0);
    buf_text(&words, " in the median, ");
    human_ns(&words, delay->most_ns > 0 ? (uint64_t)delay->most_ns : 0);
    buf_text(&words, " at most");
    table_note(to, style, &words);
    buf_char(to, '\n');
    buf_end(&words, to);
}

/* Memory. */

static void fill_memory(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct memory_row *m = (const struct memory_row *)from + i;
    trace_memory_device(&cells->text, m->device_type, m->device_number);
    cell[0] = cell_end(cells);
    cell[1] = cell_count(cells, m->allocs);
    cell[2] = cell_count(cells, m->frees);
    cell[3] = m->is_lower_bound ? cell_word(cells, "unknown") : cell_bytes(cells, m->base);
    cell[4] = cell_bytes(cells, m->peak);
    cell[5] = cell_bytes(cells, m->final);
    cell[6] = cell_word(cells, m->is_lower_bound ? "at least: the events have no totals" : "");
}

void trace_memory_table(struct buf *to, const struct style *style, const struct trace_report *r,
                        uint32_t most)
{
    static const struct text_column columns[] = {
        { "memory", false, false, 0, CUT_END }, { "allocs", true, false, 0, CUT_END },
        { "frees", true, false, 0, CUT_END },   { "before", true, false, 0, CUT_END },
        { "peak", true, false, 0, CUT_END },    { "end", true, false, 0, CUT_END },
        { "", false, false, 0, CUT_END },
    };
    const struct memory *m = &r->figures.memory;
    struct row_table d = { ROW_TABLE_COLUMNS(columns), m->rows, most, m->row, fill_memory, "device" };
    draw(to, style, &d);
}

/* Gaps. */

static void fill_class(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_device *d = from;
    cell[0] = cell_word(cells, trace_gap_word(d->gap[i].kind));
    cell[1] = cell_count(cells, d->gap[i].count);
    cell[2] = cell_ns(cells, d->gap[i].ns);
    cell[3] = cell_part(cells, d->gap[i].ns, d->idle_ns);
}

static void fill_reason(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_device *d = from;
    cell[0] = cell_word(cells, trace_reason_word(d->blame[i].reason));
    cell[1] = cell_ns(cells, d->blame[i].ns);
    cell[2] = cell_part(cells, d->blame[i].ns, d->idle_ns);
}

static void fill_bin(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    static const char *const words[GAP_BINS] = {
        "below 1 us",      "1 us to 10 us",  "10 us to 100 us",
        "100 us to 1 ms", "1 ms to 10 ms", "10 ms and more",
    };
    const struct trace_device *d = from;
    cell[0] = cell_word(cells, words[i]);
    cell[1] = cell_count(cells, d->histogram[i]);
}

/* The longest gaps of a device, whose moments count from the trace's first event. */
struct longest_gaps {
    const struct trace_device *device;
    int64_t first_ns;
};

static void fill_longest(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct longest_gaps *l = from;
    const struct long_gap_row *g = &l->device->longest[i];
    cell[0] = cell_ns(cells, g->ns);
    cell[1] = cell_ns(cells, g->first_ns - l->first_ns);
    cell[2] = cell_word(cells, g->kind == GAP_HOST_LATE ? trace_reason_word(g->reason)
                                                        : trace_gap_word(g->kind));
    cell[3] = cell_name(cells, g->step);
    cell[4] = cell_name(cells, g->op);
    cell[5] = cell_name(cells, g->next);
}

static void device_gaps(struct buf *to, const struct style *style, const struct trace_device *d,
                        int64_t first_ns, uint32_t most)
{
    enum { GAPS_SHOWN = 10 }; /* unless as many are asked for */
    static const struct text_column classes[] = {
        { "idle", false, false, 0, CUT_END },
        { "in gaps", true, false, 0, CUT_END },
        { "total", true, false, 0, CUT_END },
        { "of idle", true, false, 0, CUT_END },
    };
    static const struct text_column reasons[] = {
        { "the late host was in", false, false, 0, CUT_END },
        { "total", true, false, 0, CUT_END },
        { "of idle", true, false, 0, CUT_END },
    };
    static const struct text_column bins[] = {
        { "length", false, false, 0, CUT_END },
        { "gaps", true, false, 0, CUT_END },
    };
    static const struct text_column longest[] = {
        { "longest", true, false, 0, CUT_END },
        { "at", true, false, 0, CUT_END },
        { "because of", false, true, 10, CUT_END },
        { "step", false, true, 8, CUT_MIDDLE },
        { "before operator", false, true, 15, CUT_MIDDLE },
        { "on the device", false, true, 13, CUT_CPP },
    };
    const struct longest_gaps by_length = { d, first_ns };
    struct row_table all[] = {
        { ROW_TABLE_COLUMNS(classes), d->gap_kinds, most, d, fill_class, "class" },
        { ROW_TABLE_COLUMNS(reasons), d->blames, most, d, fill_reason, "reason" },
        { ROW_TABLE_COLUMNS(bins), d->gaps > 0 ? GAP_BINS : 0, UINT32_MAX, d, fill_bin, "length" },
    };
    const struct row_table gaps = { ROW_TABLE_COLUMNS(longest), d->longests,
                                    most == UINT32_MAX ? GAPS_SHOWN : most, &by_length,
                                    fill_longest, "gap", .all = d->gaps };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        draw(to, style, &all[i]);
    if (!row_table(to, style, &gaps))
        return;
    if (gaps.most > d->longests && d->gaps > d->longests) {
        struct buf words;
        buf_init(&words, SIZE_MAX / 2);
        buf_format(&words, "only the %u longest gaps are kept", (unsigned)d->longests);
        table_note(to, style, &words);
        buf_end(&words, to);
    }
    buf_char(to, '\n');
}

void trace_gaps_tables(struct buf *to, const struct style *style, const struct trace_report *r,
                       uint32_t most)
{
    for (uint32_t i = 0; i < r->devices; i++) {
        if (r->devices > 1) {
            trace_device_words(to, style, &r->device[i]);
            buf_char(to, '\n');
        }
        device_gaps(to, style, &r->device[i], r->figures.first_ns, most);
    }
}
