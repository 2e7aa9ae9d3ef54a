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

/* A column of a table that shows a field: its heading, to the right where it is a number. */
struct text_column fields_column(const struct field *f);

#endif
