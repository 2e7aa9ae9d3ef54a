/* leaks_text.c - what grows from step to step, for people.
 *
 * The verdict first: each leak in a sentence, or that there is none.  Then what the first step
 * adds, which is no leak, and the places that hold memory between steps. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/site_fields.h"
#include "analysis/snapshot/study/study.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/device_answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/name_lines.h"
#include "render/answer/next.h"
#include "render/answer/place.h"
#include "render/snapshot/leaks/leaks_lines.h"
#include "render/snapshot/leaks/leaks_rows.h"
#include "render/snapshot/leaks/leaks_sentences.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/steps/step_parts.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

/* ALIKE_MOST: of so many sites it is asked whether two are called the same. */
enum { ROWS_DEFAULT = 20, WIDE = 100, LEAKS_TOLD = 5, ALIKE_MOST = 1000, NAMES_INDENT = 10 };

/* What is put together for one device. */
struct text_context {
    const struct style *style;
    const struct leaks *leaks;
    struct cells cells;
    struct buf words; /* scratch for sentences */
};

static void put_words(struct buf *to, struct text_context *s, const char *label)
{
    envelope_words(to, s->style, label, &s->words);
}

static const char *words_of_kind(enum leak_kind kind)
{
    static const char *const words[LEAK_KINDS] = {
        [LEAK_UNKNOWN] = "",
        [LEAK_GRADIENTS] = "; gradients that are never released",
        [LEAK_GRAPH] = "; a kept loss keeps its autograd graph and activations: keep loss.item()",
        [LEAK_OUTPUTS] = "; results are kept from step to step",
        [LEAK_CACHE] = "; a cache that grows",
    };
    return words[kind];
}

/* What tells it from others, in brackets: "(nn_utils.py:12)", "(4 B each)". */
static void put_difference(struct buf *to, const struct text_context *s,
                           const struct leak_site *site, enum leaks_difference by)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    leaks_difference_words(&words, s->leaks, site, by, s->style->ascii);
    if (words.len > 0) {
        buf_text(to, " (");
        buf_str(to, buf_slice(&words));
        buf_char(to, ')');
    }
    buf_end(&words, to);
}

static void put_place(struct buf *to, const struct text_context *s, const struct leak_site *site)
{
    enum leaks_difference by = leaks_row_difference(s->leaks, site);
    buf_text(to, " at ");
    place_words(to, site->site.culprit, s->style->ascii);
    if (!str_equal(site->site.culprit, site->site.owner)) {
        buf_text(to, " (");
        escape_text(to, site->site.owner, s->style->ascii);
        buf_char(to, ')');
    }
    if (by != BY_OWNER)
        put_difference(to, s, site, by);
}

/* "nd" of 2nd, and of 22nd; 11 to 13 are no such. */
static const char *ordinal_end(uint32_t n)
{
    uint32_t digit = n / 10 % 10 == 1 ? 0 : n % 10;
    return digit == 1 ? "st" : digit == 2 ? "nd" : digit == 3 ? "rd" : "th";
}

/* " a step", or " in every 2nd step": then it is what such a step leaves. */
static void put_rate(struct buf *to, const struct leak_site *site)
{
    human_bytes(to, leak_rise_bytes(site));
    if (site->every_steps > 1)
        buf_format(to, " in every %u%s step", site->every_steps, ordinal_end(site->every_steps));
    else
        buf_text(to, " a step");
}

/* "; 37.2 % of it, 512.00 MiB, have a name": their lines stand in the table. */
static void put_named(struct text_context *s, const struct leak_site *site)
{
    if (site->names.count == 0)
        return;
    buf_text(&s->words, "; ");
    name_share_words(&s->words, &site->names, site->bytes[s->leaks->moments - 1]);
}

/* "leak  250.00 MiB a step at train.py:45 main; 1.22 GiB from 5 steps are alive; …" */
static void put_leak(struct buf *to, struct text_context *s, const struct leak_site *site)
{
    bool leak = site->class == LEAK_CLASS_LEAK;
    paint_on(&s->words, s->style, leak ? PAINT_BAD : PAINT_BOLD);
    buf_text(&s->words, leak ? "" : "perhaps ");
    put_rate(&s->words, site);
    paint_off(&s->words, s->style);
    put_place(&s->words, s, site);
    buf_text(&s->words, "; ");
    human_bytes(&s->words, (int64_t)site->bytes[s->leaks->moments - 1]);
    /* Of one generation is what each step copies into something longer. */
    if (site->generations == 1)
        buf_text(&s->words, " are alive, which each step copies into something longer");
    else
        buf_format(&s->words, " from %u steps are alive", site->generations);
    put_named(s, site);
    buf_text(&s->words, words_of_kind(site->kind));
    put_words(to, s, leak ? "leak" : "suspect");
}

