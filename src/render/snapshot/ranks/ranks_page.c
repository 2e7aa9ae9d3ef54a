/* ranks_page.c - the table of units as HTML: what of viewer/index the build made, and units between
 * its parts. */
#include "render/snapshot/ranks/ranks_page.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/report/report.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "render/answer/envelope.h"
#include "render/snapshot/ranks/missing_ranks.h"
#include "render/snapshot/ranks/ranks.h"
#include "render/write/human.h"
#include "render/write/markup.h"

enum { CURVE_WIDTH = 1200, CURVE_HEIGHT = 240, WORDS_WIDTH = 110 };

/* Made by tools/bundle of viewer/index/index.html: what stands before, between and behind the names
 * there. */
extern const char index_before_title[], index_before_heading[], index_after_heading[],
    index_table[], index_file_column[], index_figure_columns[], index_after_rows[],
    index_ranks_note[], index_legend_end[], index_before_tool[], index_after_tool[],
    index_sorting[], index_end[];

/* A device of a report; `unit` is its number among those compared, NO_ROW where it is none. */
struct row {
    const struct report *report;
    const struct report_device *device;
    uint32_t unit;
};

struct text_context {
    const struct ranks_page *page;
    const struct ranks *ranks;
    struct out *out;
    struct buf *to;
    size_t folder; /* bytes that the paths of all files share */
    struct row *row;
    uint32_t rows;
    bool *is_outlier; /* each unit */
    int64_t top;      /* of all curves */
    bool ranked;      /* names give ranks; else the name of a unit is that of its file */
};

static size_t common_folder(const struct ranks_page *page)
{
    str first = page->file[0].path;
    size_t shared = first.len;
    for (uint32_t i = 1; i < page->files; i++) {
        str path = page->file[i].path;
        size_t at = 0;
        while (at < shared && at < path.len && path.ptr[at] == first.ptr[at])
            at++;
        shared = at;
    }
    while (shared > 0 && first.ptr[shared - 1] != '/')
        shared--;
    return shared;
}

/* The files stand in the order of their paths. */
static str href_of(const struct text_context *m, str path)
{
    uint32_t from = 0, to = m->page->files;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int order = str_compare(m->page->file[middle].path, path);
        if (order == 0)
            return m->page->file[middle].href;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return S("");
}

static const struct device_summary *summary_of(const struct row *row)
{
    return row->device == NULL ? NULL : row->device->summary;
}

static int by_unit(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)summary_of(a), y = (uintptr_t)summary_of(b);
    return (x > y) - (x < y);
}

/* The largest peak first, rows without a unit last; of equals in the order of ranks. */
static int by_peak(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const struct device_summary *of_x = summary_of(x), *of_y = summary_of(y);
    if ((of_x == NULL) != (of_y == NULL))
        return of_x == NULL ? 1 : -1;
    if (of_x != NULL && of_x->peak_bytes != of_y->peak_bytes)
        return of_x->peak_bytes > of_y->peak_bytes ? -1 : 1;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    int order = str_compare(x->report->file.path, y->report->file.path);
    return order != 0 ? order : str_compare(x->report->file.entry, y->report->file.entry);
}

/* Rows of all devices that are units, then of the files that have none. */
static enum vrs_status find_rows(struct text_context *m, struct arena *scratch,
                                 struct vrs_error *err)
{
    const struct answer_set *set = m->page->set;
    m->row = arena_array(scratch, struct row, (size_t)m->ranks->units + set->count);
    m->is_outlier = arena_array(scratch, bool, m->ranks->units);
    if (m->row == NULL || m->is_outlier == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->report[i].devices; k++)
            if (set->report[i].device[k].summary != NULL)
                m->row[m->rows++] =
                    (struct row){ &set->report[i], &set->report[i].device[k], NO_ROW };
    if (m->rows > 1)
        qsort(m->row, m->rows, sizeof *m->row, by_unit);
    for (uint32_t i = 0; i < m->ranks->units; i++) {
        struct report_device device = { .summary = m->ranks->unit[i].summary };
        struct row wanted = { .device = &device };
        struct row *found = bsearch(&wanted, m->row, m->rows, sizeof *m->row, by_unit);
        if (found != NULL)
            found->unit = i;
    }
    for (uint32_t i = 0; i < m->ranks->outliers; i++)
        m->is_outlier[m->ranks->outlier[i]] = true;
    for (uint32_t i = 0; i < set->count; i++) {
        bool none = true;
        for (uint32_t k = 0; k < set->report[i].devices; k++)
            none = none && set->report[i].device[k].summary == NULL;
        if (none)
            m->row[m->rows++] = (struct row){ &set->report[i], NULL, NO_ROW };
    }
    if (m->rows > 1)
        qsort(m->row, m->rows, sizeof *m->row, by_peak);
    return VRS_OK;
}

