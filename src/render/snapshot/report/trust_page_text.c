/* trust_page_text.c - the page of `report --trust`. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/report/trust_page.h"
#include "analysis/snapshot/trust/trust.h"
#include "analysis/snapshot/trust/trust_checks.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/snapshot/report/findings_sentences.h"
#include "render/snapshot/report/trust_page.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { CHECK_CELLS = 6, SETTING_BYTES = 240 };

static const char *const outcomes[TRUST_OUTCOMES] = { "not run", "holds", "FAILS" };

static const char *const windows[WINDOWS] = {
    [WINDOW_COMPLETE] = "nothing was in use before the first event",
    [WINDOW_LATE_START] = "memory is older than the first event; a recorder that was full and "
                          "dropped events looks the same, unless it says so",
    [WINDOW_OVERFLOWED] = "the recorder was full and dropped its oldest events",
    [WINDOW_OVERFLOW_SUSPECTED] = "the recorder was perhaps full and dropped its oldest events; a "
                                  "late start looks the same",
    [WINDOW_STATE_ONLY] = "there is no trace, only the final state",
    [WINDOW_ONE_EVENT] = "there is one event, memory is older than it, and the final state",
    [WINDOW_INCOMPLETE] = "the file is cut",
};

static void put_case(struct buf *to, int64_t event, uint64_t address)
{
    if (event >= 0)
        buf_format(to, "event %lld", (long long)event);
    else if (address != UNKNOWN_U64)
        buf_format(to, "0x%llx", (unsigned long long)address);
    else
        buf_char(to, '-');
}

static void fill_check(struct cells *cells, const struct trust_row *row, str *cell)
{
    bool any =
        row->outcome == TRUST_FAILS || (row->outcome == TRUST_HOLDS && row->found.count != 0);
    cell[0] = str_from(row->check);
    cell[1] = str_from(row->meaning);
    cell[2] = any && row->outcome == TRUST_HOLDS ? S("allowed") : str_from(outcomes[row->outcome]);
    cell[3] = any ? cell_count(cells, row->found.count) : S("-");
    cell[4] = cell_known_bytes(cells, any && row->has_bytes ? row->found.worst_bytes : UNKNOWN_U64);
    put_case(&cells->text, any ? row->found.first_event : -1,
             any ? row->found.first_address : UNKNOWN_U64);
    cell[5] = cell_end(cells);
}

static void put_checks(struct buf *to, const struct style *style, const struct trust_page *o)
{
    static const struct text_column column[CHECK_CELLS] = {
        { "check", false, false, 0, CUT_END },   { "what holds", false, true, 16, CUT_END },
        { "outcome", false, false, 0, CUT_END }, { "cases", true, false, 0, CUT_END },
        { "worst", true, false, 0, CUT_END },    { "first", false, false, 0, CUT_END },
    };
    struct cells cells;
    cells_init(&cells, style);
    str cell[TRUST_ROWS * CHECK_CELLS];
    for (uint32_t i = 0; i < TRUST_ROWS; i++)
        fill_check(&cells, &o->check[i], cell + (size_t)i * CHECK_CELLS);
    struct text_table table = { column, CHECK_CELLS, TRUST_ROWS, cell, 0 };
    buf_char(to, '\n');
    text_table(to, style, &table);
    cells_free(&cells, to);
}

/* The events or addresses of the first cases of a check that fails. */
static void put_evidence(struct buf *to, struct buf *words, const struct style *style,
                         const struct trust_row *row)
{
    uint64_t shown = row->found.count < BREACH_SHOWN ? row->found.count : BREACH_SHOWN;
    if (row->outcome != TRUST_FAILS || shown == 0)
        return;
    if (row->found.shown[0].event < 0 && row->found.shown[0].address == UNKNOWN_U64)
        return;
    /* Where the model parts from the recording first; the others follow from that. */
    if (strcmp(row->id, "replay") == 0)
        shown = 1;
    buf_format(words, "%s at ", row->id);
    for (uint64_t i = 0; i < shown; i++) {
        buf_text(words, i == 0 ? "" : ", ");
        put_case(words, row->found.shown[i].event, row->found.shown[i].address);
        if (row->found.shown[i].event >= 0 && row->found.shown[i].address != UNKNOWN_U64)
            buf_format(words, " (0x%llx)", (unsigned long long)row->found.shown[i].address);
    }
    if (shown < row->found.count)
        buf_text(words, style->ascii ? ", ..." : ", …");
    envelope_words(to, style, row->check, words);
}