/* "small  4 B a step at train.py:31 main, 24 B in all: too small to matter" */
static void put_small(struct buf *to, struct text_context *s, const struct leak_site *site)
{
    put_rate(&s->words, site);
    put_place(&s->words, s, site);
    buf_text(&s->words, ", ");
    human_bytes(&s->words, (int64_t)(site->bytes[s->leaks->moments - 1] - site->bytes[0]));
    buf_text(&s->words, " over the recording: too small to matter");
    put_words(to, s, "small");
}

static void put_more_sites(struct buf *to, struct text_context *s, uint32_t told, uint32_t sites,
                           const char *what)
{
    if (sites <= told)
        return;
    buf_text(&s->words, "and ");
    human_counted(&s->words, sites - told, "more site", s->style->ascii);
    buf_text(&s->words, sites - told == 1 ? " that is " : " that are ");
    buf_text(&s->words, what);
    put_words(to, s, "");
}

static void put_verdict(struct buf *to, struct text_context *s)
{
    const struct leaks *g = s->leaks;
    uint32_t growing = g->leaks + g->suspects;
    for (uint32_t i = 0; i < growing && i < LEAKS_TOLD; i++)
        put_leak(to, s, &g->site[i]);
    put_more_sites(to, s, LEAKS_TOLD, growing, "growing");
    if (growing == 0) {
        leaks_none_words(&s->words, g, s->style);
        put_words(to, s, "leak");
    }
    for (uint32_t i = 0; i < g->too_small && i < LEAKS_TOLD; i++)
        put_small(to, s, &g->site[growing + i]);
    put_more_sites(to, s, LEAKS_TOLD, g->too_small, "too small to matter");
}

/* "growth  250.00 MiB a step stay in all; full after about 83 more steps"; beside them, what is
 * replaced by larger ones: "… 1.12 GiB a step more at 2 sites …" */
static void put_total(struct buf *to, struct text_context *s)
{
    const struct leaks *g = s->leaks;
    bool told = g->leaks + g->suspects != 0;
    uint64_t rise = 0;
    uint32_t sites = 0;
    for (uint32_t i = 0; i < g->sites; i++)
        if (leaks_row_is_outgrown(g, &g->site[i])) {
            rise += leaks_row_rise_bytes(g, &g->site[i]);
            sites++;
        }
    if (!told && sites == 0)
        return;
    const char *kind = step_kind_names[g->steps.steps.kind];
    if (told) {
        human_bytes(&s->words, g->slope_total_bytes);
        buf_format(&s->words, " a %s in all%s", kind, sites == 0 ? "" : " is left behind");
    }
    if (sites != 0) {
        buf_text(&s->words, told ? "; " : "");
        human_bytes(&s->words, (int64_t)rise);
        buf_format(&s->words, " a %s%s at ", kind, told ? " more" : "");
        human_counted(&s->words, sites, "site", s->style->ascii);
        buf_format(&s->words, " whose memory is replaced by larger memory in each %s", kind);
    }
    if (told && g->steps_to_full >= 0 && sites == 0) {
        buf_text(&s->words, "; full after about ");
        human_counted(&s->words, (uint64_t)g->steps_to_full, "more step", s->style->ascii);
    }
    put_words(to, s, "growth");
}

/* "first step  875.86 MiB, no leak: optimizer_state 444.03 MiB, …" */
static void put_first_step(struct buf *to, struct text_context *s)
{
    const struct leaks *g = s->leaks;
    const struct first_step_row *row = g->first_step;
    bool done[CATEGORIES] = { false };
    buf_format(&s->words, "the first %s adds ", step_kind_names[g->steps.steps.kind]);
    human_bytes(&s->words, g->first_step_bytes);
    for (const char *begin = ": ";; begin = ", ") {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < g->first_steps; i++)
            if (!done[i] && (best == UINT32_MAX || row[i].bytes > row[best].bytes))
                best = i;
        if (best == UINT32_MAX)
            break;
        done[best] = true;
        bool less = row[best].bytes < 0;
        buf_text(&s->words, begin);
        buf_text(&s->words, less ? "less " : "");
        category_words(&s->words, str_from(category_names[row[best].category]));
        buf_char(&s->words, ' ');
        human_bytes(&s->words, less ? -row[best].bytes : row[best].bytes);
    }
    put_words(to, s, "start");
}

