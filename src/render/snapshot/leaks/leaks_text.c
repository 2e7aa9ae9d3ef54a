/* leaks_text.c - what grows from step to step, for people.
 *
 * The verdict first: each leak in a sentence, or that there is none.  Then what the first step
 * adds, which is no leak, and the places that hold memory between steps. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/study/site_fields.h"
#include "analysis/snapshot/study/study.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/device_answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/next.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/steps/step_parts.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 20, WIDE = 100, LEAKS_TOLD = 5 };

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
        [LEAK_OUTPUTS] = "; results of every step are kept",
        [LEAK_CACHE] = "; a cache that grows",
    };
    return words[kind];
}

/* "leak  250.00 MiB a step at train.py:45 main; 1.22 GiB from 5 steps are alive; …" */
static void put_leak(struct buf *to, struct text_context *s, const struct leak_site *site)
{
    bool leak = site->class == LEAK_CLASS_LEAK;
    paint_on(&s->words, s->style, leak ? PAINT_BAD : PAINT_BOLD);
    buf_text(&s->words, leak ? "" : "perhaps ");
    human_bytes(&s->words, site->slope_bytes);
    buf_text(&s->words, " a step");
    paint_off(&s->words, s->style);
    buf_text(&s->words, " at ");
    escape_text(&s->words, site->site.culprit, s->style->ascii);
    if (!str_equal(site->site.culprit, site->site.owner)) {
        buf_text(&s->words, " (");
        escape_text(&s->words, site->site.owner, s->style->ascii);
        buf_char(&s->words, ')');
    }
    buf_text(&s->words, "; ");
    human_bytes(&s->words, (int64_t)site->bytes[s->leaks->moments - 1]);
    buf_format(&s->words, " from %u steps are alive", site->generations);
    buf_text(&s->words, words_of_kind(site->kind));
    put_words(to, s, leak ? "leak" : "suspect");
}

static void put_verdict(struct buf *to, struct text_context *s)
{
    const struct leaks *g = s->leaks;
    uint32_t growing = g->leaks + g->suspects;
    for (uint32_t i = 0; i < growing && i < LEAKS_TOLD; i++)
        put_leak(to, s, &g->site[i]);
    if (growing > LEAKS_TOLD) {
        buf_text(&s->words, "and ");
        human_counted(&s->words, growing - LEAKS_TOLD, "more site", s->style->ascii);
        buf_text(&s->words, growing == LEAKS_TOLD + 1 ? " that grows" : " that grow");
        put_words(to, s, "");
    }
    if (growing == 0) {
        paint_on(&s->words, s->style, PAINT_GOOD);
        buf_text(&s->words, "none");
        paint_off(&s->words, s->style);
        buf_format(&s->words, ": in %u steps no site keeps memory of every step",
                   g->steps.steps.count);
        put_words(to, s, "leak");
    }
}

/* "total  250.00 MiB a step; full in 83 steps" */
static void put_total(struct buf *to, struct text_context *s)
{
    const struct leaks *g = s->leaks;
    human_bytes(&s->words, g->slope_total_bytes);
    buf_text(&s->words, " a step in total");
    if (g->steps_to_full >= 0) {
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
    buf_text(&s->words, "the first step adds ");
    human_bytes(&s->words, g->first_step_bytes);
    for (const char *begin = ": ";; begin = ", ") {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < g->first_steps; i++)
            if (!done[i] && (best == UINT32_MAX || row[i].bytes > row[best].bytes))
                best = i;
        if (best == UINT32_MAX)
            break;
        done[best] = true;
        buf_format(&s->words, "%s%s ", begin, category_names[row[best].category]);
        human_bytes(&s->words, row[best].bytes);
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
    [LAST] = { COMPOSED("last step", true), 0 },
    [COUNT] = { COMPOSED("count", true), 0 },
    [STEPS] = { SHOWN(leak_site_row_type, struct leak_site, generations), 0 },
    [CATEGORY] = { SHOWN(leak_site_row_type, struct leak_site, category), 0 },
    [PLACE] = { SHOWN_IN(struct leak_site, site, site_row_type, struct site_ref, culprit), 16 },
    [OWNER] = { SHOWN_IN(struct leak_site, site, site_row_type, struct site_ref, owner), 16 },
};

static str leak_cell(struct text_context *s, const struct leak_site *site, enum leak_column column)
{
    uint32_t last = s->leaks->moments - 1;
    if (column == LAST)
        return cell_bytes(&s->cells, (int64_t)site->bytes[last]);
    if (column == COUNT)
        return cell_count(&s->cells, site->counts[last]);
    if (column == OWNER && str_equal(site->site.culprit, site->site.owner))
        return S("");
    return shown_cell(&s->cells, &all_columns[column], site);
}

/* What is as it always was is not worth a row. */
static bool worth_a_row(const struct leak_site *site)
{
    return site->class != LEAK_CLASS_STABLE || site->slope_bytes != 0;
}

static bool owners_differ(const struct leaks *g)
{
    for (uint32_t i = 0; i < g->sites; i++)
        if (worth_a_row(&g->site[i]) && !str_equal(g->site[i].site.culprit, g->site[i].site.owner))
            return true;
    return false;
}

static void put_table(struct buf *to, struct text_context *s, uint32_t most)
{
    const struct leaks *g = s->leaks;
    enum leak_column shown[COLUMNS];
    struct text_column column[COLUMNS];
    uint32_t columns = 0, rows = 0, left = 0;
    for (int i = 0; i < COLUMNS; i++) {
        bool wide = i == OWNER || i == COUNT || i == STEPS;
        if ((wide && s->style->width < WIDE) || (i == OWNER && !owners_differ(g)))
            continue;
        column[columns] = shown_heading(&all_columns[i]);
        shown[columns++] = (enum leak_column)i;
    }
    str *cell = cells_array(&s->cells, g->sites < most ? g->sites : most, columns);
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < g->sites; i++) {
        if (!worth_a_row(&g->site[i]))
            continue;
        if (rows == most) {
            left++;
            continue;
        }
        for (uint32_t k = 0; k < columns; k++)
            cell[(size_t)rows * columns + k] = leak_cell(s, &g->site[i], shown[k]);
        rows++;
    }
    if (rows == 0)
        return;
    struct text_table table = { column, columns, rows, cell, 0 };
    buf_char(to, '\n');
    text_table(to, s->style, &table);
    if (left == 0)
        return;
    struct buf words;
    buf_init(&words, 1 << 10);
    buf_format(&words, "and %u more site%s; --rows shows them", left, left == 1 ? "" : "s");
    text_wrap(to, s->style, buf_slice(&words), 0, 0);
    buf_end(&words, to);
}

static void put_next(struct buf *to, const struct text_context *s,
                     const struct devices_answer *answer)
{
    const struct leaks *g = s->leaks;
    char options[64] = " --at end --stacks";
    str path = answer->file.path;
    buf_char(to, '\n');
    if (g->leaks + g->suspects != 0)
        next_line(to, s->style, "next", "peak", path, options, "the stacks of what stayed");
    else
        next_line(to, s->style, "next", "steps", path, "", "which part of a step is highest");
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
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
    if (device == &answer->device[answer->devices - 1])
        put_next(to, &s, answer);
    buf_end(&s.words, to);
    cells_free(&s.cells, to);
}

void leaks_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    (void)several;
    device_answer_text(out, set, options, put_result);
}
