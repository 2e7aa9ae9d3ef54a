/* fields_csv.c - the rows of an answer as comma-separated values.
 *
 * One line for each row of a list, the one that the kind has as its table where none is named, of
 * all files and devices; in front stand those members of the rows above that say whose it is.  A
 * column has the path of its member, "site.culprit"; what is a list of rows, a stack or a row of its
 * own behind a pointer has none.  Null is empty; a list of numbers has a space between them, one of texts "; ".  Why a
 * device has fewer rows than it might, or none, is told in notes: lines have no place for it. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/field.h"
#include "render/answer/answer.h"
#include "render/answer/envelope_fields.h"
#include "render/answer/fields.h"
#include "render/write/csv.h"
#include "render/write/out.h"

enum { DEPTH_MOST = 8 };

/* The way from an answer to the rows of the table: each step a member of the row before. */
struct table_path {
    const struct field *step[DEPTH_MOST];
    uint32_t steps;
};

struct csv_writer {
    struct out *out;
    const struct answer_kind *kind;
    struct table_path path;
    bool heading; /* names are written, not values */
    bool begun;   /* the line has a cell */
    uint32_t limit;
    struct buf prefix; /* of names: the members that hold this row */
    const struct render_options *options;
};

/* To the list of these rows; NULL: to the one that the kind has as its table. */
static bool find_table(const struct answer_kind *kind, const struct row_type *type,
                       const struct row_type *rows, struct table_path *path)
{
    for (uint32_t i = 0; type != NULL && i < type->fields; i++) {
        const struct field *f = &type->field[i];
        bool holds = f->type == FIELD_ROW || f->type == FIELD_INLINE || f->type == FIELD_ROWS;
        if (!holds || path->steps == DEPTH_MOST)
            continue;
        path->step[path->steps++] = f;
        const struct row_type *below = field_row_type(f, kind->result);
        bool found = rows == NULL ? f->table : f->type == FIELD_ROWS && below == rows;
        if (found || find_table(kind, below, rows, path))
            return true;
        path->steps--;
    }
    return false;
}

static void put_value(struct buf *to, enum field_type type, const struct field_value *v)
{
    switch (type) {
    case FIELD_BOOL:
        buf_text(to, v->number != 0 ? "true" : "false");
        break;
    case FIELD_UNSIGNED:
        buf_u64(to, v->number);
        break;
    case FIELD_SIGNED:
        buf_format(to, "%lld", (long long)v->integer);
        break;
    case FIELD_REAL:
        buf_format(to, "%.*f", v->decimals, v->real);
        break;
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_NAME:
        csv_text(to, v->text);
        break;
    case FIELD_SENTENCE:
    case FIELD_STACK:
    case FIELD_ROW:
    case FIELD_INLINE:
    case FIELD_FREE:
    case FIELD_ROWS:
    case FIELD_VALUES:
    case FIELD_STACKS:
        assert(!"no plain value");
        break;
    }
}

/* Texts may hold spaces: they stand in one cell, "; " between them. */
static void put_texts(const struct csv_writer *w, const struct field *f, const void *list,
                      uint32_t count)
{
    struct buf texts;
    buf_init(&texts, SIZE_MAX / 2);
    for (uint32_t i = 0; i < count; i++) {
        buf_text(&texts, i > 0 ? "; " : "");
        buf_str(&texts, field_element_of(f, list, i).text);
    }
    csv_text(&w->out->text, buf_slice(&texts));
    buf_end(&texts, &w->out->text);
}

static void put_values(const struct csv_writer *w, const struct field *f, const void *row,
                       const void *above)
{
    uint32_t count = 0;
    const void *list = field_list_of(f, row, above, &count);
    if (f->of == FIELD_TEXT) {
        put_texts(w, f, list, list == NULL ? 0 : count);
        return;
    }
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        struct field_value v = field_element_of(f, list, i);
        if (i > 0)
            buf_char(&w->out->text, ' ');
        if (v.known)
            put_value(&w->out->text, f->of, &v);
    }
}

static void put_sentence(const struct csv_writer *w, const struct field *f, const void *row)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    if (w->kind->sentence(&words, f, row))
        csv_text(&w->out->text, buf_slice(&words));
    w->out->text.failed = w->out->text.failed || words.failed;
    buf_free(&words);
}

/* A member as a cell, or `name` where names are written; `row` NULL: the row that would hold it is
 * null. */
static void put_cell(struct csv_writer *w, const struct field *f, const char *name, const void *row,
                     const void *above)
{
    struct buf *to = &w->out->text;
    if (w->begun)
        buf_char(to, ',');
    w->begun = true;
    if (w->heading) {
        buf_str(to, buf_slice(&w->prefix));
        buf_text(to, name);
    } else if (row != NULL && f->type == FIELD_SENTENCE) {
        put_sentence(w, f, row);
    } else if (row != NULL && f->type == FIELD_VALUES) {
        put_values(w, f, row, above);
    } else if (row != NULL) {
        struct field_value v = field_value_of(f, row, above, w->limit);
        if (v.known)
            put_value(to, f->type, &v);
    }
}

static bool is_cell(const struct field *f)
{
    bool listed = f->type == FIELD_SENTENCE || f->type == FIELD_VALUES;
    return listed || (field_is_plain(f->type) && f->type != FIELD_STACK);
}

/* The members of a row as cells, those of rows in place among them; with `place` only what says
 * whose the rows below are. */
