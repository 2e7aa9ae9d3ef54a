/* categories_text.c - parameters, gradients, optimizer state, activations and the rest, for people.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/device_answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/next.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

/* OWNER_WIDTH: from here on the line that holds most of a category has a column. */
enum { RULES_DEFAULT = 3, OWNER_WIDTH = 110 };

/* From this share of the measured peak on the formula is not to be taken for the truth. */
static const double RESIDUAL_ALARM = 0.05;
static const double RESIDUAL_TOLD = 10;

struct text_context {
    const struct style *style;
    struct cells *cells;
    struct buf *words; /* scratch for sentences */
    const struct category_table *table;
    uint32_t most_rules; /* that are named in a row */
};

/* "high", or "high 99.4 %, low 0.6 %" */
static str confidence_cell(const struct text_context *s, const struct category_row *row)
{
    struct buf *text = &s->cells->text;
    for (int i = CONFIDENCE_HIGH; i >= CONFIDENCE_LOW; i--) {
        uint64_t bytes = row->sure_bytes[i];
        if (bytes == 0)
            continue;
        buf_text(text, text->len == 0 ? "" : ", ");
        buf_text(text, confidence_names[i]);
        if (bytes == row->bytes)
            continue;
        buf_char(text, ' ');
        human_share(text, share_ratio(bytes, row->bytes));
    }
    if (text->len == 0)
        buf_char(text, '-');
    return cell_end(s->cells);
}

/* "S1, F3 and 2 more" */
static str rules_cell(const struct text_context *s, const struct category_row *row, uint32_t most)
{
    struct buf *text = &s->cells->text;
    uint32_t shown = row->rules > most ? most : row->rules;
    for (uint32_t i = 0; i < shown; i++) {
        buf_text(text, i == 0 ? "" : ", ");
        buf_text(text, row->rule[i].rule);
    }
    if (shown < row->rules)
        buf_format(text, " and %u more", (unsigned)(row->rules - shown));
    return cell_end(s->cells);
}

/* The curve, as all verbs tell it; rows and adjust add up to it. */
static int64_t in_use(const struct category_table *t)
{
    return (int64_t)(t->total_bytes + (uint64_t)t->adjust_bytes);
}

enum category_column { BYTES, SHARE, COUNT, CATEGORY, SURE, RULES, LARGEST, COLUMNS };

#define OF_ROW(member) SHOWN(category_row_type, struct category_row, member)
static const struct shown_column category_columns[COLUMNS] = {
    [BYTES] = { OF_ROW(bytes), 0 },
    [SHARE] = { COMPOSED("share", true), 0 },
    [COUNT] = { OF_ROW(count), 0 },
    [CATEGORY] = { OF_ROW(category), 0 },
    [SURE] = { COMPOSED("confidence", false), 10 },
    [RULES] = { OF_ROW(rule), 6 },
    [LARGEST] = { COMPOSED("largest allocated by", false), 16 },
};

static bool category_cell(void *arg, const void *of, uint32_t column, str *ret)
{
    const struct text_context *s = arg;
    const struct category_row *row = of;
    if (column == SHARE)
        *ret = cell_share(s->cells, share_ratio(row->bytes, s->table->total_bytes));
    else if (column == SURE)
        *ret = confidence_cell(s, row);
    else if (column == RULES)
        *ret = rules_cell(s, row, s->most_rules);
    else if (column == LARGEST)
        *ret = cell_text(s->cells, row->largest.culprit);
    else
        return false;
    return true;
}

