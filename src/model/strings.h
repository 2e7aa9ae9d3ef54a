/* strings.h - every string of a recording, each stored once.
 *
 * Two strings are equal exactly when their ids are.  Id 0 is the empty string and means "none".
 * Bytes are valid UTF-8: what was not became U+FFFD on the way in, and was counted there. */
#ifndef VRS_MODEL_STRINGS_H
#define VRS_MODEL_STRINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"

struct strings {
    struct table rows;
    uint32_t *offset; /* into bytes */
    uint32_t *length;
    VEC(char) bytes;
    struct idtab index;
};

extern const struct table_kind strings_kind;

/* With row 0; `max_bytes` bounds the bytes of all strings together.  False when out of memory,
 * and then to be freed as well. */
bool strings_init(struct strings *s, uint32_t max_bytes);
void strings_free(struct strings *s);
/* As strings_init leaves it; the room for bytes stays. */
void strings_clear(struct strings *s);

/* The id of `text`, old or new.  False when out of memory, ids or bytes; `*ret` is untouched. */
bool strings_intern(struct strings *s, str text, string_id *ret);

static inline str strings_text(const struct strings *s, string_id id)
{
    return (str){ s->bytes.at + s->offset[id.n], s->length[id.n] };
}

#endif
