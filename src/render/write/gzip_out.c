/* gzip_out.c - one gzip member without a name or a time, so that equal input gives equal output. */
#define ZLIB_CONST
#include "render/write/gzip_out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

#include "base/buf.h"
#include "base/vec.h"

/* Packs all input there is. */
static void pack(struct gzip_out *g, int flush)
{
    z_stream *z = g->state;
    char bytes[16384];
    do {
        z->next_out = (Bytef *)bytes;
        z->avail_out = sizeof bytes;
        deflate(z, flush);
        buf_bytes(&g->packed->text, bytes, sizeof bytes - z->avail_out);
        out_flush(g->packed, OUT_ENOUGH);
    } while (z->avail_out == 0);
}

static bool write_plain(void *arg, const char *bytes, size_t len)
{
    struct gzip_out *g = arg;
    z_stream *z = g->state;
    while (len > 0) {
        uInt part = len < OUT_ENOUGH ? (uInt)len : OUT_ENOUGH;
        z->next_in = (const Bytef *)bytes;
        z->avail_in = part;
        pack(g, Z_NO_FLUSH);
        bytes += part;
        len -= part;
    }
    return !g->packed->refused && !g->packed->text.failed;
}

enum vrs_status gzip_out_begin(struct gzip_out *g, struct out *packed, struct vrs_error *err)
{
    *g = (struct gzip_out){ .packed = packed };
    if (!vec_resize(&g->state, 1, sizeof(z_stream)))
        return vrs_no_memory(err);
    z_stream *z = g->state;
    *z = (z_stream){ .zalloc = vec_lend, .zfree = vec_give_back };
    /* 15: the largest window there is; + 16: gzip, not zlib; 8: the memory zlib usually takes. */
    if (deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        vec_resize(&g->state, 0, 0);
        return vrs_no_memory(err);
    }
    g->plain = (struct out){ .write = write_plain, .arg = g };
    buf_init(&g->plain.text, SIZE_MAX / 2);
    return VRS_OK;
}

enum vrs_status gzip_out_end(struct gzip_out *g, struct vrs_error *err)
{
    z_stream *z = g->state;
    out_flush(&g->plain, 0);
    z->avail_in = 0;
    pack(g, Z_FINISH);
    deflateEnd(z);
    vec_resize(&g->state, 0, 0);
    bool failed = g->plain.text.failed;
    buf_free(&g->plain.text);
    return failed ? vrs_no_memory(err) : VRS_OK;
}
