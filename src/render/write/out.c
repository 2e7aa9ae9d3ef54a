/* out.c - hands the buffered text over to the sink. */
#include "render/write/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static bool append(void *arg, const char *bytes, size_t len)
{
    buf_bytes(arg, bytes, len);
    return true;
}

struct out out_into(struct buf *to)
{
    struct out out = { .write = append, .arg = to };
    buf_init(&out.text, SIZE_MAX / 2);
    return out;
}

void out_into_end(struct out *out)
{
    out_flush(out, 0);
    buf_end(&out->text, out->arg);
}

void out_flush(struct out *out, size_t least)
{
    if (out->refused) {
        out->text.len = 0; /* what follows is not wanted either */
        return;
    }
    if (out->text.failed || out->text.len < least || out->text.len == 0)
        return;
    out->refused = !out->write(out->arg, out->text.at, out->text.len);
    out->text.len = 0;
}

enum vrs_status out_finish(struct out *out, enum vrs_status status, struct vrs_error *err)
{
    if (status == VRS_OK)
        out_flush(out, 0);
    bool memory = out->text.failed, refused = out->refused;
    buf_free(&out->text);
    TRY(status);
    if (memory)
        return vrs_no_memory(err);
    return refused ? vrs_fail(err, VRS_IO, "the output could not be written") : VRS_OK;
}
