/* counted.c - between an input and its reader. */
#include "format/counted.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "format/input/window.h"
#include "model/ids.h"

enum { PROGRESS_BYTES = 1 << 20 };

enum vrs_status counted_tell(struct counted *c, uint64_t done_bytes, struct vrs_error *err)
{
    bool is_near =
        c->has_told && done_bytes >= c->told_at && done_bytes - c->told_at < PROGRESS_BYTES;
    if (c->progress == NULL || is_near)
        return VRS_OK;
    c->has_told = true;
    c->told_at = done_bytes;
    c->told_bytes = done_bytes > c->told_bytes ? done_bytes : c->told_bytes;
    if (!c->progress(c->progress_arg, c->told_bytes, known_or_0(c->size_bytes)))
        return vrs_fail(err, VRS_IO, "cancelled");
    return VRS_OK;
}

static enum vrs_status read_counted(void *self, uint8_t *to, size_t len, size_t *ret,
                                   struct vrs_error *err)
{
    struct counted *c = self;
    TRY(c->input.read(c->input.self, to, len, ret, err));
    c->done_bytes += *ret;
    return counted_tell(c, c->done_bytes, err);
}

static enum vrs_status read_counted_at(void *self, uint64_t offset, uint8_t *to, size_t len,
                                      size_t *ret, struct vrs_error *err)
{
    const struct counted *c = self;
    return c->input.read_at(c->input.self, offset, to, len, ret, err);
}

/* Bytes that were read ahead are done too. */
static enum vrs_status skip_counted(void *self, uint64_t len, struct vrs_error *err)
{
    struct counted *c = self;
    TRY(c->input.skip(c->input.self, len, err));
    c->done_bytes += len;
    return counted_tell(c, c->done_bytes, err);
}

struct source source_of_counted(struct counted *c)
{
    if (c->input.read_at == NULL)
        return (struct source){ .read = read_counted, .self = c };
    return (struct source){ read_counted, c, read_counted_at, skip_counted };
}