static void cell(struct text_context *m, const char *class)
{
    buf_text(m->to, "<td");
    if (class != NULL)
        buf_format(m->to, " class=\"%s\"", class);
    buf_char(m->to, '>');
}

/* A cell that is sorted by a number. */
static void number_cell(struct text_context *m, const char *class, bool known, int64_t number)
{
    buf_format(m->to, "<td class=\"%s\" data-v=\"", class);
    if (known)
        buf_format(m->to, "%lld", (long long)number);
    buf_text(m->to, "\">");
}

/* A report may be of a file that is not among those of the page. */
static str in_folder(const struct text_context *m, str path)
{
    str folder = { m->page->file[0].path.ptr, m->folder };
    return str_starts(path, folder) ? (str){ path.ptr + folder.len, path.len - folder.len } : path;
}

static void put_path(struct text_context *m, const struct report *report)
{
    markup_text(m->to, in_folder(m, report->file.path));
    if (report->file.entry.ptr == NULL)
        return;
    buf_char(m->to, ' ');
    markup_text(m->to, report->file.entry);
}

static void put_name(struct text_context *m, const struct row *row)
{
    const struct rank_unit *u = row->unit == NO_ROW ? NULL : &m->ranks->unit[row->unit];
    str href = href_of(m, row->report->file.path);
    cell(m, m->ranked ? NULL : "f");
    if (href.len > 0) {
        buf_text(m->to, "<a href=\"");
        markup_text(m->to, href);
        if (row->device > row->report->device)
            buf_format(m->to, "#v=1&amp;dev=%u", (unsigned)(row->device - row->report->device));
        buf_text(m->to, "\">");
    }
    if (u != NULL && u->rank_named)
        buf_format(m->to, "rank %lld", (long long)u->rank);
    else
        put_path(m, row->report);
    buf_char(m->to, ' ');
    if (row->device == NULL)
        buf_text(m->to, "no device");
    else
        envelope_device_name(m->to, row->device->name);
    buf_text(m->to, href.len > 0 ? "</a></td>" : "</td>");
    if (!m->ranked)
        return;
    cell(m, "f");
    put_path(m, row->report);
    buf_text(m->to, "</td>");
}

static void put_peak(struct text_context *m, const struct report_device *d)
{
    const struct curve *curve = &d->curves.of[CURVE_REQUESTED];
    number_cell(m, "n", true, curve->peak_bytes);
    buf_text(m->to, !curve->start_known ? "≥ " : curve->exact ? "" : "~");
    human_bytes(m->to, curve->peak_bytes);
    buf_text(m->to, "</td>");
}

/* The step whose peak is the unit's; 0: none of the complete ones that are kept. */
static uint32_t step_of(const struct device_summary *u)
{
    for (uint32_t i = 0; i < u->moments.steps; i++)
        if (u->moments.step_peak[i] == u->peak_bytes)
            return i + 1;
    return 0;
}

static void put_moment(struct text_context *m, const struct report_device *d)
{
    uint32_t step = step_of(d->summary);
    number_cell(m, "s", true, d->summary->peak_event);
    if (d->summary->peak_event < 0)
        buf_text(m->to, "the start");
    else
        buf_format(m->to, "event %lld", (long long)d->summary->peak_event);
    if (step > 0)
        buf_format(m->to, ", step %u", (unsigned)step);
    if (d->summary->peak_phase != NULL)
        buf_format(m->to, "%s%s", step > 0 ? " " : ", ", d->summary->peak_phase);
    buf_text(m->to, "</td>");
}

