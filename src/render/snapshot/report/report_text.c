/* report_text.c - a report as one page of text, or one line for each of many. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/report/findings.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/report/totals.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "model/ids.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/next.h"
#include "render/answer/terminal_chart.h"
#include "render/snapshot/ranks/ranks.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/report/findings_sentences.h"
#include "render/snapshot/report/report_parts.h"
#include "render/snapshot/report/report_sections.h"
#include "render/snapshot/report/trust_page.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 8, ROWS_BESIDE = 3, ROW_CELLS = 4, RANK_CELLS = 8 };
enum { FAILED_SHOWN = 4 };

struct terminal_chart report_chart(const struct report_device *d, int64_t *oom_event)
{
    for (uint32_t i = 0; i < d->ooms; i++)
        oom_event[i] = d->oom[i].event;
    return (struct terminal_chart){
        .requested = d->requested,
        .reserved = d->reserved,
        .spans = d->spans,
        .states = d->events + 1,
        .peak_event = d->curves.of[CURVE_REQUESTED].peak_event,
        .oom_event = oom_event,
        .ooms = d->ooms,
        .duration_us = d->duration_us,
    };
}

static void put_picture(struct buf *to, struct arena *arena, const struct report_device *d,
                        const struct render_options *options)
{
    const struct style *style = &options->style;
    int64_t *oom_event = arena_array(arena, int64_t, d->ooms + 1u);
    if (oom_event == NULL) {
        to->failed = true;
        return;
    }
    struct terminal_chart chart = report_chart(d, oom_event);
    if (options->picture ? chart_area_is_empty(&chart) : chart_line_is_empty(&chart))
        return;
    if (options->picture) {
        buf_text(to, style->ascii ? "in use (#) and reserved (') at each event\n"
                                  : "in use (█) and reserved (░) at each event\n");
        chart_area(to, style, &chart);
    } else {
        envelope_label(to, style, "in use");
        chart_line(to, style, &chart, style->width - ENVELOPE_LABEL);
        buf_char(to, '\n');
    }
}

/* In a cut file a peak is a bound and is called one already. */
static void put_inexact(struct buf *words, const struct curve *used)
{
    if (!used->exact && used->start_known)
        buf_text(words, " (not exact, see trust)");
}

void report_peak_text(struct buf *to, struct buf *words, const struct style *style,
                      const struct report_device *d)
{
    const struct curve *used = &d->curves.of[CURVE_REQUESTED];
    const struct curve *held = &d->curves.of[CURVE_RESERVED];
    if (!used->start_known)
        buf_text(words, "of the part read at least ");
    paint_on(words, style, PAINT_BOLD);
    human_bytes(words, used->peak_bytes);
    paint_off(words, style);
    buf_text(words, " in use ");
    if (used->peak_event < 0)
        buf_text(words, "at the start");
    else
        buf_format(words, "at event %lld", (long long)used->peak_event);
    if (used->peak_event >= 0 && d->peak_after_us != UINT64_MAX) {
        buf_text(words, " (");
        human_duration(words, d->peak_after_us);
        buf_char(words, ')');
    }
    put_inexact(words, used);
    buf_text(words, "; ");
    human_bytes(words, d->curves.reserved_at_peak_bytes);
    buf_text(words, " reserved then");
    if (held->peak_bytes > d->curves.reserved_at_peak_bytes) {
        buf_text(words, ", ");
        human_bytes(words, held->peak_bytes);
        buf_text(words, " at the most");
    }
    envelope_words(to, style, "peak", words);
}

/* Without a trace only the final state is known; a ring of one has a state before its event too. */
void report_state_text(struct buf *to, struct buf *words, const struct style *style,
                       const struct report_device *d)
{
    const struct curve *used = &d->curves.of[CURVE_REQUESTED];
    const struct curve *held = &d->curves.of[CURVE_RESERVED];
    bool end = used->end_known && held->end_known;
    if (!used->start_known)
        buf_text(words, "at least ");
    paint_on(words, style, PAINT_BOLD);
    human_bytes(words, end ? used->end_bytes : used->peak_bytes);
    paint_off(words, style);
    buf_text(words, " in use, ");
    human_bytes(words, end ? held->end_bytes : d->curves.reserved_at_peak_bytes);
    buf_text(words, used->end_known ? " reserved (no trace: only the final state is known)"
                                    : " reserved (the file is cut inside the final state; this is "
                                      "the part read)");
    envelope_words(to, style, "state", words);
}

