/* identical.h - whether two recordings are the same to the last id. */
#ifndef TESTS_UNIT_IDENTICAL_H
#define TESTS_UNIT_IDENTICAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/table.h"
#include "model/recording.h"

/* The table whose rows differ, or NULL. */
static inline const char *not_identical(const struct recording *a, const struct recording *b)
{
    for (uint32_t t = 0; t < recording_table_count; t++) {
        const struct table_place *place = &recording_tables[t];
        const char *of_a = (const char *)a + place->offset, *of_b = (const char *)b + place->offset;
        struct table rows_a, rows_b;
        memcpy(&rows_a, of_a, sizeof rows_a);
        memcpy(&rows_b, of_b, sizeof rows_b);
        if (rows_a.len != rows_b.len)
            return place->kind->name;
        for (uint32_t c = 0; c < place->kind->columns && rows_a.len != 0; c++) {
            const struct column *column = &place->kind->column[c];
            const void *column_a, *column_b;
            memcpy(&column_a, of_a + column->offset, sizeof column_a);
            memcpy(&column_b, of_b + column->offset, sizeof column_b);
            if (memcmp(column_a, column_b, rows_a.len * column_width(column->type)) != 0)
                return place->kind->name;
        }
    }
    bool same_text =
        a->code.strings.bytes.len == b->code.strings.bytes.len &&
        memcmp(a->code.strings.bytes.at, b->code.strings.bytes.at, a->code.strings.bytes.len) == 0;
    if (!same_text)
        return "text";
    const struct origin *o = &a->origin, *p = &b->origin;
    bool same_origin = o->size_bytes == p->size_bytes && o->read_bytes == p->read_bytes &&
                       o->complete == p->complete && o->cut_offset == p->cut_offset &&
                       o->cut_part == p->cut_part && o->trailing_bytes == p->trailing_bytes &&
                       o->bad_utf8 == p->bad_utf8 && o->cut_stacks == p->cut_stacks &&
                       o->repeated_keys == p->repeated_keys;
    return same_origin ? NULL : "origin";
}

#endif
