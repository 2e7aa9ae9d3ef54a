/* report_markdown.c - a report for a pull request, in the order of the text. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/next.h"
#include "render/answer/place.h"
#include "render/answer/terminal_chart.h"
#include "render/snapshot/advise/advise.h"
#include "render/snapshot/ranks/missing_ranks.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/human.h"
#include "render/write/markdown.h"
#include "render/write/out.h"

enum { ROWS_DEFAULT = 10, LINE_COLUMNS = 72, NEVER_WRAPPED = 1 << 20 };

/* Words, which may hold names as they are in the file, as Markdown. */
static void put_words(struct buf *to, struct buf *words, bool ascii)
{
    markdown_text(to, buf_slice(words), ascii);
    to->failed = to->failed || words->failed;
    words->len = 0;
}

static void put_labelled(struct buf *to, const char *label, struct buf *words, bool ascii)
{
    buf_format(to, "* **%s** ", label);
    put_words(to, words, ascii);
    buf_char(to, '\n');
}

/* The headline, what is behind it, and what to do. */
static void put_answer(struct buf *to, const struct report_device *d, bool ascii)
{
    const struct advice *fix[REPORT_FIXES];
    uint32_t fixes = report_fixes(d, fix), number = 1;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    report_headline_words(&words, d, ascii);
    buf_text(to, "**");
    put_words(to, &words, ascii);
    buf_text(to, "**\n\n");
    report_detail_words(&words, d, ascii);
    put_words(to, &words, ascii);
    buf_char(to, '\n');
    bool must_go = report_must_go_words(&words, d);
    buf_text(to, must_go || fixes > 0 ? "\n**What to do**\n\n" : "");
    if (must_go) {
        if (report_need_bytes(d) != 0) {
            buf_text(&words, " ");
            human_known_bytes(&words, report_need_bytes(d));
            buf_text(&words, " are needed.");
        }
        buf_format(to, "%u. ", (unsigned)number++);
        put_words(to, &words, ascii);
        buf_char(to, '\n');
    }
    for (uint32_t i = 0; i < fixes; i++) {
        buf_format(to, "%u. ", (unsigned)number++);
        advice_words(&words, fix[i]);
        buf_text(&words, " Frees ");
        report_fix_bytes(&words, fix[i]);
        buf_char(&words, '.');
        put_words(to, &words, ascii);
        buf_char(to, '\n');
    }
    if (report_together_words(&words, d, fix, fixes)) {
        buf_text(to, "\nTogether: ");
        put_words(to, &words, ascii);
        buf_char(to, '\n');
    }
    buf_end(&words, to);
}

/* What the peak is made of, what else is worth saying, and how far to trust it. */
static void put_rest(struct buf *to, const struct report_device *d, bool ascii)
{
    struct style style = { .width = NEVER_WRAPPED, .ascii = ascii };
    struct buf words, trust;
    buf_init(&words, SIZE_MAX / 2);
    buf_init(&trust, SIZE_MAX / 2);
    buf_char(to, '\n');
    if (report_made_of_words(&words, d))
        put_labelled(to, "Made of", &words, ascii);
    if (report_gap_words(&words, d))
        put_labelled(to, "Gap", &words, ascii);
    if (report_growth_words(&words, d, ascii))
        put_labelled(to, "Grows", &words, ascii);
    envelope_trust_labelled(&trust, &style, "Trust", &d->trust);
    if (trust.len > ENVELOPE_LABEL && !trust.failed)
        buf_str(&words, (str){ trust.at + ENVELOPE_LABEL, trust.len - ENVELOPE_LABEL - 1 });
    char label[] = "Trust A";
    label[sizeof label - 2] = d->trust.grade;
    put_labelled(to, label, &words, ascii);
    buf_end(&trust, to);
    buf_end(&words, to);
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

/* `code`: a line of the program, and else what stands for several. */
static void put_row(struct buf *to, const struct report_row *row, bool code, bool categories,
                    bool ascii)
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
    buf_text(to, " |");
    if (categories) {
        buf_char(to, ' ');
        if (code && row->category.len == 0)
            buf_text(to, "several");
        else
            category_words(to, row->category);
        buf_text(to, " |");
    }
    buf_char(to, '\n');
}

static void put_rows(struct buf *to, const struct report_device *d, uint32_t most, bool ascii)
{
    uint32_t shown = most < d->rows ? most : d->rows;
    struct buf name;
    if (d->all_rows == 0)
        return;
    bool categories = report_has_categories(d);
    buf_init(&name, SIZE_MAX / 2);
    buf_char(to, '\n');
    report_holders_heading(&name, d);
    put_words(to, &name, ascii);
    buf_format(to, "\n\n| bytes | share | count | %s |%s\n|---:|---:|---:|---|%s\n",
               report_heading(d), categories ? " category |" : "", categories ? "---|" : "");
    for (uint32_t i = 0; i < shown; i++)
        put_row(to, &d->row[i], true, categories, ascii);
    if (shown < d->all_rows) {
        struct report_row rest = report_rest(d, shown);
        human_counted(&name, d->all_rows - shown, "more line", ascii);
        rest.name = buf_slice(&name);
        put_row(to, &rest, false, categories, ascii);
    }
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
        put_answer(to, d, ascii);
        put_line(to, d, ascii);
        put_rows(to, d, options->rows == 0 ? ROWS_DEFAULT : options->rows, ascii);
        put_rest(to, d, ascii);
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

static void put_missing(struct buf *to, const struct report_set *set, bool first, bool ascii)
{
    struct buf words;
    buf_init(&words, 1 << 12);
    if (missing_ranks_words(&words, set)) {
        buf_text(to, first ? "" : "\n");
        buf_text(to, "### vramscope report: ranks of the job\n\n**MISSING** ");
        put_words(to, &words, ascii);
        buf_char(to, '\n');
    }
    buf_end(&words, to);
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
    if (more != NULL)
        put_missing(&out->text, more, set->count + more->unreads == 0, options->style.ascii);
}