static void put_known(struct buf *to, int64_t bytes, bool known)
{
    if (known)
        human_bytes(to, bytes);
    else
        buf_text(to, "not known (the file is cut)");
}

static void put_ends(struct buf *to, struct buf *words, const struct style *style,
                     const struct report_device *d)
{
    const struct curve *used = &d->curves.of[CURVE_REQUESTED];
    const struct curve *held = &d->curves.of[CURVE_RESERVED];
    put_known(words, used->start_bytes, used->start_known);
    if (used->start_known)
        buf_text(words, " in use");
    put_inexact(words, used);
    buf_text(words, "; ");
    /* What a cut file has of its end is beyond the part read of its trace. */
    bool beyond = !used->start_known && used->end_known;
    paint_on(words, style, PAINT_BOLD);
    buf_text(words, beyond ? "the end holds " : "end ");
    paint_off(words, style);
    put_known(words, used->end_bytes, used->end_known);
    if (used->end_known && held->end_known) {
        buf_text(words, " in use, ");
        human_bytes(words, held->end_bytes);
        buf_text(words, " reserved");
    }
    envelope_words(to, style, "start", words);
}

static void fill_row(struct cells *cells, const struct report_row *row, str *cell)
{
    cell[0] = cell_known_bytes(cells, row->bytes);
    cell[1] = cell_share(cells, row->share_ratio);
    cell[2] = cell_count(cells, row->count);
    cell[3] = cell_text(cells, row->name);
}

/* The rows as one more row: what the table does not show. */
struct report_row report_rest(const struct report_device *d, uint32_t shown)
{
    struct report_row rest = { .bytes = d->live_bytes, .count = d->live_count };
    for (uint32_t i = 0; i < shown; i++) {
        rest.bytes -= d->row[i].bytes;
        rest.count -= d->row[i].count;
    }
    rest.share_ratio = share_ratio(rest.bytes, d->live_bytes);
    return rest;
}

const char *report_heading(const struct report_device *d)
{
    bool owners = d->hidden_culprit.len > 0;
    if (d->traced)
        return owners ? "held at the peak by (owner)" : "held at the peak by";
    return owners ? "held at the end by (owner)" : "held at the end by";
}

static void put_rows(struct buf *to, const struct report_device *d,
                     const struct render_options *options)
{
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    uint32_t shown = most < d->rows ? most : d->rows;
    /* One line for one row is better than "other (1 line)". */
    if (shown + 1 == d->all_rows && d->rows == d->all_rows)
        shown++;
    const struct text_column column[ROW_CELLS] = {
        { "bytes", true, false, 0, false },
        { "share", true, false, 0, false },
        { "count", true, false, 0, false },
        { report_heading(d), false, true, 16, false },
    };
    struct cells cells;
    cells_init(&cells, &options->style);
    str *cell = cells_array(&cells, (size_t)shown + 1, ROW_CELLS);
    uint32_t rows = 0;
    for (; cell != NULL && rows < shown; rows++)
        fill_row(&cells, &d->row[rows], cell + (size_t)rows * ROW_CELLS);
    if (cell != NULL && shown < d->all_rows) {
        struct report_row rest = report_rest(d, shown);
        str *row = cell + (size_t)rows++ * ROW_CELLS;
        fill_row(&cells, &rest, row);
        row[3] = cell_other(&cells, d->all_rows - shown, "line");
    }
    struct text_table table = { column, ROW_CELLS, rows, cell, 0 };
    if (cell != NULL)
        text_table(to, &options->style, &table);
    cells_free(&cells, to);
}