static void put_ooms(struct text_context *m, const struct report_device *d)
{
    number_cell(m, d->curves.oom_events > 0 ? "b" : "s", true, (int64_t)d->curves.oom_events);
    if (d->curves.oom_events == 0)
        buf_char(m->to, '-');
    else
        buf_format(m->to, "▼ %llu", (unsigned long long)d->curves.oom_events);
    buf_text(m->to, "</td>");
}

/* What was mapped and free when a request failed is the least that the device has. */
static void put_headroom(struct text_context *m, const struct report_device *d)
{
    int64_t most = -1;
    for (uint32_t i = 0; i < d->ooms; i++) {
        const struct oom_fact *oom = &d->oom[i];
        int64_t reserved = oom->reserved_bytes;
        if (reserved < 0 || oom->device_free_bytes > (uint64_t)(INT64_MAX - reserved))
            continue;
        int64_t seen = reserved + (int64_t)oom->device_free_bytes;
        most = seen > most ? seen : most;
    }
    int64_t peak = d->curves.of[CURVE_REQUESTED].peak_bytes;
    bool known = most >= 0 && peak >= 0;
    number_cell(m, "n", known, known ? most - peak : 0);
    if (!known) {
        buf_char(m->to, '-');
    } else {
        buf_text(m->to, "≥ ");
        human_bytes(m->to, most - peak);
    }
    buf_text(m->to, "</td>");
}

/* A step for each span, on the scale of all rows. */
static void put_curve(struct text_context *m, const struct report_device *d)
{
    cell(m, NULL);
    buf_format(m->to,
               "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"bytes in use over the recording\"><path d=\"M0 %d",
               CURVE_WIDTH, CURVE_HEIGHT, CURVE_HEIGHT);
    for (uint32_t i = 0; i < d->spans; i++) {
        double share = m->top > 0 ? (double)d->requested[i] / (double)m->top : 0;
        int height = share > 0 ? (int)(share * CURVE_HEIGHT + 0.5) : 0;
        unsigned right = (unsigned)((uint64_t)(i + 1) * CURVE_WIDTH / d->spans);
        buf_format(m->to, "V%dH%u", CURVE_HEIGHT - height, right);
    }
    buf_format(m->to, "V%dZ\"/></svg></td>", CURVE_HEIGHT);
}

static void put_difference(struct text_context *m, const struct rank_unit *u)
{
    int64_t over = 0;
    bool known = u != NULL && ranks_over_median(m->ranks, u, &over);
    number_cell(m, "n", known, over);
    if (!known) {
        buf_char(m->to, '-');
    } else {
        buf_text(m->to, over > 0 ? "+" : over < 0 ? "−" : "");
        human_bytes(m->to, over < 0 && over != INT64_MIN ? -over : over);
    }
    buf_text(m->to, "</td>");
}

static void put_note(struct text_context *m, const struct row *row)
{
    const char *between = "";
    const struct rank_unit *u = row->unit == NO_ROW ? NULL : &m->ranks->unit[row->unit];
    cell(m, NULL);
    if (u != NULL && m->is_outlier[row->unit]) {
        buf_text(m->to, "<span class=\"b\">outlier</span>");
        between = ", ";
    }
    if (u != NULL && m->ranks->units > 1 && m->ranks->straggler == row->unit) {
        buf_format(m->to, "%sbounds the job", between);
        between = ", ";
    }
    if (!row->report->file.origin.complete || (u != NULL && !u->whole)) {
        buf_format(m->to, "%scut file%s", between,
                   u != NULL && !u->whole ? ", not in the median" : "");
        between = ", ";
    }
    if (u != NULL && u->summary->after_peer_oom_event >= 0)
        buf_format(m->to, "%scompared up to event %lld, where another device ran out", between,
                   (long long)u->summary->after_peer_oom_event);
    buf_text(m->to, "</td>");
}

static void put_row(struct text_context *m, const struct row *row)
{
    const struct report_device *d = row->device;
    buf_text(m->to, "<tr>");
    put_name(m, row);
    if (d == NULL) {
        buf_text(m->to, "<td>-</td><td class=\"n\">-</td><td colspan=\"6\" class=\"m\">no device "
                        "with events or 64 MiB reserved</td></tr>\n");
        return;
    }
    buf_format(m->to, "<td>%c</td>", d->trust.grade);
    put_peak(m, d);
    put_moment(m, d);
    put_ooms(m, d);
    put_headroom(m, d);
    put_curve(m, d);
    put_difference(m, row->unit == NO_ROW ? NULL : &m->ranks->unit[row->unit]);
    put_note(m, row);
    buf_text(m->to, "</tr>\n");
}