static void put_table(struct buf *to, struct text_context *s)
{
    const struct category_table *t = s->table;
    bool adjusted = t->adjust_bytes != 0, sites = s->style->width >= OWNER_WIDTH;
    str last[2][COLUMNS], *total = last[adjusted];
    for (int i = 0; i < COLUMNS; i++)
        last[0][i] = last[1][i] = S("");
    if (adjusted) {
        last[0][BYTES] = cell_bytes(s->cells, t->adjust_bytes);
        last[0][CATEGORY] = S("adjust: the file contradicts itself");
    }
    total[BYTES] = cell_bytes(s->cells, in_use(t));
    total[COUNT] = cell_count(s->cells, t->count);
    total[CATEGORY] = S("total");
    struct shown_table table = {
        .column = category_columns,
        .columns = COLUMNS,
        .hidden = sites ? 0 : 1u << LARGEST,
        SHOWN_ROWS(t->row, t->rows),
        .last = last[0],
        .lasts = 1 + adjusted,
        .make = category_cell,
        .arg = s,
    };
    shown_table(to, s->style, s->cells, &table);
}

/* "44.10 MiB (0.2 %)", of the table. */
static void put_part(const struct text_context *s, uint64_t bytes, const struct category_table *t)
{
    human_bytes(s->words, (int64_t)bytes);
    buf_text(s->words, " (");
    human_share(s->words, share_ratio(bytes, t->total_bytes));
    buf_char(s->words, ')');
}

/* What of the table is a guess: said once, in words. */
static void put_doubt(struct buf *to, const struct text_context *s, const struct category_table *t)
{
    uint64_t unknown = 0, low = 0;
    for (uint32_t i = 0; i < t->rows; i++) {
        unknown += t->row[i].category == CATEGORY_UNKNOWN ? t->row[i].bytes : 0;
        low += t->row[i].sure_bytes[CONFIDENCE_LOW];
    }
    if (unknown > 0) {
        buf_text(s->words, "no rule explains ");
        put_part(s, unknown, t);
    }
    if (low > 0) {
        buf_text(s->words, unknown > 0 ? "; the rules for " : "the rules for ");
        put_part(s, low, t);
        buf_text(s->words, " have low confidence");
    }
    if (unknown + low > 0)
        envelope_words(to, s->style, "doubt", s->words);
}

static void add_copy(const struct text_context *s, uint64_t bytes, const char *name,
                     const char *before)
{
    if (bytes == 0)
        return;
    buf_text(s->words, before);
    human_bytes(s->words, (int64_t)bytes);
    buf_format(s->words, " of %s", name);
}

static void put_split(struct buf *to, const struct text_context *s, const struct category_table *t)
{
    if (t->copies == 0)
        return;
    buf_format(s->words, "memory older than the recording holds the parameter list %u time%s:",
               (unsigned)t->copies, t->copies == 1 ? "" : "s");
    add_copy(s, t->parameter_bytes, "parameters", " ");
    add_copy(s, t->gradient_bytes, "gradients", ", ");
    add_copy(s, t->optimizer_state_bytes, "optimizer state", ", ");
    add_copy(s, t->parameter_copy_bytes, "copies of the parameters", ", ");
    if (t->copies > 1)
        buf_text(s->words, "; which of them a block holds is not known");
    envelope_words(to, s->style, "split", s->words);
}

static const char *const term_meanings[TERMS] = {
    [TERM_P] = "parameters",
    [TERM_S] = "optimizer state",
    [TERM_G] = "gradients, most at once",
    [TERM_OI] = "temporaries of the optimizer, most at once",
    [TERM_G_OI] = "G + OI, most at once",
    [TERM_A] = "activations, most at once",
    [TERM_B] = "buffers, copies, caches, most at once",
    [TERM_LG] = "gradients of the loss's inputs, beside A",
    [TERM_H] = "outputs and inputs held by names",
    [TERM_W] = "workspaces, most at once",
};

enum term_column { TERM, TERM_BYTES, EVENT, TERM_SURE, MEANING, TERM_COLUMNS };

#define OF_TERM(member) SHOWN(need_term_row_type, struct need_term, member)
static const struct shown_column term_columns[TERM_COLUMNS] = {
    [TERM] = { OF_TERM(id), 0 },
    [TERM_BYTES] = { OF_TERM(bytes), 0 },
    [EVENT] = { OF_TERM(event), 0 },
    [TERM_SURE] = { OF_TERM(confidence), 0 },
    [MEANING] = { COMPOSED("meaning", false), 16 },
};