static void put_cells(struct csv_writer *w, const struct row_type *type, const void *row,
                      const void *above, bool place)
{
    for (uint32_t i = 0; i < type->fields; i++) {
        const struct field *f = &type->field[i];
        if (is_cell(f) && (!place || f->place != NULL))
            put_cell(w, f, place ? f->place : f->name, row, above);
        /* A row elsewhere is one of a list of its own, unless its members are these. */
        if (f->type != FIELD_INLINE && (f->type != FIELD_ROW || f->pointer))
            continue;
        const void *inner = row == NULL ? NULL : field_row_of(f, row, above);
        size_t end = w->prefix.len;
        if (f->type == FIELD_ROW)
            buf_format(&w->prefix, "%s.", f->name);
        put_cells(w, field_row_type(f, w->kind->result), inner, row, place);
        w->prefix.len = end;
    }
}

/* The line of one row of the table.  `chain` has the rows from the answer down to it. */
static void put_line(struct csv_writer *w, const void *const *chain)
{
    const struct row_type *type = w->kind->document;
    w->begun = false;
    for (uint32_t i = 0; i <= w->path.steps; i++) {
        put_cells(w, type, chain[i], i == 0 ? NULL : chain[i - 1], i < w->path.steps);
        if (i < w->path.steps)
            type = field_row_type(w->path.step[i], w->kind->result);
    }
    buf_text(&w->out->text, CSV_LINE_END);
    out_flush(w->out, OUT_ENOUGH);
}

/* Notes ----------------------------------------------------------------------------------- */

/* Whose a row is, as its places say: "run.pickle, device 0". */
static void put_whose(struct buf *to, const struct row_type *type, const void *row,
                      const void *above)
{
    for (uint32_t i = 0; i < type->fields; i++) {
        const struct field *f = &type->field[i];
        if ((f->type == FIELD_ROW || f->type == FIELD_INLINE) && !f->pointer &&
            field_row_of(f, row, above) != NULL)
            put_whose(to, f->row, field_row_of(f, row, above), row);
        if (f->place == NULL || f->type == FIELD_NAME)
            continue;
        struct field_value v = field_value_of(f, row, above, UINT32_MAX);
        if (!v.known)
            continue;
        buf_text(to, to->len > 0 ? ", " : "");
        if (f->type == FIELD_UNSIGNED)
            buf_format(to, "%s %llu", f->name, (unsigned long long)v.number);
        else
            buf_str(to, v.text);
    }
}

/* What an answer says of the i-th row of the chain beside its result. */
static void say_reasons(struct csv_writer *w, const struct row_type *type, const void *const *chain,
                        uint32_t at, const struct field *f)
{
    uint32_t count = 0;
    const struct answer_reason *reason = field_list_of(f, chain[at], chain[at - 1], &count);
    for (uint32_t i = 0; reason != NULL && i < count; i++) {
        struct buf text;
        buf_init(&text, SIZE_MAX / 2);
        put_whose(&text, w->kind->document, chain[0], NULL);
        put_whose(&text, type, chain[at], chain[at - 1]);
        buf_text(&text, ": ");
        buf_str(&text, reason[i].text);
        buf_char(&text, '\0');
        if (!text.failed)
            w->options->note(w->options->note_arg, text.at);
        w->out->text.failed = w->out->text.failed || text.failed;
        buf_free(&text);
    }
}

static void say_notes(struct csv_writer *w, const struct row_type *type, const void *const *chain,
                      uint32_t at)
{
    for (uint32_t i = 0; w->options->note != NULL && i < type->fields; i++)
        if (type->field[i].type == FIELD_ROWS && type->field[i].row == &reason_row_type)
            say_reasons(w, type, chain, at, &type->field[i]);
}

/* Rows ------------------------------------------------------------------------------------ */

/* Follows the path from chain[step]. */
static void put_below(struct csv_writer *w, const void **chain, uint32_t step)
{
    if (step == w->path.steps) {
        put_line(w, chain);
        return;
    }
    const struct field *f = w->path.step[step];
    const void *above = step == 0 ? NULL : chain[step - 1];
    if (f->type != FIELD_ROWS) {
        chain[step + 1] = field_row_of(f, chain[step], above);
        if (chain[step + 1] != NULL)
            put_below(w, chain, step + 1);
        return;
    }
    uint32_t count = 0;
    const char *list = field_list_of(f, chain[step], above, &count);
    if (f->limited && count > w->limit)
        count = w->limit;
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        chain[step + 1] = list + i * field_row_type(f, w->kind->result)->size;
        if (!f->table)
            say_notes(w, field_row_type(f, w->kind->result), chain, step + 1);
        put_below(w, chain, step + 1);
    }
}

void answer_csv(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    (void)several;
    answer_csv_of(out, set, NULL, options);
}

void answer_csv_of(struct out *out, const struct answer_set *set, const struct row_type *rows,
                   const struct render_options *options)
{
    struct csv_writer w = { .out = out, .kind = set->kind, .options = options, .heading = true };
    const void *chain[DEPTH_MOST + 1] = { NULL };
    w.limit = options->rows == 0 ? UINT32_MAX : options->rows;
    if (!find_table(set->kind, set->kind->document, rows, &w.path)) {
        assert(!"each kind of answer has a table");
        return;
    }
    buf_init(&w.prefix, SIZE_MAX / 2);
    put_line(&w, chain);
    w.heading = false;
    for (uint32_t i = 0; i < set->count; i++) {
        chain[0] = (const char *)set->answers + i * set->kind->document->size;
        put_below(&w, chain, 0);
    }
    out->text.failed = out->text.failed || w.prefix.failed;
    buf_free(&w.prefix);
}