static void put_hint(struct buf *to, struct text_context *s)
{
    const struct gc_hint *hint = &s->leaks->gc_hint;
    if (hint->kind == NULL)
        return;
    bool low = hint->confidence == CONFIDENCE_LOW;
    buf_text(&s->words, low ? "perhaps Python's garbage collector freed "
                            : "Python's garbage collector freed ");
    human_bytes(&s->words, (int64_t)hint->bytes);
    buf_format(&s->words, " at once (events %u to %u): ", hint->first_event, hint->last_event);
    buf_text(&s->words, "objects in reference cycles hold memory until it runs");
    put_words(to, s, "gc");
}

enum leak_column { CLASS, SLOPE, LAST, COUNT, STEPS, CATEGORY, PLACE, OWNER, COLUMNS };

static const struct shown_column all_columns[COLUMNS] = {
    [CLASS] = { SHOWN(leak_site_row_type, struct leak_site, class), 0 },
    [SLOPE] = { SHOWN(leak_site_row_type, struct leak_site, slope_bytes), 0 },
    [LAST] = { COMPOSED("alive at end", true), 0 },
    [COUNT] = { COMPOSED("count", true), 0 },
    [STEPS] = { SHOWN(leak_site_row_type, struct leak_site, generations), 0 },
    [CATEGORY] = { SHOWN(leak_site_row_type, struct leak_site, category), 0 },
    [PLACE] = { SHOWN_IN(struct leak_site, site, site_row_type, struct site_ref, culprit), 16 },
    [OWNER] = { SHOWN_IN(struct leak_site, site, site_row_type, struct site_ref, owner), 16 },
};

static str place_cell(struct text_context *s, const struct leak_site *site)
{
    enum leaks_difference by = leaks_row_difference(s->leaks, site);
    /* Where there is little room, what tells two apart is worth more than the function's name. */
    bool brief = by != DIFFERENT && s->style->width < WIDE;
    str name = site->site.culprit;
    place_words(&s->cells.text, brief && name.ptr[0] != '(' ? leaks_file_and_line(name) : name,
                s->style->ascii);
    put_difference(&s->cells.text, s, site, by);
    return cell_end(&s->cells);
}

static str leak_cell(struct text_context *s, const struct leak_site *site, enum leak_column column)
{
    uint32_t last = s->leaks->moments - 1;
    bool outgrown = leaks_row_is_outgrown(s->leaks, site);
    if (column == CLASS && outgrown)
        return str_from(leaks_row_class(s->leaks, site));
    if (column == SLOPE && outgrown)
        return cell_bytes(&s->cells, (int64_t)leaks_row_rise_bytes(s->leaks, site));
    if (column == LAST)
        return cell_bytes(&s->cells, (int64_t)site->bytes[last]);
    if (column == COUNT)
        return cell_count(&s->cells, site->counts[last]);
    if (column == PLACE)
        return place_cell(s, site);
    if (column == OWNER && str_equal(site->site.culprit, site->site.owner))
        return S("");
    return shown_cell(&s->cells, &all_columns[column], site);
}

static bool owners_differ(const struct leaks *g)
{
    for (uint32_t i = 0; i < g->sites; i++)
        if (leaks_row_is_shown(g, &g->site[i]) &&
            !str_equal(g->site[i].site.culprit, g->site[i].site.owner))
            return true;
    return false;
}

static void put_legend(struct buf *to, const struct text_context *s)
{
    struct buf words;
    buf_init(&words, 1 << 10);
    leaks_legend_words(&words, s->leaks);
    if (words.len > 0) {
        paint_on(to, s->style, PAINT_DIM);
        text_wrap(to, s->style, buf_slice(&words), 0, 0);
        paint_off(to, s->style);
    }
    buf_end(&words, to);
}

