/* check_diff.c - what has grown against a baseline, line by line. */
#include "analysis/snapshot/check/check_diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#define MILLION 1e6

static const char *const stages[] = {
    [DIFF_EXACT] = "M0", [DIFF_LINE] = "M1",      [DIFF_FUNCTION] = "M2",
    [DIFF_FUZZY] = "M3", [DIFF_UNMATCHED] = "M4",
};

enum vrs_status check_diff_make(const struct proven_study *base, const struct proven_study *proven,
                                struct diff *ret, struct vrs_error *err)
{
    struct diff_options options = { .weight = DIFF_LIVE, .per = DIFF_PER_NOTHING };
    TRY(diff_range_at(base->study, DIFF_LIVE, NULL, &options.range[0], err));
    TRY(diff_range_at(proven->study, DIFF_LIVE, NULL, &options.range[1], err));
    return diff_compute(base, proven, &options, ret, err);
}

/* The rows of one line of the program, whoever calls it: limits on sites are of lines. */
struct line {
    str name;
    bool nameless;                /* memory whose place is not known */
    const struct diff_row *first; /* in the order of rows */
    const struct diff_row *most;  /* that has grown most */
    struct diff_amount of[2];
};

struct lines {
    struct line *at;
    uint32_t count;
};

/* Of the two sides, A first. */
static int64_t growth_of(const struct diff_amount *of)
{
    return (int64_t)(of[1].bytes - of[0].bytes);
}

static bool is_nameless(const struct diff_row *row)
{
    return row->has_stack[1] ? row->stack[1].n == 0 : !row->has_stack[0] || row->stack[0].n == 0;
}

static int by_name(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = str_compare(x->name, y->name);
    if (x->nameless != y->nameless)
        return x->nameless ? 1 : -1;
    return order != 0 ? order : (x->first > y->first) - (x->first < y->first);
}

static void add_amount(struct diff_amount *to, const struct diff_amount *from)
{
    to->bytes += from->bytes;
    to->count += from->count;
}

static void join(struct line *to, const struct line *from)
{
    add_amount(&to->of[0], &from->of[0]);
    add_amount(&to->of[1], &from->of[1]);
    if (growth_of(from->most->of) > growth_of(to->most->of))
        to->most = from->most;
}

/* In s->scratch. */
static enum vrs_status lines_make(const struct study *s, const struct diff *diff, struct lines *ret,
                                  struct vrs_error *err)
{
    struct lines l = { arena_array(s->scratch, struct line, diff->rows), 0 };
    if (l.at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < diff->rows; i++) {
        const struct diff_row *row = &diff->row[i];
        l.at[i] =
            (struct line){ row->name, is_nameless(row), row, row, { row->of[0], row->of[1] } };
    }
    if (diff->rows > 0)
        qsort(l.at, diff->rows, sizeof *l.at, by_name);
    for (uint32_t i = 0; i < diff->rows; i++) {
        struct line *last = l.count > 0 ? &l.at[l.count - 1] : NULL;
        if (last != NULL && last->nameless == l.at[i].nameless &&
            str_equal(last->name, l.at[i].name))
            join(last, &l.at[i]);
        else
            l.at[l.count++] = l.at[i];
    }
    *ret = l;
    return VRS_OK;
}

/* A line is new where the baseline has no stack of it; of one row the comparison knows more. */
static enum diff_change change_of(const struct line *line)
{
    bool single = line->of[0].count == line->most->of[0].count &&
                  line->of[1].count == line->most->of[1].count;
    if (single)
        return line->most->change;
    if (line->of[0].count == 0)
        return DIFF_NEW;
    if (line->of[1].count == 0)
        return DIFF_GONE;
    int64_t growth = growth_of(line->of);
    return growth > 0 ? DIFF_GROWN : growth < 0 ? DIFF_SHRUNK : DIFF_SAME;
}

static bool is_meant(const struct line *line, enum limit_kind kind)
{
    if (line->nameless)
        return kind == LIMIT_DELTA;
    return kind != LIMIT_NEW_SITE || change_of(line) == DIFF_NEW;
}