static void put_hidden(struct buf *to, const struct style *style, const struct report_device *d)
{
    if (d->hidden_culprit.len == 0)
        return;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    escape_text(&words, d->hidden_culprit, style->ascii);
    buf_text(&words, " alone holds ");
    human_share(&words, d->hidden_share);
    buf_text(&words, d->traced ? " of the peak; the code it calls:"
                               : " of what is in use at the end; the code it calls:");
    text_wrap(to, style, buf_slice(&words), 0, 0);
    buf_end(&words, to);
}

static void put_findings(struct buf *to, const struct style *style, const struct report_device *d)
{
    struct buf words;
    buf_init(&words, 1 << 16);
    for (uint32_t i = d->ooms > 2 ? d->ooms - 2 : 0; i < d->ooms; i++) {
        paint_on(to, style, PAINT_BAD);
        envelope_label(to, style, "OOM");
        words.len = 0;
        finding_oom_text(&words, &d->oom[i]);
        text_wrap(to, style, buf_slice(&words), ENVELOPE_LABEL, ENVELOPE_LABEL);
    }
    if (d->curves.oom_events > 2) {
        buf_repeat(to, S(" "), ENVELOPE_LABEL);
        human_count(to, d->curves.oom_events - 2, style->ascii);
        buf_text(to, " more before\n");
    }
    if (d->old_bytes > 0 && d->events > 1) {
        envelope_label(to, style, "note");
        words.len = 0;
        finding_old_text(&words, d);
        text_wrap(to, style, buf_slice(&words), ENVELOPE_LABEL, ENVELOPE_LABEL);
    }
    if (d->adjust_bytes != 0) {
        envelope_label(to, style, "note");
        words.len = 0;
        finding_adjust_text(&words, d);
        text_wrap(to, style, buf_slice(&words), ENVELOPE_LABEL, ENVELOPE_LABEL);
    }
    buf_end(&words, to);
}

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

/* A program that used no device, or dumped before it did anything, leaves such a file. */
bool report_is_empty(const struct report *report)
{
    bool empty = report->file.origin.complete && report->file.events == 0;
    for (uint32_t i = 0; i < report->devices; i++)
        empty = empty && report_device_is_empty(&report->device[i]);
    return empty;
}

