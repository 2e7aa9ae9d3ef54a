/* categories_text.c - parameters, gradients, optimizer state, activations and the rest, for people.
 */
#include <math.h>

#include "analysis/snapshot/breakdown/category_table.h"
#include "render/answer/device_answer.h"
#include "render/answer/next.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"

/* OWNER_WIDTH: from here on the line that holds most of a category has a column. */
enum { RULES_DEFAULT = 3, COLUMNS = 6, OWNER_WIDTH = 110 };

/* From this share of the measured peak on the formula is not to be taken for the truth. */
static const double RESIDUAL_ALARM = 0.05;
static const double RESIDUAL_TOLD = 10;

struct text_context {
    const struct style *style;
    struct cells *cells;
    struct buf *words; /* scratch for sentences */
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

static void put_table(struct buf *to, const struct text_context *s, const struct category_table *t,
                      uint32_t most_rules)
{
    static const struct text_column column[COLUMNS + 1] = {
        { "bytes", true, false, 0, false },
        { "share", true, false, 0, false },
        { "count", true, false, 0, false },
        { "category", false, false, 0, false },
        { "confidence", false, true, 10, false },
        { "rules", false, true, 6, false },
        { "largest made by", false, true, 16, false },
    };
    bool sites = s->style->width >= OWNER_WIDTH;
    uint32_t columns = sites ? COLUMNS + 1 : COLUMNS;
    uint32_t lines = t->rows + (t->adjust_bytes != 0) + 1;
    str *cell = cells_array(s->cells, lines, columns);
    if (cell == NULL)
        return;
    if (t->adjust_bytes != 0) {
        str *adjust = cell + (size_t)t->rows * columns;
        adjust[0] = cell_bytes(s->cells, t->adjust_bytes);
        adjust[3] = S("adjust: the file contradicts itself");
    }
    str *total = cell + (size_t)(lines - 1) * columns;
    total[0] = cell_bytes(s->cells, in_use(t));
    total[2] = cell_count(s->cells, t->count);
    total[3] = S("total");
    for (uint32_t i = 0; i < t->rows; i++) {
        str *row = cell + (size_t)i * columns;
        row[0] = cell_bytes(s->cells, (int64_t)t->row[i].bytes);
        row[2] = cell_count(s->cells, t->row[i].count);
        row[1] = cell_share(s->cells, share_ratio(t->row[i].bytes, t->total_bytes));
        row[3] = str_from(category_names[t->row[i].category]);
        row[4] = confidence_cell(s, &t->row[i]);
        row[5] = rules_cell(s, &t->row[i], most_rules);
        if (sites)
            row[6] = cell_text(s->cells, t->row[i].largest.culprit);
    }
    struct text_table table = { column, columns, lines, cell, 0 };
    text_table(to, s->style, &table);
}

/* What of the table is a guess: said once, in words. */
static void put_doubt(struct buf *to, const struct text_context *s, const struct category_table *t)
{
    uint64_t unknown = 0, low = 0;
    for (uint32_t i = 0; i < t->rows; i++) {
        unknown += t->row[i].category == CATEGORY_UNKNOWN ? t->row[i].bytes : 0;
        low += t->row[i].sure_bytes[CONFIDENCE_LOW];
    }
    buf_text(s->words, "no rule explains ");
    human_bytes(s->words, (int64_t)unknown);
    buf_text(s->words, " (");
    human_share(s->words, share_ratio(unknown, t->total_bytes));
    buf_text(s->words, "); of low confidence are ");
    human_bytes(s->words, (int64_t)low);
    buf_text(s->words, " (");
    human_share(s->words, share_ratio(low, t->total_bytes));
    buf_text(s->words, ")");
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
    if (t->copies > 1)
        buf_text(s->words, "; which block is which stays open");
    envelope_words(to, s->style, "split", s->words);
}

static const char *const term_meanings[TERMS] = {
    [TERM_P] = "parameters",
    [TERM_S] = "optimizer state",
    [TERM_G] = "gradients, most at once",
    [TERM_OI] = "temporaries of the optimizer, most at once",
    [TERM_G_OI] = "G + OI, most at once",
    [TERM_A] = "activations, most at once",
    [TERM_AD] = "activations, temporaries at peak, less A",
    [TERM_W] = "workspaces at the peak",
    [TERM_K] = "buffers, inputs, caches at the peak",
};

static void fill_term(const struct text_context *s, const struct training_need *e, int i, str *cell)
{
    const struct need_term *term = &e->term[i];
    bool some = term->known && term->bytes != 0;
    cell[0] = str_from(i == TERM_G_OI ? "G+OI" : term_names[i]);
    cell[1] = S("unknown");
    if (term->known) {
        buf_text(&s->cells->text, term->estimated ? "~" : "");
        cell[1] = cell_bytes(s->cells, term->bytes);
    }
    cell[2] = some ? cell_event(s->cells, term->event, "start") : S("-");
    bool none = !term->known || term->confidence == CONFIDENCE_NONE;
    cell[3] = str_from(none ? "-" : confidence_names[term->confidence]);
    bool inference = e->inference && i == TERM_A;
    cell[4] =
        inference ? S("activations and temporaries, most at once") : str_from(term_meanings[i]);
}

static void put_terms(struct buf *to, const struct text_context *s, const struct training_need *e)
{
    static const struct text_column column[] = {
        { "term", false, false, 0, false },    { "bytes", true, false, 0, false },
        { "event", true, false, 0, false },    { "confidence", false, false, 0, false },
        { "meaning", false, true, 16, false },
    };
    enum { TERM_COLUMNS = sizeof column / sizeof *column };
    str *cell = cells_array(s->cells, TERMS, TERM_COLUMNS);
    if (cell == NULL)
        return;
    uint32_t rows = 0;
    for (int i = 0; i < TERMS; i++) {
        bool sides = i == TERM_S || i == TERM_G || i == TERM_OI || i == TERM_G_OI || i == TERM_AD;
        if (!e->inference || !sides)
            fill_term(s, e, i, cell + (size_t)rows++ * TERM_COLUMNS);
    }
    struct text_table table = { column, TERM_COLUMNS, rows, cell, 0 };
    text_table(to, s->style, &table);
}

static void put_winner(struct buf *to, const struct text_context *s, const struct training_need *e)
{
    if (e->inference)
        return;
    buf_text(s->words, e->optimizer_side ? "the optimizer's side rules: G + OI is "
                                         : "activations rule: A is ");
    human_bytes(s->words, e->margin_bytes);
    buf_text(s->words, e->optimizer_side ? " more than A" : " more than G + OI");
    if (e->crossing_ratio > 0) {
        buf_text(s->words, "; both meet at ~");
        buf_fixed(s->words, e->crossing_ratio, 2);
        buf_text(s->words, " times the batch");
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
    buf_text(s->words, e->inference ? "P + K + A" : "P + S + max(G + OI, A)");
    buf_text(s->words, e->bound ? " is at least ~" : " is ~");
    human_bytes(s->words, e->formula_bytes);
    int64_t off = e->residual_bytes;
    if (off == 0) {
        buf_text(s->words, ", the same");
        envelope_words(to, s->style, "need", s->words);
        return;
    }
    buf_text(s->words, off < 0 ? ", more by " : ", less by ");
    human_bytes(s->words, off < 0 && off != INT64_MIN ? -off : off);
    /* Beyond that a share says nothing. */
    if (fabs(e->residual_ratio) <= RESIDUAL_TOLD) {
        buf_text(s->words, " (");
        human_share(s->words, fabs(e->residual_ratio));
        buf_text(s->words, " of the measured)");
    }
    if (fabs(e->residual_ratio) > RESIDUAL_ALARM)
        buf_text(s->words, ": do not take the formula for the truth here");
    envelope_words(to, s->style, "need", s->words);
}

static void put_items(struct buf *to, const struct text_context *s, const struct category_table *t)
{
    const struct training_need *e = &t->estimate;
    static const char *const names[RESIDUALS] = {
        [RESIDUAL_W] = "workspaces",
        [RESIDUAL_K] = "buffers, inputs, caches",
        [RESIDUAL_AD] = "other activations and temporaries",
        [RESIDUAL_G] = "gradients alive meanwhile",
        [RESIDUAL_OI] = "temporaries of the optimizer",
        [RESIDUAL_G_OI] = "G + OI at the peak, against its own maximum",
        [RESIDUAL_GENERATIONS] = "old and new parameters or state at once",
        [RESIDUAL_COMMUNICATION] = "communication",
        [RESIDUAL_UNKNOWN] = "unknown",
    };
    bool any = false;
    for (int i = 0; i < RESIDUALS; i++) {
        if (e->item_bytes[i] == 0)
            continue;
        buf_text(s->words, any ? "; " : "the difference is ");
        human_bytes(s->words, e->item_bytes[i]);
        buf_format(s->words, " %s", names[i]);
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
    cells_init(&cells, &options->style);
    buf_init(&words, SIZE_MAX / 2);
    struct text_context s = { &options->style, &cells, &words };
    put_moment(to, &s, t, device);
    put_table(to, &s, t, options->rows == 0 ? RULES_DEFAULT : options->rows);
    buf_char(to, '\n');
    put_doubt(to, &s, t);
    put_split(to, &s, t);
    if (t->has_estimate) {
        buf_char(to, '\n');
        put_terms(to, &s, &t->estimate);
        buf_char(to, '\n');
        put_formula(to, &s, &t->estimate);
        put_items(to, &s, t);
        put_winner(to, &s, &t->estimate);
    }
    next_line(to, &options->style, "next", "peak", answer->file.path, " --by category --stacks",
              "where each was made");
    buf_end(&words, to);
    cells_free(&cells, to);
}

void categories_text(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options)
{
    (void)several;
    device_answer_text(out, set, options, put_result);
}
