/* column.c - what the library hands out as plain values: columns, strings, sizes, its version. */
#include "api/file.h"
#include "base/fail.h"
#include "base/size.h"

static const enum vrs_type types[] = {
    [COLUMN_U8] = VRS_U8,   [COLUMN_U16] = VRS_U16, [COLUMN_U32] = VRS_U32,
    [COLUMN_U64] = VRS_U64, [COLUMN_I64] = VRS_I64, [COLUMN_F64] = VRS_F64,
};

static struct vrs_span span_of(const struct recording *r, const struct table_place *place,
                               const struct column *column)
{
    const char *at = (const char *)r + place->offset;
    const struct table *table = (const void *)at;
    const void *const *data = (const void *)(at + column->offset);
    return (struct vrs_span){ *data, table->len, types[column->type], NULL };
}

enum vrs_status vrs_column(const struct vrs_recording *recording, const char *name,
                           struct vrs_span *ret, struct vrs_error *err)
{
    str wanted = str_from(name);
    size_t dot = str_find(wanted, S("."));
    for (uint32_t t = 0; dot < wanted.len && t < recording_table_count; t++) {
        const struct table_place *place = &recording_tables[t];
        if (!str_equal(str_from(place->kind->name), (str){ wanted.ptr, dot }))
            continue;
        str rest = { wanted.ptr + dot + 1, wanted.len - dot - 1 };
        for (uint32_t c = 0; c < place->kind->columns; c++) {
            if (str_equal(str_from(place->kind->column[c].name), rest)) {
                if (place->kind == &block_sizes_kind)
                    TRY(recording_prove(recording, err));
                *ret = span_of(recording->model, place, &place->kind->column[c]);
                return VRS_OK;
            }
        }
    }
    return vrs_fail(err, VRS_USAGE, "there is no column \"%.80s\"; vrs_column_name has all", name);
}

/* The i-th column through all tables; NULL behind the last. */
static const struct column *column_at(uint32_t i, const struct table_place **ret_place)
{
    for (uint32_t t = 0; t < recording_table_count; t++) {
        const struct table_kind *kind = recording_tables[t].kind;
        if (i < kind->columns) {
            *ret_place = &recording_tables[t];
            return &kind->column[i];
        }
        i -= kind->columns;
    }
    return NULL;
}

const char *vrs_column_table(uint32_t i)
{
    const struct table_place *place = NULL;
    return column_at(i, &place) == NULL ? NULL : place->kind->name;
}

const char *vrs_column_name(uint32_t i)
{
    const struct table_place *place = NULL;
    const struct column *column = column_at(i, &place);
    return column == NULL ? NULL : column->name;
}

const char *vrs_string(const struct vrs_recording *recording, uint32_t id, size_t *ret_len)
{
    const struct strings *s = &recording->model->code.strings;
    if (id >= s->rows.len) {
        *ret_len = 0;
        return NULL;
    }
    str text = strings_text(s, (string_id){ id });
    *ret_len = text.len;
    return text.ptr;
}

bool vrs_size(const char *text, uint64_t *ret)
{
    return size_read(str_from(text), ret);
}

const char *vrs_version(void)
{
    return VRAMSCOPE_VERSION;
}