static void put_device(struct buf *to, const struct report *report, const struct report_device *d,
                       const struct render_options *options)
{
    const struct style *style = &options->style;
    if (report->devices > 1 || d->name.host) {
        buf_char(to, '\n');
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
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    envelope_trust_text(to, style, &d->trust);
    struct buf words;
    buf_init(&words, 1 << 16);
    if (d->sections != NULL)
        section_verdict_text(to, style, d->sections);
    if (d->traced && d->events > 0) {
        put_picture(to, &arena, d, options);
        report_peak_text(to, &words, style, d);
        put_ends(to, &words, style, d);
    } else {
        report_state_text(to, &words, style, d);
    }
    buf_free(&words);
    if (d->sections != NULL) {
        section_made_of_text(to, style, d->sections);
        section_trends_text(to, style, d->sections);
    }
    put_findings(to, style, d);
    if (d->all_rows > 0) {
        buf_char(to, '\n');
        put_hidden(to, style, d);
        put_rows(to, d, options);
    }
    if (d->sections != NULL)
        section_advice_text(to, style, d->sections);
    arena_free(&arena);
}

/* What asks for other settings on the device that ran out last; false where its capacity is not
 * known.
 */
enum { SWEEP_BYTES = 80 };
static bool sweep_options(const struct report *report, char options[SWEEP_BYTES])
{
    const struct oom_fact *oom = NULL;
    const struct report_device *device = NULL;
    for (uint32_t i = 0; i < report->devices; i++) {
        const struct report_device *d = &report->device[i];
        if (d->ooms == 0)
            continue;
        oom = &d->oom[d->ooms - 1];
        device = d;
    }
    if (oom == NULL || oom->device_free_bytes == UNKNOWN_U64 || oom->reserved_bytes < 0)
        return false;
    uint64_t capacity = (uint64_t)oom->reserved_bytes + oom->device_free_bytes;
    int len = snprintf(options, SWEEP_BYTES, " --sweep --capacity %" PRIu64, capacity);
    if (report->devices > 1)
        snprintf(options + len, SWEEP_BYTES - (size_t)len, " --device %u",
                 (unsigned)device->name.number);
    return true;
}

static void put_next(struct buf *to, const struct style *style, const struct report *report)
{
    bool oom = false, any = false, stacks = false, trace = false, sound = false;
    bool leaks = false, stranded = false, advice = false, told = false;
    char grade = 'A'; /* the worst */
    for (uint32_t i = 0; i < report->devices; i++) {
        oom = oom || report->device[i].ooms > 0;
        any = any || report->device[i].all_rows > 0;
        stacks = stacks || report->device[i].stacks > 0;
        trace = trace || (report->device[i].traced && report->device[i].events > 0);
        const struct report_sections *sections = report->device[i].sections;
        told = told || sections != NULL;
        leaks = leaks || (sections != NULL && sections->leaks != NULL &&
                          sections->leaks->leaks + sections->leaks->suspects > 0);
        stranded = stranded || (sections != NULL && report_is_stranded(sections));
        advice =
            advice || (sections != NULL && sections->has_advice && sections->advise.advices > 0);
        sound = sound || (report->device[i].traced && report->device[i].trust.grade != 'D');
        if (report->device[i].trust.grade > grade)
            grade = report->device[i].trust.grade;
    }
    if (!any)
        return;
    char sweep[SWEEP_BYTES];
    bool capacity = sweep_options(report, sweep);
    const struct {
        const char *verb, *options, *meaning;
        bool shown;
    } lines[] = {
        { "report", " --trust", "what contradicts what", grade == 'D' },
        { "oom", "", "why it failed, proven", oom && told },
        { "leaks", "", "what grows", leaks },
        { "fragments", "", "what pins memory", stranded },
        { "advise", "", "what to change", advice },
        { "peak", " --stacks", "whole stacks", stacks },
        { "peak", " --at oom", "alive when it failed", oom && !told },
        { "replay", sweep, "would a setting help?", capacity },
        { "peak", " --by owner", "the functions called", stacks && !capacity && !advice },
        { "peak", " --by size", "by requested size", !stacks },
        { "peak", " --at end", "what stayed", trace && !oom },
        { "replay", " --smallest", "the memory it needs", sound && !oom },
        { "report", " --trust", "how far to trust it", grade > 'A' && grade < 'D' },
    };
    buf_char(to, '\n');
    const char *label = "next";
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!lines[i].shown)
            continue;
        next_line(to, style, label, lines[i].verb, report->file.path, lines[i].options,
                  lines[i].meaning);
        label = "";
    }
}

/* The folder that all paths of the set share, with its slash. */
static size_t common_folder(const struct answer_set *set)
{
    str first = set->report[0].file.path;
    size_t shared = first.len;
    for (uint32_t i = 1; i < set->count; i++) {
        str path = set->report[i].file.path;
        size_t at = 0;
        while (at < shared && at < path.len && path.ptr[at] == first.ptr[at])
            at++;
        shared = at;
    }
    while (shared > 0 && first.ptr[shared - 1] != '/')
        shared--;
    return shared;
}

/* A peak in a narrow cell: what it may exceed has its sign in front. */
static str peak_cell(struct cells *cells, const struct report_device *d, enum curve_name which)
{
    if (peak_is_bound(d, which))
        buf_text(&cells->text, cells->ascii ? ">= " : "≥ ");
    else if (!d->curves.of[which].exact)
        buf_char(&cells->text, '~');
    return cell_bytes(cells, peak_told(d, which));
}

/* `ranked`: the second column has the ranks that the caller gave. */
static void fill_rank(struct cells *cells, const struct style *style, const struct report *report,
                      const struct report_device *d, size_t folder, bool ranked, str *cell)
{
    struct file_facts named = report->file;
    struct buf *text = &cells->text;
    named.path.ptr += folder;
    named.path.len -= folder;
    envelope_name(text, style, &named);
    if (!report->file.origin.complete)
        buf_text(text, " (cut)");
    *cell++ = cell_end(cells);
    if (ranked)
        *cell++ = report->rank >= 0 ? cell_number(cells, (uint64_t)report->rank) : S("-");
    buf_format(text, "%s%u", d->name.host ? "host " : "", (unsigned)d->name.number);
    *cell++ = cell_end(cells);
    *cell++ = peak_cell(cells, d, CURVE_REQUESTED);
    *cell++ = peak_cell(cells, d, CURVE_RESERVED);
    *cell++ = d->curves.oom_events > 0 ? cell_number(cells, d->curves.oom_events) : S("-");
    buf_char(text, d->trust.grade);
    *cell++ = cell_end(cells);
    if (d->rows > 0) {
        human_share(text, d->row[0].share_ratio);
        buf_char(text, ' ');
        escape_text(text, d->row[0].name, style->ascii);
    }
    *cell = cell_end(cells);
}

