/* report_markdown.c - a report for a pull request: what was found, who held the peak, a sparkline.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/next.h"
#include "render/answer/terminal_chart.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/report/report_parts.h"
#include "render/snapshot/report/report_sections.h"
#include "render/write/human.h"
#include "render/write/markdown.h"
#include "render/write/out.h"

enum { ROWS_DEFAULT = 10, LINE_COLUMNS = 72, NEVER_WRAPPED = 1 << 20 };

/* Lines of a label and words become items of a list. */
static void put_items(struct buf *to, const struct buf *lines, bool ascii)
{
    str rest = buf_slice(lines);
    while (rest.len > 0) {
        size_t end = str_find(rest, S("\n"));
        str line = { rest.ptr, end };
        size_t past = end < rest.len ? end + 1 : end;
        rest = (str){ rest.ptr + past, rest.len - past };
        size_t label = line.len < ENVELOPE_LABEL ? line.len : ENVELOPE_LABEL;
        str words = { line.ptr + label, line.len - label };
        while (label > 0 && line.ptr[label - 1] == ' ')
            label--;
        if (line.len == 0)
            continue;
        buf_text(to, "* ");
        if (label > 0) {
            buf_text(to, "**");
            markdown_text(to, (str){ line.ptr, label }, ascii);
            buf_text(to, "** ");
        }
        markdown_text(to, words, ascii);
        buf_char(to, '\n');
    }
}

static void put_found(struct buf *to, const struct report_device *d, bool ascii)
{
    struct style style = { .width = NEVER_WRAPPED, .ascii = ascii };
    struct buf lines, words;
    buf_init(&lines, SIZE_MAX / 2);
    buf_init(&words, SIZE_MAX / 2);
    if (d->sections != NULL)
        section_verdict_text(&lines, &style, d->sections);
    if (d->traced && d->events > 0)
        report_peak_text(&lines, &words, &style, d);
    else
        report_state_text(&lines, &words, &style, d);
    if (d->sections != NULL) {
        section_made_of_text(&lines, &style, d->sections);
        section_trends_text(&lines, &style, d->sections);
        section_advice_text(&lines, &style, d->sections);
    }
    envelope_trust_text(&lines, &style, &d->trust);
    put_items(to, &lines, ascii);
    buf_end(&words, to);
    buf_end(&lines, to);
}

static void put_line(struct buf *to, const struct report_device *d, bool ascii)
{
    enum { OOMS_MOST = 64 };
    int64_t oom_event[OOMS_MOST];
    struct style style = { .width = LINE_COLUMNS, .ascii = ascii };
    struct report_device shown = *d;
    shown.ooms = d->ooms < OOMS_MOST ? d->ooms : OOMS_MOST;
    if (!d->traced || d->events == 0 || d->spans == 0)
        return;
    struct terminal_chart chart = report_chart(&shown, oom_event);
    if (chart_line_is_empty(&chart))
        return;
    buf_text(to, "\n```\n");
    chart_line(to, &style, &chart, LINE_COLUMNS);
    buf_text(to, "\n```\n");
}

static void put_row(struct buf *to, const struct report_row *row, bool code, bool ascii)
{
    buf_text(to, "| ");
    human_known_bytes(to, row->bytes);
    buf_text(to, " | ");
    human_share(to, row->share_ratio);
    buf_text(to, " | ");
    human_count(to, row->count, ascii);
    buf_text(to, " | ");
    if (code)
        markdown_code(to, row->name, ascii);
    else
        markdown_text(to, row->name, ascii);
    buf_text(to, " |\n");
}

static void put_rows(struct buf *to, const struct report_device *d, uint32_t most, bool ascii)
{
    uint32_t shown = most < d->rows ? most : d->rows;
    struct buf name;
    if (d->all_rows == 0)
        return;
    buf_format(to, "\n| bytes | share | count | %s |\n|---:|---:|---:|---|\n", report_heading(d));
    for (uint32_t i = 0; i < shown; i++)
        put_row(to, &d->row[i], true, ascii);
    if (shown == d->all_rows)
        return;
    struct report_row rest = report_rest(d, shown);
    buf_init(&name, SIZE_MAX / 2);
    buf_text(&name, "other (");
    human_counted(&name, d->all_rows - shown, "line", ascii);
    buf_char(&name, ')');
    rest.name = buf_slice(&name);
    put_row(to, &rest, false, ascii);
    buf_end(&name, to);
}

static void put_report(struct out *out, const struct report *report,
                       const struct render_options *options)
{
    struct buf *to = &out->text, name;
    bool ascii = options->style.ascii;
    struct style plain = { NEVER_WRAPPED, false, ascii, options->style.device };
    buf_init(&name, SIZE_MAX / 2);
    envelope_name(&name, &plain, &report->file);
    buf_text(to, "### vramscope report: ");
    markdown_code(to, buf_slice(&name), ascii);
    buf_text(to, "\n");
    buf_end(&name, to);
    if (report_is_empty(report))
        buf_text(to, "\nThe recording has no events and no memory.\n");
    for (uint32_t i = 0; i < report->devices; i++) {
        const struct report_device *d = &report->device[i];
        if (report_device_is_empty(d))
            continue;
        if (report->devices > 1 || d->name.host) {
            buf_text(to, "\n#### ");
            envelope_device_text(to, d->name);
            buf_char(to, '\n');
        }
        buf_char(to, '\n');
        put_found(to, d, ascii);
        put_line(to, d, ascii);
        put_rows(to, d, options->rows == 0 ? ROWS_DEFAULT : options->rows, ascii);
        out_flush(out, OUT_ENOUGH);
    }
    buf_text(to, "\n```sh\n");
    next_command(to, &plain, "report --markdown", report->file.path, "");
    if (options->rows > 0)
        buf_format(to, " -n %u", (unsigned)options->rows);
    buf_text(to, "\n```\n");
}

static void put_unread(struct buf *to, const struct unread_file *file, bool ascii)
{
    buf_text(to, "### vramscope report: ");
    markdown_code(to, file->path, ascii);
    buf_text(to, "\n\n**NOT READ** ");
    markdown_text(to, file->why, ascii);
    buf_char(to, '\n');
}

void report_markdown(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options)
{
    (void)several;
    for (uint32_t i = 0; i < set->count; i++) {
        buf_text(&out->text, i > 0 ? "\n" : "");
        put_report(out, &set->report[i], options);
    }
    const struct report_set *more = set->more;
    for (uint32_t i = 0; more != NULL && i < more->unreads; i++) {
        buf_text(&out->text, i > 0 || set->count > 0 ? "\n" : "");
        put_unread(&out->text, &more->unread[i], options->style.ascii);
    }
}