static void put_items(struct buf *to, struct buf *words, const struct style *style,
                      const struct report_device *d)
{
    buf_char(to, '\n');
    for (uint32_t i = 0; i < TRUST_ROWS; i++)
        put_evidence(to, words, style, &d->trust_page->check[i]);
    for (uint32_t i = 0; i < d->trust.items; i++) {
        const struct trust_item *item = &d->trust.item[i];
        paint_on(words, style, item->failed ? PAINT_BAD : PAINT_BOLD);
        buf_text(words, item->id);
        paint_off(words, style);
        buf_text(words, ": ");
        escape_text(words, item->text, style->ascii);
        envelope_words(to, style, i == 0 ? "items" : "", words);
    }
    if (d->trust.items == 0) {
        buf_text(words, "none: nothing is wrong or missing");
        envelope_words(to, style, "items", words);
    }
}

static void put_counts(struct buf *words, const struct style *style, const struct name_count *at,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        buf_text(words, i == 0 ? "" : ", ");
        if (at[i].name.len == 0)
            buf_text(words, "(other)");
        else
            escape_text(words, (str){ at[i].name.ptr, escape_fit(at[i].name, SETTING_BYTES) },
                        style->ascii);
        buf_char(words, ' ');
        human_count(words, at[i].count, style->ascii);
    }
}

static void put_span(struct buf *to, struct buf *words, const struct style *style,
                     const struct report_device *d)
{
    const struct trust_page *o = d->trust_page;
    human_counted(words, d->events, "event", style->ascii);
    if (o->span_us != UNKNOWN_U64) {
        buf_text(words, " in ");
        human_duration(words, o->span_us);
    }
    if (o->gap_us != UNKNOWN_U64) {
        buf_text(words, "; the longest pause, ");
        human_duration(words, o->gap_us);
        buf_format(words, ", before event %lld", (long long)o->gap_event);
    }
    envelope_words(to, style, "span", words);
    put_counts(words, style, o->action, o->actions);
    if (o->actions > 0)
        envelope_words(to, style, "actions", words);
    words->len = 0;
}

static void put_start(struct buf *to, struct buf *words, const struct style *style,
                      const struct trust_page *o)
{
    human_bytes(words, o->baseline_forward_bytes);
    buf_text(words, " in use, counted forward; ");
    if (o->baselines_known) {
        human_bytes(words, o->baseline_backward_bytes);
        buf_text(words, " counted back; ");
        human_bytes(words, o->reserved_baseline_bytes);
        buf_text(words, " reserved");
    } else {
        buf_text(words, "the end is not known, so nothing is counted back");
    }
    envelope_words(to, style, "start", words);
}

static void put_coverage(struct buf *to, struct buf *words, const struct style *style,
                         const struct trust_page *o)
{
    static const struct {
        const char *style, *meaning;
    } styles[] = {
        { "all", "Python and native frames" },
        { "python", "Python frames only" },
        { "none", "no frames" },
        { "mixed", "some with native frames, some with Python frames only" },
    };
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (o->capture_style != NULL && strcmp(styles[i].style, o->capture_style) == 0)
            buf_format(words, "%s (%s)", styles[i].style, styles[i].meaning);
    if (o->capture_style == NULL)
        buf_text(words, "not known which frames were recorded");
    envelope_words(to, style, "stacks", words);
    if (o->unknown_origin_peak_ratio < 0 && o->unknown_origin_end_ratio < 0)
        return;
    human_share(words, o->unknown_origin_peak_ratio);
    buf_text(words, " of the bytes alive at the peak have no allocation stack, ");
    human_share(words, o->unknown_origin_end_ratio);
    buf_text(words, " of those at the end; at the peak ");
    human_share(words, o->explained_peak_ratio);
    buf_text(words, " are explained by a stack or by the split of older memory, and ");
    human_share(words, o->no_user_frame_peak_ratio);
    buf_text(words, " show no line of your own code");
    envelope_words(to, style, "coverage", words);
}

static void put_places(struct buf *to, struct buf *words, const struct style *style,
                       const struct trust_page *o)
{
    buf_format(words, "%u stream%s, ", (unsigned)o->streams, o->streams == 1 ? "" : "s");
    if (o->pools == 0)
        buf_text(words, "pools not named, ");
    else
        buf_format(words, "%u pool%s, ", (unsigned)o->pools, o->pools == 1 ? "" : "s");
    human_counted(words, o->annotations, "annotation", style->ascii);
    buf_text(words, " in the file");
    envelope_words(to, style, "contains", words);
}

/* At most six decimals, with a point in every locale. */
static void put_real(struct buf *words, double real)
{
    double size = real < 0 ? -real : real;
    if (!(size < 1e12)) {
        buf_text(words, "out of range");
        return;
    }
    uint64_t millionths = (uint64_t)(size * 1e6 + 0.5), rest = millionths % 1000000;
    buf_text(words, real < 0 && millionths != 0 ? "-" : "");
    buf_u64(words, millionths / 1000000);
    for (uint64_t unit = 100000; rest != 0; rest %= unit, unit /= 10) {
        buf_text(words, unit == 100000 ? "." : "");
        buf_char(words, (char)('0' + rest / unit));
    }
}