/* The bytes of whole words that all names begin with.  What is left begins with a word, so that
 * "run_rank0" and "run_rank10" give the ranks. */
static size_t shared_words(const str *cell, uint32_t columns, uint32_t rows)
{
    size_t shared = cell[0].len, longest = shared;
    for (uint32_t r = 1; r < rows; r++) {
        str name = cell[(size_t)r * columns];
        size_t at = 0;
        while (at < shared && at < name.len && name.ptr[at] == cell[0].ptr[at])
            at++;
        shared = at;
        longest = name.len > longest ? name.len : longest;
    }
    /* Of one name, or of one file's devices, nothing would be left to read. */
    if (shared == longest)
        return 0;
    while (shared > 0 && strchr("_-. ", cell[0].ptr[shared - 1]) == NULL)
        shared--;
    return shared;
}

static void shorten_names(struct cells *cells, str *cell, uint32_t columns, uint32_t rows)
{
    size_t shared = shared_words(cell, columns, rows);
    if (shared <= str_from("...").len)
        return;
    for (uint32_t r = 0; r < rows; r++) {
        str *name = &cell[(size_t)r * columns];
        buf_text(&cells->text, cells->ascii ? "..." : "…");
        buf_str(&cells->text, (str){ name->ptr + shared, name->len - shared });
        *name = cell_end(cells);
    }
}

static void put_ranks(struct buf *to, const struct answer_set *set, const struct style *style)
{
    static const struct text_column with_rank[RANK_CELLS] = {
        { "file", false, true, 12, false },    { "rank", true, false, 0, false },
        { "device", true, false, 0, false },   { "peak in use", true, false, 0, false },
        { "reserved", true, false, 0, false }, { "OOM", true, false, 0, false },
        { "trust", false, false, 0, false },   { "most of the peak", false, true, 16, false },
    };
    struct cells cells;
    cells_init(&cells, style);
    size_t folder = common_folder(set), devices = 0;
    bool ranked = false;
    for (uint32_t i = 0; i < set->count; i++) {
        devices += set->report[i].devices;
        ranked = ranked || set->report[i].rank >= 0;
    }
    struct text_column column[RANK_CELLS];
    uint32_t columns = 0;
    for (uint32_t c = 0; c < RANK_CELLS; c++)
        if (c != 1 || ranked)
            column[columns++] = with_rank[c];
    str *cell = cells_array(&cells, devices + 1, columns);
    uint32_t rows = 0;
    for (uint32_t i = 0; cell != NULL && i < set->count; i++) {
        const struct report *report = &set->report[i];
        for (uint32_t k = 0; k < report->devices; k++) {
            /* A rank's file may name all devices of its machine. */
            if (report_device_is_empty(&report->device[k]) && report->devices > 1)
                continue;
            fill_rank(&cells, style, report, &report->device[k], folder, ranked,
                      cell + (size_t)rows++ * columns);
        }
    }
    if (folder > 0) {
        escape_text(to, (str){ set->report[0].file.path.ptr, folder }, style->ascii);
        buf_text(to, "\n");
    }
    struct text_table table = { column, columns, rows, cell, 0 };
    if (cell != NULL && rows > 0 && !cells.text.failed && text_table_width(&table) > style->width)
        shorten_names(&cells, cell, columns, rows);
    if (cell != NULL)
        text_table(to, style, &table);
    cells_free(&cells, to);
}

/* Without cut files, as the median that the largest peak is compared with below, which is of fewer
 * devices. */
