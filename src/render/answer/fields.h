/* fields.h - rows as JSON, and as cells of tables, by the description of their members. */
#ifndef VRS_RENDER_ANSWER_FIELDS_H
#define VRS_RENDER_ANSWER_FIELDS_H

#include "base/field.h"
#include "render/answer/document.h"
#include "render/write/cells.h"

/* What rows are written with. */
struct fields_json {
    struct json *j;
    struct out *out; /* is flushed between the rows of a list */
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

/* A field of a row as a cell: bytes, shares and counts as people read them; "-" for null. */
str fields_cell(struct cells *cells, const struct field *f, const void *row, const void *above);

/* A column of a table for people: a member of the row, or of a row in it, with the heading of its
 * field; or cells that the verb composes of several. */
struct shown_column {
    const struct row_type *type; /* NULL: composed */
    size_t row, member;          /* offsets: of the row in the row, of the member in it */
    const char *heading;         /* of a composed one */
    bool right;
    uint32_t flexible; /* gives way down to so many columns; 0: never */
};

#define SHOWN(row_type, type, member) &(row_type), 0, offsetof(type, member), NULL, false
#define SHOWN_IN(outer, place, row_type, type, member)                                             \
    &(row_type), offsetof(outer, place), offsetof(type, member), NULL, false
#define COMPOSED(heading, right) NULL, 0, 0, heading, right

/* The column as a table of text has it. */
struct text_column shown_heading(const struct shown_column *column);
/* Its cell in a row; not of a composed one. */
str shown_cell(struct cells *cells, const struct shown_column *column, const void *row);

#endif