static str term_bytes_cell(const struct text_context *s, const struct need_term *term)
{
    if (!term->known)
        return S("unknown");
    buf_text(&s->cells->text, term->estimated ? "~" : "");
    return cell_bytes(s->cells, term->bytes);
}

static bool term_cell(void *arg, const void *row, uint32_t column, str *ret)
{
    const struct text_context *s = arg;
    const struct need_term *term = row;
    bool some = term->known && term->bytes != 0;
    bool inference = s->table->training_need.inference && term->id == TERM_A;
    if (column == TERM && term->id == TERM_G_OI)
        *ret = S("G+OI");
    else if (column == TERM_BYTES)
        *ret = term_bytes_cell(s, term);
    else if (column == EVENT)
        *ret = some ? cell_event(s->cells, term->event, "start") : S("-");
    else if (column == MEANING)
        *ret = inference ? S("activations and temporaries, most at once")
                         : str_from(term_meanings[term->id]);
    else
        return false;
    return true;
}

static void put_terms(struct buf *to, struct text_context *s, const struct training_need *e)
{
    struct need_term shown[TERMS];
    uint32_t rows = 0;
    for (int i = 0; i < TERMS; i++) {
        bool sides = i == TERM_S || i == TERM_G || i == TERM_OI || i == TERM_G_OI || i == TERM_LG;
        if (!e->inference || !sides)
            shown[rows++] = e->term[i];
    }
    struct shown_table table = {
        .column = term_columns,
        .columns = TERM_COLUMNS,
        SHOWN_ROWS(shown, rows),
        .make = term_cell,
        .arg = s,
    };
    shown_table(to, s->style, s->cells, &table);
}

static void put_winner(struct buf *to, const struct text_context *s, const struct training_need *e)
{
    if (e->inference)
        return;
    buf_text(s->words, e->optimizer_side ? "the optimizer decides: G + OI is "
                                         : "activations decide: A + LG + H + W is ");
    human_bytes(s->words, e->margin_bytes);
    buf_text(s->words, e->optimizer_side ? " more than A + LG + H + W" : " more than G + OI");
    if (e->crossing_ratio > 0) {
        buf_text(s->words, "; both would be equal at ~");
        buf_fixed(s->words, e->crossing_ratio, 2);
        buf_text(s->words, " times the batch size");
        if (e->crossing_ratio > 2 || e->crossing_ratio < 0.5)
            buf_text(s->words, " (far from what was measured)");
    }
    envelope_words(to, s->style, "winner", s->words);
}

static void put_formula(struct buf *to, const struct text_context *s, const struct training_need *e)
{
    human_bytes(s->words, e->measured_bytes);
    if (e->measured_event >= 0)
        buf_format(s->words, " measured at event %lld; ", (long long)e->measured_event);
    else
        buf_text(s->words, " measured at the start; ");
    buf_text(s->words,
             e->inference ? "P + B + A + H + W" : "P + S + B + max(G + OI, A + LG + H + W)");
    buf_text(s->words, e->bound ? " is at least ~" : " is ~");
    human_bytes(s->words, e->formula_bytes);
    int64_t off = e->residual_bytes;
    if (off == 0) {
        buf_text(s->words, ", the same");
        envelope_words(to, s->style, "need", s->words);
        return;
    }
    buf_text(s->words, ", ");
    human_bytes(s->words, off < 0 && off != INT64_MIN ? -off : off);
    buf_text(s->words, off < 0 ? " more" : " less");
    /* Beyond that a share says nothing. */
    if (fabs(e->residual_ratio) <= RESIDUAL_TOLD) {
        buf_text(s->words, " (");
        human_share(s->words, fabs(e->residual_ratio));
        buf_text(s->words, " of the measured)");
    }
    if (fabs(e->residual_ratio) > RESIDUAL_ALARM)
        buf_text(s->words, ": do not trust the formula here");
    envelope_words(to, s->style, "need", s->words);
}

