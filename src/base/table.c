/* table.c - what all tables of columns share. */
#include "base/table.h"

#include <string.h>

#include "base/pages.h"
#include "base/vec.h"

size_t column_width(enum column_type type)
{
    static const uint8_t width[] = {
        [COLUMN_U8] = 1,  [COLUMN_U16] = 2, [COLUMN_U32] = 4,
        [COLUMN_U64] = 8, [COLUMN_I64] = 8, [COLUMN_F64] = 8,
    };
    return width[type];
}

static void **pointer_of(void *table, const struct column *column)
{
    return (void **)(void *)((char *)table + column->offset);
}

/* A table of so many rows is worth the large page that each column may leave half empty. */
enum { LARGE_ROWS = 1 << 20 };

bool table_reserve(void *table, const struct table_kind *kind, uint32_t more)
{
    struct table *t = table;
    if (t->cap - t->len >= more)
        return true;
    uint32_t common = UINT32_MAX;
    for (uint32_t i = 0; i < kind->columns; i++) {
        uint32_t cap = t->cap;
        const struct column *c = &kind->column[i];
        if (!vec_grow(pointer_of(table, c), &cap, t->len, more, t->max, column_width(c->type)))
            return false;
        if (cap >= LARGE_ROWS)
            pages_expect_full(*pointer_of(table, c), (size_t)cap * column_width(c->type));
        /* Where memory is short, columns may get different room. */
        common = cap < common ? cap : common;
    }
    t->cap = common;
    return true;
}

/* Below this, growing costs less than it could save: files of a set get their memory from each
 * other, columns of their own from the system. */
enum { EXPECT_ROWS_MIN = 1 << 16 };

void table_expect(void *table, const struct table_kind *kind, uint64_t rows, uint64_t likely)
{
    struct table *t = table;
    uint32_t cap = rows < t->max ? (uint32_t)rows : t->max;
    if (cap < EXPECT_ROWS_MIN || cap <= t->cap)
        return;
    for (uint32_t i = 0; i < kind->columns; i++) {
        const struct column *c = &kind->column[i];
        if (!vec_resize(pointer_of(table, c), cap, column_width(c->type)))
            return; /* columns that have more room than `cap` do no harm */
        pages_expect_full(*pointer_of(table, c),
                          (size_t)(likely < cap ? likely : cap) * column_width(c->type));
    }
    t->cap = cap;
}

void table_trim(void *table, const struct table_kind *kind)
{
    struct table *t = table;
    if (t->len == 0) {
        table_free(table, kind);
        return;
    }
    for (uint32_t i = 0; i < kind->columns; i++) {
        const struct column *c = &kind->column[i];
        (void)vec_resize(pointer_of(table, c), t->len, column_width(c->type));
    }
    t->cap = t->len;
}

static bool gather_column(void **at, size_t width, const uint32_t *row, uint32_t count)
{
    void *gathered = NULL;
    if (!vec_resize(&gathered, count, width))
        return false;
    const char *from = *at;
    char *to = gathered;
    for (uint32_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * width, from + (size_t)row[i] * width, width);
    (void)vec_resize(at, 0, width);
    *at = gathered;
    return true;
}

bool table_gather(void *table, const struct table_kind *kind, const uint32_t *row, uint32_t count)
{
    struct table *t = table;
    if (count == 0) {
        table_free(table, kind);
        return true;
    }
    for (uint32_t i = 0; i < kind->columns; i++) {
        const struct column *c = &kind->column[i];
        if (!gather_column(pointer_of(table, c), column_width(c->type), row, count))
            return false;
        /* A failure in a later column must leave a length that every column has. */
        if (count < t->len)
            t->len = count;
    }
    t->len = t->cap = count;
    return true;
}

void table_free(void *table, const struct table_kind *kind)
{
    struct table *t = table;
    for (uint32_t i = 0; i < kind->columns; i++)
        (void)vec_resize(pointer_of(table, &kind->column[i]), 0, 1);
    t->len = t->cap = 0;
}
