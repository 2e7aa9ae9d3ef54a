/* column.c - what the library hands out as plain values: columns, strings, sizes, its version. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "allocator/replay/block_sizes.h"
#include "allocator/replay/prove.h"
#include "api/column.h"
#include "api/file.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/size.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"
#include "render/write/human.h"
#include "vramscope/vramscope.h"

static const enum vrs_type types[] = {
    [COLUMN_U8] = VRS_U8,   [COLUMN_U16] = VRS_U16, [COLUMN_U32] = VRS_U32,
    [COLUMN_U64] = VRS_U64, [COLUMN_I64] = VRS_I64, [COLUMN_F64] = VRS_F64,
};

struct vrs_span column_span(const void *table, const struct column *column)
{
    const struct table *rows = table;
    const void *const *data = (const void *)((const char *)table + column->offset);
    return (struct vrs_span){ *data, rows->len, types[column->type], NULL };
}

bool column_is_named(const struct table_kind *table, const struct column *column, str name)
{
    size_t dot = str_find(name, S("."));
    if (dot == name.len)
        return false;
    str first = { name.ptr, dot }, rest = { name.ptr + dot + 1, name.len - dot - 1 };
    return str_equal(str_from(table->name), first) && str_equal(str_from(column->name), rest);
}

/* The tables of a recording, and behind them the one that its proof has. */
static const struct table_kind *table_at(uint32_t i)
{
    return i < recording_table_count ? recording_tables[i].kind : &block_sizes_kind;
}

/* The i-th column through all tables; NULL behind the last. */
static const struct column *column_at(uint32_t i, uint32_t *ret_table)
{
    for (uint32_t t = 0; t <= recording_table_count; t++) {
        const struct table_kind *kind = table_at(t);
        if (i < kind->columns) {
            *ret_table = t;
            return &kind->column[i];
        }
        i -= kind->columns;
    }
    return NULL;
}

/* Column and table of a name as in "events.size"; NULL: there is none such. */
static const struct column *column_named(str name, uint32_t *ret_table)
{
    const struct column *column;
    for (uint32_t i = 0; (column = column_at(i, ret_table)) != NULL; i++)
        if (column_is_named(table_at(*ret_table), column, name))
            return column;
    return NULL;
}

enum vrs_status vrs_column(const struct vrs_recording *recording, const char *name,
                           struct vrs_span *ret, struct vrs_error *err)
{
    static const struct block_sizes none = { .bytes = NULL };
    const struct proof *proof = &recording->proving->proof;
    uint32_t t = 0;
    const struct column *column = column_named(str_from(name), &t);
    if (column == NULL)
        return vrs_fail(err, VRS_USAGE, "there is no column \"%.80s\"; vrs_column_name lists all",
                        name);
    if (t < recording_table_count) {
        *ret = column_span((const char *)recording->model + recording_tables[t].offset, column);
        return VRS_OK;
    }
    if (proof->rounded_only) {
        *ret = column_span(&none, column);
        return VRS_OK;
    }
    TRY(recording_prove(recording, err));
    *ret = column_span(&proof->block_sizes, column);
    return VRS_OK;
}

const char *vrs_column_table(uint32_t i)
{
    uint32_t table = 0;
    return column_at(i, &table) == NULL ? NULL : table_at(table)->name;
}

const char *vrs_column_name(uint32_t i)
{
    uint32_t ignored = 0;
    const struct column *column = column_at(i, &ignored);
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

void vrs_size_text(int64_t bytes, char ret[VRS_SIZE_TEXT])
{
    struct buf words;
    buf_init(&words, VRS_SIZE_TEXT - 1);
    human_bytes(&words, bytes);
    /* buf_slice of nothing has no bytes to copy from. */
    str text = words.failed || words.len == 0 ? S("") : buf_slice(&words);
    memcpy(ret, text.ptr, text.len);
    ret[text.len] = '\0';
    buf_free(&words);
}

bool vrs_share(const char *text, uint64_t *ret)
{
    return share_read(str_from(text), ret);
}

bool vrs_duration(const char *text, int64_t *ret)
{
    return duration_read(str_from(text), ret);
}

const char *vrs_version(void)
{
    return VRAMSCOPE_VERSION;
}
