/* report_text.c - a report as one page of text, or one line for each of many: the answer first,
 * then what to do, the picture, who, and how far to trust it all. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/snapshot/ranks/ranks.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/report/findings_sentences.h"
#include "render/snapshot/report/report_parts.h"
#include "render/snapshot/report/trust_page.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_BESIDE = 3, ANSWER_INDENT = 2 };

/* Where a report has several devices, one of them gets the room: one that failed, else the one
 * with the highest peak. */
static uint32_t leading_device(const struct report *report)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < report->devices; i++) {
        const struct report_device *d = &report->device[i], *b = &report->device[best];
        bool worse = d->curves.oom_events == 0 && b->curves.oom_events > 0;
        bool better = d->curves.oom_events > 0 && b->curves.oom_events == 0;
        int64_t peak = d->curves.of[CURVE_REQUESTED].peak_bytes;
        if (!worse && (better || peak > b->curves.of[CURVE_REQUESTED].peak_bytes))
            best = i;
    }
    return best;
}

bool report_device_is_empty(const struct report_device *d)
{
    return d->events == 0 && d->segments == 0;
}

/* Of several devices, first those that failed, and the one with the highest peak. */
static void put_worst(struct buf *to, const struct style *style, const struct report *report)
{
    struct buf words;
    buf_init(&words, 1 << 12);
    size_t from = to->len;
    buf_char(to, '\n');
    for (uint32_t i = 0; i < report->devices; i++) {
        if (!report_ran_out(&report->device[i]))
            continue;
        envelope_device_text(&words, report->device[i].name);
        buf_text(&words, " ran out of memory");
        envelope_words(to, style, "failed", &words);
    }
    ranks_worst_text(to, style, report->ranks, true);
    if (to->len == from + 1)
        to->len = from; /* none stands out */
    buf_free(&words);
}

/* A program that used no device, or dumped before it did anything, leaves such a file. */
bool report_is_empty(const struct report *report)
{
    bool empty = report->file.origin.complete && report->file.events == 0;
    for (uint32_t i = 0; i < report->devices; i++)
        empty = empty && report_device_is_empty(&report->device[i]);
    return empty;
}

static void put_answer(struct buf *to, const struct style *style, const struct report_device *d)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    bool wrong = report_headline_words(&words, d, style->ascii);
    paint_on(to, style, wrong ? PAINT_BAD : PAINT_BOLD);
    text_wrap(to, style, buf_slice(&words), 0, ANSWER_INDENT);
    paint_off(to, style);
    words.len = 0;
    report_detail_words(&words, d, style->ascii);
    buf_repeat(to, S(" "), ANSWER_INDENT);
    text_wrap(to, style, buf_slice(&words), ANSWER_INDENT, ANSWER_INDENT);
    buf_end(&words, to);
}

static void put_device(struct buf *to, const struct report *report, const struct report_device *d,
                       const struct render_options *options)
{
    const struct style *style = &options->style;
    buf_char(to, '\n');
    if (report->devices > 1 || d->name.host || d->name.number != 0) {
        paint_on(to, style, PAINT_BOLD);
        envelope_device_text(to, d->name);
        paint_off(to, style);
        buf_text(to, ": ");
        if (report_device_is_empty(d)) {
            buf_text(to, "empty\n");
            return;
        }
        human_counted(to, d->events, "event", style->ascii);
        buf_char(to, '\n');
    }
    put_answer(to, style, d);
    report_fixes_text(to, style, report, d);
    report_picture_text(to, d, options);
    report_holders_text(to, d, options);
    report_notes_text(to, style, d);
    buf_char(to, '\n');
    envelope_trust_labelled(to, style, "Trust", &d->trust);
}

static void put_trust_pages(struct out *out, const struct answer_set *set,
                            const struct render_options *options)
{
    for (uint32_t i = 0; i < set->count; i++) {
        buf_text(&out->text, i > 0 ? "\n" : "");
        trust_page_text(out, &set->report[i], options);
    }
    const struct report_set *more = set->more;
    if (more == NULL)
        return;
    if (more->unreads > 0 || more->missings > 0 || more->several_jobs)
        buf_char(&out->text, '\n');
    report_unread_text(&out->text, more, &options->style);
    report_missing_text(&out->text, more, &options->style);
}

void report_text(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    struct buf *to = &out->text;
    if (set->count > 0 && set->report[0].trust_page) {
        put_trust_pages(out, set, options);
        return;
    }
    if (several) {
        report_set_text(to, set, &options->style);
        return;
    }
    const struct report *report = &set->report[0];
    bool one = report->devices == 1 && !report_device_is_empty(&report->device[0]);
    envelope_file_text(to, &options->style, &report->file, report->devices,
                       one ? report->device[0].trust.grade : '\0');
    if (report_is_empty(report)) {
        losses_text(to, &options->style, &report->file);
        envelope_nothing_text(to, &options->style);
        return;
    }
    struct render_options less = *options;
    less.picture = false;
    less.rows = options->rows == 0 ? ROWS_BESIDE : options->rows;
    if (report->ranks != NULL)
        put_worst(to, &options->style, report);
    for (uint32_t i = 0; i < report->devices; i++)
        put_device(to, report, &report->device[i], i == leading_device(report) ? options : &less);
    losses_text(to, &options->style, &report->file);
    if (report->ranks != NULL) {
        buf_char(to, '\n');
        ranks_text(to, &options->style, report->ranks, true);
    }
    report_next_text(to, &options->style, report);
}