/* "and 3 more sites; --rows shows them. 9 stable sites hold 1.20 GiB; --json has them" */
static void put_left_out(struct buf *to, const struct text_context *s, uint32_t left)
{
    struct buf words;
    buf_init(&words, 1 << 10);
    if (left != 0)
        buf_format(&words, "and %u more site%s; --rows shows them", left, left == 1 ? "" : "s");
    uint32_t stable = leaks_stable_words(&words, s->leaks, left == 0 ? "" : ". ", s->style->ascii);
    if (stable != 0)
        buf_text(&words, stable == 1 ? "; --json has it" : "; --json has them");
    if (words.len != 0)
        text_wrap(to, s->style, buf_slice(&words), 0, 0);
    buf_end(&words, to);
}

/* Then a name that is too long is cut at its start: what tells two apart stands behind. */
static bool some_are_alike(const struct leaks *g)
{
    for (uint32_t i = 0; i < g->sites && i < ALIKE_MOST; i++)
        if (leaks_row_is_shown(g, &g->site[i]) && leaks_row_difference(g, &g->site[i]) != DIFFERENT)
            return true;
    return false;
}

/* The columns that the width has room for and that tell rows apart, with their headings; how
 * many. */
static uint32_t choose_columns(const struct text_context *s, enum leak_column shown[COLUMNS],
                               struct text_column column[COLUMNS])
{
    bool owners = s->style->width >= WIDE && owners_differ(s->leaks);
    bool alike = some_are_alike(s->leaks);
    uint32_t columns = 0;
    for (int i = 0; i < COLUMNS; i++) {
        bool wide = i == COUNT || i == STEPS;
        if ((wide && s->style->width < WIDE) || (i == OWNER && !owners))
            continue;
        column[columns] = shown_heading(&all_columns[i]);
        column[columns].cut = i == PLACE && alike ? CUT_START : CUT_END;
        shown[columns++] = (enum leak_column)i;
    }
    return columns;
}

static void put_table(struct buf *to, struct text_context *s, uint32_t most)
{
    const struct leaks *g = s->leaks;
    enum leak_column shown[COLUMNS];
    struct text_column column[COLUMNS];
    uint32_t columns = choose_columns(s, shown, column), rows = 0, lines = 0, left = 0;
    str *cell = cells_array(&s->cells, (size_t)(g->sites < most ? g->sites : most) * 2, columns);
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < g->sites; i++) {
        if (!leaks_row_is_shown(g, &g->site[i]))
            continue;
        if (rows == most) {
            left++;
            continue;
        }
        for (uint32_t k = 0; k < columns; k++)
            cell[(size_t)lines * columns + k] = leak_cell(s, &g->site[i], shown[k]);
        rows++;
        lines++;
        if (g->site[i].names.count == 0)
            continue;
        name_lines_put(&s->cells.text, s->style, NAMES_INDENT, &g->site[i].names);
        cell_end_lines(&s->cells, cell + (size_t)lines++ * columns);
    }
    buf_char(to, '\n');
    struct text_table table = { column, columns, lines, cell, 0 };
    if (rows != 0)
        text_table(to, s->style, &table);
    if (rows != 0)
        put_legend(to, s);
    put_left_out(to, s, left);
}

static void put_next(struct out *out, const struct device_answer *device,
                     const struct devices_answer *answer, const struct render_options *options)
{
    const struct leaks *g = device->result;
    struct buf *to = &out->text;
    str path = answer->file.path;
    if (device != &answer->device[answer->devices - 1])
        return;
    if (g->leaks + g->suspects != 0)
        next_line(to, &options->style, "next", "peak", path, " --at end --stacks",
                  "the stacks of what stayed");
    else
        next_line(to, &options->style, "next", "steps", path, "",
                  "which part of a step is highest");
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    (void)answer;
    struct text_context s = { .style = &options->style, .leaks = device->result };
    struct buf *to = &out->text;
    cells_init(&s.cells, s.style);
    buf_init(&s.words, SIZE_MAX / 2);
    if (s.leaks->moments != 0)
        put_verdict(to, &s);
    steps_lines(to, s.style, &s.leaks->steps);
    if (s.leaks->moments != 0) {
        put_total(to, &s);
        put_first_step(to, &s);
    }
    put_hint(to, &s);
    if (s.leaks->moments != 0)
        put_table(to, &s, options->rows == 0 ? ROWS_DEFAULT : options->rows);
    buf_end(&s.words, to);
    cells_free(&s.cells, to);
}

void leaks_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    (void)several;
    static const struct device_text parts = { put_result, put_next };
    device_answers_text(out, set, options, &leaks_lines, &parts);
}