static void put_median(struct buf *words, const struct total *total)
{
    if (total->devices > 0 && total->whole == 0)
        return;
    buf_text(words, total->whole < total->devices ? ", median of those not cut " : ", median ");
    buf_text(words, total->median_bound ? "at least " : "");
    human_bytes(words, total->median_bytes);
}

static void put_total(struct buf *to, const struct report_set *set, const struct style *style,
                      const struct total *total, const char *label)
{
    const char *least = total->bound ? "at least " : "";
    struct buf words;
    buf_init(&words, 1 << 12);
    buf_format(&words, "largest %s", least);
    human_bytes(&words, total->largest_bytes);
    put_median(&words, total);
    buf_format(&words, ", sum of separate peaks %s", least);
    human_bytes(&words, total->sum_bytes);
    buf_format(&words, " (%u device%s", (unsigned)total->devices, total->devices == 1 ? "" : "s");
    if (set->unreads > 0)
        buf_format(&words, "; %u file%s not read", (unsigned)set->unreads,
                   set->unreads == 1 ? "" : "s");
    buf_char(&words, ')');
    envelope_words(to, style, label, &words);
    buf_free(&words);
}

static void put_unread(struct buf *to, const struct report_set *set, const struct style *style)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < set->unreads; i++) {
        escape_text(&words, set->unread[i].path, style->ascii);
        buf_text(&words, ": ");
        escape_text(&words, set->unread[i].why, style->ascii);
        envelope_words(to, style, "NOT READ", &words);
    }
    buf_free(&words);
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
    if (more->unreads > 0)
        buf_char(&out->text, '\n');
    put_unread(&out->text, more, &options->style);
}

/* Which ranks ran out of memory: the question that brings most people to a folder of them. */
static void put_failed(struct buf *to, const struct answer_set *set, const struct style *style)
{
    size_t folder = common_folder(set);
    uint32_t failed = 0;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->report[i].devices; k++) {
            const struct report_device *d = &set->report[i].device[k];
            if (d->curves.oom_events == 0 || ++failed > FAILED_SHOWN)
                continue;
            struct file_facts named = set->report[i].file;
            named.path.ptr += folder;
            named.path.len -= folder;
            buf_text(&words, failed > 1 ? ", " : "");
            envelope_name(&words, style, &named);
            buf_text(&words, " ");
            envelope_device_text(&words, d->name);
        }
    if (failed > FAILED_SHOWN)
        buf_format(&words, " and %u more", (unsigned)(failed - FAILED_SHOWN));
    buf_text(&words, " ran out of memory (vramscope oom says why)");
    if (failed > 0)
        envelope_words(to, style, "failed", &words);
    buf_free(&words);
}

static void put_set(struct buf *to, const struct answer_set *set, const struct style *style)
{
    const struct report_set *more = set->more;
    if (set->count > 0)
        put_failed(to, set, style);
    ranks_worst_text(to, style, more->ranks, false);
    if (set->count > 0)
        put_ranks(to, set, style);
    put_unread(to, more, style);
    if (set->count == 0)
        return;
    buf_char(to, '\n');
    put_total(to, more, style, &more->requested, "in use");
    put_total(to, more, style, &more->reserved, "reserved");
    ranks_text(to, style, more->ranks, false);
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
        put_set(to, set, &options->style);
        return;
    }
    const struct report *report = &set->report[0];
    envelope_file_text(to, &options->style, &report->file, report->devices);
    losses_text(to, &options->style, &report->file);
    if (report_is_empty(report)) {
        envelope_nothing_text(to, &options->style);
        return;
    }
    struct render_options less = *options;
    less.picture = false;
    less.rows = options->rows == 0 ? ROWS_BESIDE : options->rows;
    for (uint32_t i = 0; i < report->devices; i++)
        put_device(to, report, &report->device[i], i == leading_device(report) ? options : &less);
    if (report->ranks != NULL) {
        buf_char(to, '\n');
        ranks_worst_text(to, &options->style, report->ranks, true);
        ranks_text(to, &options->style, report->ranks, true);
    }
    put_next(to, &options->style, report);
}
