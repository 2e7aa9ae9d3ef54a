/* check_text.c - one line for each limit, with what exceeds it under it, for people. */
#include <stdio.h>

#include "render/check_words.h"
#include "render/escape.h"
#include "render/next.h"
#include "render/text.h"

enum { COLUMNS = 5, LINES_MOST = 2 + CHECK_SITES + CHECK_DIFF_ROWS, NAME_LEAST = 24 };

/* The last column is left out where a line has no room for it. */
static const struct text_column columns[COLUMNS] = {
    { "", false, false, 0, false },         { "limit", false, true, NAME_LEAST, false },
    { "value", true, false, 0, false },     { "allowed", true, false, 0, false },
    { "evidence", false, false, 0, false },
};

/* Cells of one device's table, row by row. */
struct cells {
    const struct style *style;
    struct arena *arena;
    struct buf room;
    str *cell;
    uint32_t columns, rows;
};

static str keep(struct cells *c)
{
    return text_keep(c->arena, &c->room, 0);
}

static void put_outcome(struct cells *c, const struct check_row *row, str *cell)
{
    static const enum paint paints[] = { PAINT_GOOD, PAINT_BAD, PAINT_BOLD };
    paint_on(&c->room, c->style, paints[row->outcome]);
    buf_text(&c->room, check_outcome_words[row->outcome]);
    paint_off(&c->room, c->style);
    *cell = keep(c);
}

/* A line under a row: its first cell has ptr NULL. */
static void end_line(struct cells *c)
{
    c->cell[(size_t)c->rows++ * c->columns + 1] = keep(c);
}

static void put_under(struct cells *c, const struct check_row *row)
{
    for (uint32_t i = 0; i < check_sites_shown(row); i++) {
        buf_text(&c->room, "      ");
        check_site_words(&c->room, &row->site[i], c->style->ascii);
        end_line(c);
    }
    for (uint32_t i = 0; i < row->diffs; i++) {
        buf_text(&c->room, "      ");
        check_diff_words(&c->room, &row->diff[i], c->style->ascii);
        end_line(c);
    }
}

/* Where its column is left out the evidence stands on a line of its own. */
static void put_row(struct cells *c, const struct check_row *row)
{
    str *cell = c->cell + (size_t)c->rows++ * c->columns;
    put_outcome(c, row, &cell[0]);
    escape_text(&c->room, row->name, c->style->ascii);
    cell[1] = keep(c);
    check_value_words(&c->room, row);
    cell[2] = keep(c);
    check_limit_words(&c->room, row);
    cell[3] = keep(c);
    bool beside = c->columns == COLUMNS;
    if (!beside)
        buf_text(&c->room, "      ");
    size_t from = c->room.len;
    check_evidence_words(&c->room, row);
    bool any = c->room.len > from;
    if (beside && !any)
        buf_char(&c->room, '-');
    if (beside)
        cell[4] = keep(c);
    else if (any)
        end_line(c);
    c->room.len = 0;
    put_under(c, row);
}

static void put_rows(struct cells *c, const struct check *check, uint32_t count)
{
    c->columns = count;
    c->rows = 0;
    for (uint32_t i = 0; i < check->rows; i++)
        put_row(c, &check->row[i]);
}

static void put_table(struct buf *to, const struct style *style, const struct check *check)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    struct cells c = { .style = style, .arena = &arena };
    buf_init(&c.room, SIZE_MAX / 2);
    size_t room = (size_t)check->rows * LINES_MOST * COLUMNS;
    c.cell = arena_array(&arena, str, room);
    if (c.cell != NULL)
        put_rows(&c, check, COLUMNS);
    struct text_table table = { columns, COLUMNS, c.rows, c.cell, 0 };
    if (c.cell != NULL && !c.room.failed && text_table_width(&table) > style->width) {
        c.cell = arena_array(&arena, str, room);
        if (c.cell != NULL)
            put_rows(&c, check, COLUMNS - 1);
        table = (struct text_table){ columns, COLUMNS - 1, c.rows, c.cell, 0 };
    }
    to->failed = to->failed || c.room.failed || c.cell == NULL;
    if (!to->failed)
        text_table(to, style, &table);
    buf_free(&c.room);
    arena_free(&arena);
}

static void put_device(struct buf *to, const struct style *style, const struct study_answer *answer,
                       const struct study_device *device)
{
    const struct check *check = device->result;
    paint_on(to, style, PAINT_BOLD);
    check_place_words(to, answer, device, style->ascii);
    paint_off(to, style);
    buf_format(to, ", trust %c%s\n", device->trust.grade,
               answer->file.origin.complete ? "" : ", INCOMPLETE");
    if (device->trust.grade > 'B')
        envelope_trust_text(to, style, &device->trust);
    if (check != NULL && check->rows > 0) {
        put_table(to, style, check);
        return;
    }
    for (uint32_t i = 0; i < device->reasons; i++) {
        escape_text(to, device->reason[i].text, style->ascii);
        buf_char(to, '\n');
    }
    if (check != NULL)
        buf_text(to, "no limit is of this device\n");
}

/* Which verb tells more of a limit; others are told more by who was alive. */
static const struct {
    const char *verb, *meaning;
} told_by[LIMIT_KINDS] = {
    [LIMIT_GROWTH] = { "leaks", "what grows, and where from" },
    [LIMIT_STRANDED] = { "fragments", "the blocks that pin it" },
    [LIMIT_CATEGORY] = { "categories", "all of them, with the rules" },
    [LIMIT_OOM] = { "oom", "why the request failed" },
};

/* The command that tells more of the first limit that is exceeded. */
static void put_next(struct buf *to, const struct style *style, const struct study_answer *answer,
                     const struct study_device *device, const struct check_row *row)
{
    const struct check *check = device->result;
    const char *verb = told_by[row->kind].verb, *meaning = told_by[row->kind].meaning;
    char options[80] = "";
    int len = 0;
    if (verb == NULL && row->event != CHECK_NO_EVENT && row->event >= 0)
        len = snprintf(options, sizeof options, " --at %lld", (long long)row->event);
    if (answer->devices > 1)
        snprintf(options + len, sizeof options - (size_t)len, " --device %u",
                 (unsigned)device->name.number);
    next_line(to, style, "next", verb == NULL ? "peak" : verb,
              check->path_cut ? S("FILE") : answer->file.path, options,
              verb == NULL ? "who held the memory" : meaning);
}

static void put_first_failure(struct buf *to, const struct style *style,
                              const struct answer_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->study[i].devices; k++) {
            const struct check *check = set->study[i].device[k].result;
            uint32_t row = 0;
            while (check != NULL && row < check->rows && check->row[row].outcome != CHECK_FAIL)
                row++;
            if (check == NULL || row == check->rows)
                continue;
            put_next(to, style, &set->study[i], &set->study[i].device[k], &check->row[row]);
            return;
        }
}

void check_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    struct buf *to = &out->text;
    (void)several;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct study_answer *answer = &set->study[i];
        for (uint32_t k = 0; k < answer->devices; k++) {
            put_device(to, &options->style, answer, &answer->device[k]);
            buf_char(to, '\n');
            out_flush(out, OUT_ENOUGH);
        }
        if (answer->devices > 0)
            continue;
        envelope_name(to, &options->style, &answer->file);
        buf_text(to, "\nINCONCLUSIVE  the recording has no device to check\n\n");
    }
    struct check_tally tally = check_tally_of(set);
    check_tally_words(to, &tally);
    buf_char(to, '\n');
    put_first_failure(to, &options->style, set);
}
