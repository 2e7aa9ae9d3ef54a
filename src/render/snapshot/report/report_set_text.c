/* report_set_text.c - reports of several files: one line for each device, then the totals. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/report/totals.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/snapshot/ranks/missing_ranks.h"
#include "render/snapshot/ranks/ranks.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/text.h"

enum { RANK_CELLS = 8, FAILED_SHOWN = 4 };

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
    if (d->hidden_culprit.len > 0) {
        human_share(text, d->hidden_share);
        buf_char(text, ' ');
        escape_text(text, d->hidden_culprit, style->ascii);
    } else if (d->rows > 0) {
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
        { "file", false, true, 12, CUT_END },    { "rank", true, false, 0, CUT_END },
        { "device", true, false, 0, CUT_END },   { "peak in use", true, false, 0, CUT_END },
        { "reserved", true, false, 0, CUT_END }, { "OOM", true, false, 0, CUT_END },
        { "trust", false, false, 0, CUT_END },   { "most of the peak", false, true, 16, CUT_END },
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

void report_unread_text(struct buf *to, const struct report_set *set, const struct style *style)
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

/* No total is of the whole job then. */
void report_missing_text(struct buf *to, const struct report_set *set, const struct style *style)
{
    struct buf words;
    buf_init(&words, 1 << 12);
    if (missing_ranks_words(&words, set))
        envelope_words(to, style, "missing", &words);
    buf_free(&words);
}

void report_set_text(struct buf *to, const struct answer_set *set, const struct style *style)
{
    const struct report_set *more = set->more;
    if (set->count > 0)
        put_failed(to, set, style);
    ranks_worst_text(to, style, more->ranks, false);
    if (set->count > 0)
        put_ranks(to, set, style);
    report_unread_text(to, more, style);
    report_missing_text(to, more, style);
    if (set->count == 0)
        return;
    buf_char(to, '\n');
    put_total(to, more, style, &more->requested, "in use");
    put_total(to, more, style, &more->reserved, "reserved");
    ranks_text(to, style, more->ranks, false);
}