enum vrs_status check_diff_value(const struct study *base, const struct study *s,
                                 const struct diff *diff, enum limit_kind kind,
                                 struct check_value *ret, struct vrs_error *err)
{
    struct check_value *v = ret;
    struct lines lines;
    int64_t most = 0, nameless = 0;
    *v = (struct check_value){ .event = CHECK_NO_EVENT, .at = CHECK_NO_EVENT };
    if (!base->stacked || !s->stacked) {
        v->reason = "needs_stacks";
        v->text = base->stacked ? "the recording has no stacks" : "the baseline has no stacks";
        return VRS_OK;
    }
    TRY(lines_make(s, diff, &lines, err));
    for (uint32_t i = 0; i < lines.count; i++) {
        const struct line *line = &lines.at[i];
        int64_t growth = growth_of(line->of);
        if (is_meant(line, kind) && growth > most)
            most = growth;
    }
    for (uint32_t i = 0; i < diff->rows; i++)
        if (is_nameless(&diff->row[i]) && growth_of(diff->row[i].of) > 0)
            nameless = (int64_t)((uint64_t)nameless + (uint64_t)growth_of(diff->row[i].of));
    v->known = true;
    v->lower = most;
    v->upper = nameless > most ? nameless : most;
    v->source = CHECK_DERIVED;
    v->at = diff->end[1].at_event;
    v->event = s->traced ? v->at : CHECK_NO_EVENT;
    if (v->upper > v->lower) {
        v->reason = "no_stack";
        v->text = "some of the growth has no stack, so its site is not known";
    }
    return VRS_OK;
}

/* Puts a line among the largest that were found; of equal ones the first row stays first. */
static void offer(const struct line *line, const struct line **largest, uint32_t *count)
{
    uint32_t at = *count;
    int64_t growth = growth_of(line->of);
    while (at > 0 &&
           (growth_of(largest[at - 1]->of) < growth ||
            (growth_of(largest[at - 1]->of) == growth && largest[at - 1]->first > line->first)))
        at--;
    if (at == CHECK_DIFF_ROWS)
        return;
    if (*count < CHECK_DIFF_ROWS)
        ++*count;
    for (uint32_t k = *count - 1; k > at; k--)
        largest[k] = largest[k - 1];
    largest[at] = line;
}

static enum vrs_status keep_row(const struct study *s, const struct line *from,
                                struct check_diff_row *to, struct vrs_error *err)
{
    *to = (struct check_diff_row){
        .name = arena_copy(s->keep, from->name),
        .stage = stages[from->most->stage],
        .status = diff_change_names[change_of(from)],
        .score = from->most->stage == DIFF_FUZZY ? from->most->score / MILLION : -1,
        .a_bytes = (int64_t)from->of[0].bytes,
        .b_bytes = (int64_t)from->of[1].bytes,
        .delta_bytes = growth_of(from->of),
    };
    return to->name.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status check_diff_rows(const struct study *s, const struct diff *diff,
                                enum limit_kind kind, str user_root, struct check_row *row,
                                struct vrs_error *err)
{
    const struct line *largest[CHECK_DIFF_ROWS];
    struct lines lines;
    uint32_t count = 0;
    bool sites = kind != LIMIT_DELTA; /* which has its own */
    TRY(lines_make(s, diff, &lines, err));
    for (uint32_t i = 0; i < lines.count; i++)
        if (is_meant(&lines.at[i], kind) && growth_of(lines.at[i].of) > 0)
            offer(&lines.at[i], largest, &count);
    row->diff = arena_array(s->keep, struct check_diff_row, CHECK_DIFF_ROWS);
    if (sites)
        row->site = arena_array(s->keep, struct check_site, CHECK_SITES);
    if (row->diff == NULL || row->site == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const struct line *from = largest[i];
        TRY(keep_row(s, from, &row->diff[row->diffs++], err));
        if (sites && from->most->has_stack[1])
            TRY(check_site_of(s, from->most->stack[1], from->of[1].bytes, user_root,
                              &row->site[row->sites++], err));
    }
    return VRS_OK;
}