static void put_value(struct buf *words, const struct style *style, const struct setting *s)
{
    switch (s->type) {
    case SETTING_INT:
        buf_format(words, "%lld", (long long)s->integer);
        break;
    case SETTING_FLOAT:
        put_real(words, s->real);
        break;
    case SETTING_BOOL:
        buf_text(words, s->integer != 0 ? "true" : "false");
        break;
    case SETTING_TEXT:
        buf_char(words, '"');
        escape_text(words, (str){ s->text.ptr, escape_fit(s->text, SETTING_BYTES) }, style->ascii);
        buf_char(words, '"');
        break;
    }
}

/* The bytes of a name with its first dot; 0: it has none. */
static size_t outer_len(str name)
{
    const char *dot = name.len == 0 ? NULL : memchr(name.ptr, '.', name.len);
    return dot == NULL ? 0 : (size_t)(dot - name.ptr) + 1;
}

/* Entries of one dict with one number, as those of roundup_power2_divisions that is off. */
static uint32_t equal_entries(const struct trust_page *o, uint32_t from)
{
    const struct setting *first = &o->setting[from];
    size_t outer = outer_len(first->name);
    uint32_t at = from + 1;
    while (outer > 0 && first->type == SETTING_INT && at < o->settings &&
           o->setting[at].type == SETTING_INT && o->setting[at].integer == first->integer &&
           outer_len(o->setting[at].name) == outer &&
           memcmp(o->setting[at].name.ptr, first->name.ptr, outer) == 0)
        at++;
    return at - from;
}

static void put_settings(struct buf *to, struct buf *words, const struct style *style,
                         const struct trust_page *o)
{
    for (uint32_t i = 0; i < o->settings;) {
        const struct setting *s = &o->setting[i];
        uint32_t equal = equal_entries(o, i);
        buf_text(words, i == 0 ? "" : ", ");
        escape_text(words, s->name, style->ascii);
        i += equal;
        if (equal > 1) {
            str last = o->setting[i - 1].name;
            size_t outer = outer_len(last);
            buf_text(words, style->ascii ? "..." : "…");
            escape_text(words, (str){ last.ptr + outer, last.len - outer }, style->ascii);
        }
        buf_char(words, ' ');
        put_value(words, style, s);
    }
    if (o->settings == 0)
        buf_text(words, "none in the file");
    envelope_words(to, style, "settings", words);
}

static void put_unknown(struct buf *to, struct buf *words, const struct style *style,
                        const struct trust_page *o)
{
    if (o->unknown_keys > 0) {
        buf_text(words, "keys of the file, ignored: ");
        put_counts(words, style, o->unknown_key, o->unknown_keys);
        envelope_words(to, style, "unknown", words);
    }
    if (o->unknown_actions > 0) {
        buf_text(words, "actions, ignored: ");
        put_counts(words, style, o->unknown_action, o->unknown_actions);
        envelope_words(to, style, "unknown", words);
    }
}

static void put_device(struct buf *to, const struct report *report, const struct report_device *d,
                       const struct render_options *options)
{
    const struct style *style = &options->style;
    const struct trust_page *o = d->trust_page;
    if (report->devices > 1 || d->name.host) {
        buf_char(to, '\n');
        paint_on(to, style, PAINT_BOLD);
        envelope_device_text(to, d->name);
        paint_off(to, style);
        if (d->events == 0 && d->segments == 0) {
            buf_text(to, ": empty\n");
            return;
        }
        buf_char(to, '\n');
    }
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    envelope_grade_text(to, style, &d->trust);
    buf_format(&words, "%s: %s", trust_window_names[d->trust.window], windows[d->trust.window]);
    envelope_words(to, style, "window", &words);
    put_checks(to, style, o);
    put_items(to, &words, style, d);
    buf_char(to, '\n');
    buf_str(&words, o->producer);
    envelope_words(to, style, "producer", &words);
    put_span(to, &words, style, d);
    put_start(to, &words, style, o);
    put_coverage(to, &words, style, o);
    put_places(to, &words, style, o);
    put_settings(to, &words, style, o);
    put_unknown(to, &words, style, o);
    buf_end(&words, to);
}

void trust_page_text(struct out *out, const struct report *report,
                     const struct render_options *options)
{
    envelope_source_text(&out->text, &options->style, &report->file, report->devices);
    losses_text(&out->text, &options->style, &report->file);
    if (report->devices == 0 && report->file.origin.complete)
        envelope_nothing_text(&out->text, &options->style);
    for (uint32_t i = 0; i < report->devices; i++) {
        put_device(&out->text, report, &report->device[i], options);
        out_flush(out, OUT_ENOUGH);
    }
}