static void put_head(struct text_context *m)
{
    buf_text(m->to, index_before_title);
    buf_format(m->to, "%u file%s", (unsigned)m->page->files, m->page->files == 1 ? "" : "s");
    buf_text(m->to, index_before_heading);
    if (m->folder > 0)
        markup_text(m->to, (str){ m->page->file[0].path.ptr, m->folder });
    else
        buf_text(m->to, "vramscope");
    buf_text(m->to, index_after_heading);
    if (m->rows == 0)
        return;
    buf_text(m->to, index_table);
    buf_text(m->to, m->ranked ? index_file_column : "");
    buf_text(m->to, index_figure_columns);
}

/* What the columns are. */
static void put_legend(struct text_context *m)
{
    buf_text(m->to, index_after_rows);
    buf_text(m->to, m->ranked ? index_ranks_note : "");
    buf_text(m->to, index_legend_end);
}

static void put_words(struct text_context *m)
{
    struct style style = { .width = WORDS_WIDTH };
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    ranks_text(&words, &style, m->ranks, false);
    if (words.len > 0) {
        buf_text(m->to, "<h2>Compared</h2>\n<pre>");
        markup_escaped(m->to, buf_slice(&words));
        buf_text(m->to, "</pre>\n");
    }
    buf_end(&words, m->to);
}

static void put_missing(struct text_context *m)
{
    struct buf words;
    buf_init(&words, 1 << 12);
    if (missing_ranks_words(&words, m->page->set->more)) {
        buf_text(m->to, "<h2>Missing</h2>\n<p class=\"b\">");
        markup_escaped(m->to, buf_slice(&words));
        buf_text(m->to, "</p>\n");
    }
    buf_end(&words, m->to);
}

static void put_failures(struct text_context *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->page->files; i++) {
        const struct ranks_file *file = &m->page->file[i];
        if (file->failure.len == 0)
            continue;
        buf_text(m->to, any ? "" : "<h2>Could not be read</h2>\n<ul>\n");
        any = true;
        buf_text(m->to, "<li><span class=\"f\">");
        markup_text(m->to, in_folder(m, file->path));
        buf_text(m->to, "</span>: <span class=\"b\">");
        markup_text(m->to, file->failure);
        buf_text(m->to, "</span></li>\n");
        out_flush(m->out, OUT_ENOUGH);
    }
    buf_text(m->to, any ? "</ul>\n" : "");
}

enum vrs_status ranks_page(struct out *out, const struct ranks_page *page, struct arena *scratch,
                           struct vrs_error *err)
{
    struct text_context m = { .page = page,
                              .ranks = ((const struct report_set *)page->set->more)->ranks,
                              .out = out,
                              .to = &out->text };
    m.folder = common_folder(page);
    TRY(find_rows(&m, scratch, err));
    for (uint32_t i = 0; i < m.ranks->units; i++)
        m.ranked = m.ranked || m.ranks->unit[i].rank_named;
    for (uint32_t i = 0; i < m.rows; i++)
        for (uint32_t k = 0; m.row[i].device != NULL && k < m.row[i].device->spans; k++)
            m.top = m.row[i].device->requested[k] > m.top ? m.row[i].device->requested[k] : m.top;
    put_head(&m);
    for (uint32_t i = 0; i < m.rows; i++) {
        put_row(&m, &m.row[i]);
        out_flush(out, OUT_ENOUGH);
    }
    if (m.rows > 0)
        put_legend(&m);
    put_words(&m);
    put_missing(&m);
    put_failures(&m);
    buf_text(m.to, index_before_tool);
    buf_text(m.to, page->tool);
    buf_text(m.to, index_after_tool);
    buf_text(m.to, m.rows > 1 ? index_sorting : "");
    buf_text(m.to, index_end);
    buf_char(m.to, '\n');
    return VRS_OK;
}
