/* strings.c - interning of strings by their bytes. */
#include "model/strings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"

static const struct column columns[] = {
    { "offset", offsetof(struct strings, offset), COLUMN_U32 },
    { "length", offsetof(struct strings, length), COLUMN_U32 },
};
const struct table_kind strings_kind = { "strings", columns, 2 };

bool strings_init(struct strings *s, uint32_t max_bytes)
{
    *s = (struct strings){ .rows.max = UINT32_MAX - 1, .bytes.max = max_bytes };
    /* Row 0; one byte of room keeps `bytes.at` from being NULL for empty texts. */
    if (!table_reserve(s, &strings_kind, 1) || !vec_reserve(&s->bytes, 1))
        return false;
    s->offset[0] = s->length[0] = 0;
    s->rows.len = 1;
    return true;
}

void strings_free(struct strings *s)
{
    table_free(s, &strings_kind);
    vec_free(&s->bytes);
    idtab_free(&s->index);
}

void strings_clear(struct strings *s)
{
    s->rows.len = 1;
    s->bytes.len = 0;
    idtab_free(&s->index);
}

bool strings_intern(struct strings *s, str text, string_id *ret)
{
    if (text.len == 0) {
        ret->n = 0;
        return true;
    }
    if (text.len > s->bytes.max || !idtab_reserve(&s->index))
        return false;
    uint64_t hash = hash_bytes(text.ptr, text.len);
    for (uint32_t at = idtab_first(&s->index, hash); s->index.slot[at].id != 0;
         at = idtab_next(&s->index, hash, at)) {
        string_id id = { s->index.slot[at].id };
        if (str_equal(strings_text(s, id), text)) {
            *ret = id;
            return true;
        }
    }

    uint32_t len = (uint32_t)text.len;
    if (!table_reserve(s, &strings_kind, 1) || !vec_reserve(&s->bytes, len))
        return false;
    string_id id = { s->rows.len++ };
    s->offset[id.n] = s->bytes.len;
    s->length[id.n] = len;
    memcpy(s->bytes.at + s->bytes.len, text.ptr, len);
    s->bytes.len += len;
    idtab_put(&s->index, hash, id.n);
    *ret = id;
    return true;
}