static void put_items(struct buf *to, const struct text_context *s, const struct category_table *t)
{
    const struct training_need *e = &t->training_need;
    static const char *const names[RESIDUALS] = {
        [RESIDUAL_A] = "other activations and temporaries",
        [RESIDUAL_H] = "outputs and inputs held by names",
        [RESIDUAL_W] = "workspaces",
        [RESIDUAL_B] = "buffers, copies, caches",
        [RESIDUAL_G] = "gradients alive meanwhile",
        [RESIDUAL_OI] = "temporaries of the optimizer",
        [RESIDUAL_G_OI] = "G + OI at the peak, less its own maximum",
        [RESIDUAL_GENERATIONS] = "old and new parameters or state at once",
        [RESIDUAL_UNKNOWN] = "unknown",
    };
    bool any = false;
    for (uint32_t i = 0; i < e->items; i++) {
        buf_text(s->words, any ? "; " : "the difference is ");
        human_bytes(s->words, e->item[i].bytes);
        buf_format(s->words, " %s", names[e->item[i].id]);
        any = true;
    }
    if (e->unexplained_bytes != 0) {
        buf_text(s->words, any ? "; " : "the difference is ");
        human_bytes(s->words, e->unexplained_bytes);
        buf_text(s->words, t->adjust_bytes == e->unexplained_bytes
                               ? " adjust (the file contradicts itself)"
                               : " unexplained");
        any = true;
    }
    if (any)
        envelope_words(to, s->style, "", s->words);
}

static void put_moment(struct buf *to, const struct text_context *s, const struct category_table *t,
                       const struct device_answer *device)
{
    bool final = false;
    struct buf *words = s->words;
    for (uint32_t i = 0; i < device->reasons; i++)
        final = final || strcmp(device->reason[i].id, "no_trace") == 0;
    human_bytes(words, in_use(t));
    if (final)
        buf_text(words, " in use in the final state");
    else if (t->at_event < 0)
        buf_text(words, " in use at the start of the recording");
    else
        buf_format(words, " in use after event %lld", (long long)t->at_event);
    text_wrap(to, s->style, buf_slice(words), 0, 0);
    buf_char(to, '\n');
    words->len = 0;
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    const struct category_table *t = device->result;
    struct buf *to = &out->text, words;
    struct cells cells;
    (void)answer;
    cells_init(&cells, &options->style);
    buf_init(&words, SIZE_MAX / 2);
    struct text_context s = {
        .style = &options->style,
        .cells = &cells,
        .words = &words,
        .table = t,
        .most_rules = options->rows == 0 ? RULES_DEFAULT : options->rows,
    };
    put_moment(to, &s, t, device);
    put_table(to, &s);
    size_t table_end = to->len;
    buf_char(to, '\n');
    put_doubt(to, &s, t);
    put_split(to, &s, t);
    if (to->len == table_end + 1)
        to->len = table_end; /* nothing is to be said of it */
    if (t->has_training_need) {
        buf_char(to, '\n');
        put_terms(to, &s, &t->training_need);
        buf_char(to, '\n');
        put_formula(to, &s, &t->training_need);
        put_items(to, &s, t);
        put_winner(to, &s, &t->training_need);
    }
    buf_end(&words, to);
    cells_free(&cells, to);
}

static void put_next(struct out *out, const struct device_answer *device,
                     const struct devices_answer *answer, const struct render_options *options)
{
    (void)device;
    next_line(&out->text, &options->style, "next", "peak", answer->file.path,
              " --by category --stacks", "where each was allocated");
}

void categories_text(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options)
{
    (void)several;
    static const struct device_text parts = { put_result, put_next };
    device_answer_text(out, set, options, &parts);
}
