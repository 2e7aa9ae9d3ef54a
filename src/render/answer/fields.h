/* fields.h - rows as JSON, and as cells of tables, by the description of their members. */
#ifndef VRS_RENDER_ANSWER_FIELDS_H
#define VRS_RENDER_ANSWER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/field.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/document.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/json.h"
#include "render/write/out.h"
#include "render/write/text.h"

/* What rows are written with. */
struct fields_json {
    struct json *j;
    struct out *out; /* is flushed between the rows of a list; NULL: is not */
    const struct answer_kind *kind;
    struct stack_numbers *numbers; /* of stacks in sight; NULL: rows have none */
    uint32_t limit;                /* rows of limited lists; UINT32_MAX: all */
};

/* The members of a row, into an object that is open.  `above` is the row that holds it. */
void fields_members(const struct fields_json *w, const struct row_type *type, const void *row,
                    const void *above);

/* The member `key`, or an element where that is NULL: a row as an object. */
void fields_object(const struct fields_json *w, const char *key, const struct row_type *type,
                   const void *row, const void *above);

/* An answer of a kind whose document is described: vramscope.VERB/1, or of several VERB-set/1. */
answer_renderer answer_json;

/* The rows of an answer's table, see fields_csv.c. */
answer_renderer answer_csv;
/* The same of the list of these rows in place of the one that the kind has as its table; NULL: of
 * that. */
void answer_csv_of(struct out *out, const struct answer_set *set, const struct row_type *rows,
                   const struct render_options *options);

/* A field of a row as a cell: bytes, shares and counts as people read them; "-" for null. */
str fields_cell(struct cells *cells, const struct field *f, const void *row, const void *above);

/* A column of a table for people: a member of the row, or of a row in it, with the heading of its
 * field; or cells that the verb composes of several. */
struct shown_column {
    const struct row_type *type; /* NULL: composed */
    size_t row, member;          /* offsets: of the row in the row, of the member in it */
    uint32_t flexible;           /* gives way down to so many columns; 0: never */
    enum text_cut cut;           /* where it gives way: see text.h */
    const char *heading;         /* of a composed one, or in the place of the field's */
    bool right;                  /* as numbers are */
};

/* { SHOWN(…), flexible } */
#define SHOWN(row_type, outer, place) .type = &(row_type), .member = offsetof(outer, place)
#define SHOWN_IN(outer, place, row_type, inner, name)                                              \
    .type = &(row_type), .row = offsetof(outer, place), .member = offsetof(inner, name)
#define COMPOSED(title, to_right) .heading = (title), .right = (to_right), .member = 0

/* The column as a table of text has it. */
struct text_column shown_heading(const struct shown_column *column);
/* Its cell in a row; not of a composed one. */
str shown_cell(struct cells *cells, const struct shown_column *column, const void *row);

/* A cell that the verb makes: of a composed column, or in the place of the member's own.  False:
 * it is the member's. */
typedef bool shown_make(void *arg, const void *row, uint32_t column, str *ret);

/* Writes the lines that stand under a row into the text of `cells`; none where it writes nothing.
 */
typedef void shown_under(void *arg, const void *row, struct cells *cells);

enum { SHOWN_COLUMNS_MOST = 16 };

/* Rows under columns. */
struct shown_table {
    const struct shown_column *column;
    uint32_t columns;
    uint32_t hidden; /* bits of columns that are left out */
    const void *row; /* the first of them */
    size_t row_bytes;
    uint32_t rows;
    const str *last; /* cells of rows below them, `columns` of each */
    uint32_t lasts, indent;
    shown_make *make;   /* NULL: each cell is its member's */
    shown_under *under; /* NULL: nothing stands under rows */
    void *arg;
};

/* Rows of an array in a struct shown_table. */
#define SHOWN_ROWS(first, count) .row = (first), .row_bytes = sizeof *(first), .rows = (count)

void shown_table(struct buf *to, const struct style *style, struct cells *cells,
                 const struct shown_table *table);

#endif
