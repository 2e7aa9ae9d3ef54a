/* png.c - chunks, a palette where it suffices, rows through zlib. */
#define ZLIB_CONST
#include "render/write/png.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <zlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"

enum { COLOURS_MOST = 256, SLOTS = 1024, PART = 1 << 16 };

/* The colours of a picture, by a table of their places plus 1. */
struct colours {
    uint32_t at[COLOURS_MOST];
    uint16_t slot[SLOTS];
    uint32_t count;
};

struct writing {
    struct out *out;
    const struct png *png;
    struct colours colours;
    bool indexed;
    z_stream z;
    uint8_t packed[PART];
    uint8_t *row; /* a filter byte and the pixels */
};

static void put_u32(uint8_t to[4], uint32_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(n >> (24 - 8 * i));
}

static void put_chunk(struct out *out, const char kind[5], const void *bytes, uint32_t len)
{
    uint8_t number[4];
    uLong sum = crc32(crc32(0, NULL, 0), (const Bytef *)kind, 4);
    if (len > 0)
        sum = crc32(sum, bytes, len);
    put_u32(number, len);
    buf_bytes(&out->text, number, 4);
    buf_bytes(&out->text, kind, 4);
    buf_bytes(&out->text, bytes, len);
    put_u32(number, (uint32_t)sum);
    buf_bytes(&out->text, number, 4);
    out_flush(out, OUT_ENOUGH);
}

/* The place of a colour, which may be new; COLOURS_MOST where there is no room. */
static uint32_t colour_place(struct colours *c, uint32_t colour)
{
    for (uint32_t at = (uint32_t)hash_u64(colour) % SLOTS;; at = (at + 1) % SLOTS) {
        if (c->slot[at] != 0 && c->at[c->slot[at] - 1] == colour)
            return c->slot[at] - 1u;
        if (c->slot[at] != 0)
            continue;
        if (c->count == COLOURS_MOST)
            return COLOURS_MOST;
        c->at[c->count++] = colour;
        c->slot[at] = (uint16_t)c->count;
        return c->count - 1;
    }
}

static void find_colours(struct writing *w)
{
    size_t pixels = (size_t)w->png->W * w->png->H;
    w->indexed = true;
    for (size_t i = 0; i < pixels && w->indexed; i++)
        if (i == 0 || w->png->pixels[i] != w->png->pixels[i - 1])
            w->indexed = colour_place(&w->colours, w->png->pixels[i]) < COLOURS_MOST;
}

static void put_head(struct writing *w)
{
    uint8_t head[13] = { 0 }, colours[3 * COLOURS_MOST];
    buf_bytes(&w->out->text, "\211PNG\r\n\032\n", 8);
    put_u32(head, w->png->W);
    put_u32(head + 4, w->png->H);
    head[8] = 8;
    head[9] = w->indexed ? 3 : 2;
    put_chunk(w->out, "IHDR", head, sizeof head);
    for (uint32_t i = 0; i < w->colours.count; i++)
        for (uint32_t k = 0; k < 3; k++)
            colours[3 * i + k] = (uint8_t)(w->colours.at[i] >> (16 - 8 * k));
    if (w->indexed)
        put_chunk(w->out, "PLTE", colours, 3 * w->colours.count);
}

/* iTXt: key, no compression, no language, no translated key. */
static void put_texts(struct writing *w)
{
    for (uint32_t i = 0; i < w->png->texts; i++) {
        const struct png_text *t = &w->png->text[i];
        struct buf chunk;
        buf_init(&chunk, INT32_MAX);
        buf_bytes(&chunk, t->key, strlen(t->key) + 1);
        buf_bytes(&chunk, "\0\0\0\0", 4);
        buf_str(&chunk, t->text);
        if (!chunk.failed)
            put_chunk(w->out, "iTXt", chunk.at, (uint32_t)chunk.len);
        buf_end(&chunk, &w->out->text);
    }
}

/* Packs all input there is; full parts become chunks. */
static void pack(struct writing *w, int flush)
{
    bool full = true;
    while (full) {
        bool ended = deflate(&w->z, flush) == Z_STREAM_END;
        full = w->z.avail_out == 0 && !ended;
        if (!full && !ended)
            break;
        put_chunk(w->out, "IDAT", w->packed, PART - w->z.avail_out);
        w->z.next_out = w->packed;
        w->z.avail_out = PART;
    }
}

/* The difference to the pixel before in the same row; of places in a palette it says nothing. */
static void pack_row(struct writing *w, uint32_t y)
{
    const uint32_t *pixel = w->png->pixels + (size_t)y * w->png->W;
    size_t len = 1;
    w->row[0] = w->indexed ? 0 : 1;
    for (uint32_t x = 0, before = 0; x < w->png->W; before = pixel[x++]) {
        if (w->indexed) {
            bool same = x > 0 && pixel[x] == before;
            w->row[len] = same ? w->row[len - 1] : (uint8_t)colour_place(&w->colours, pixel[x]);
            len++;
            continue;
        }
        for (int shift = 16; shift >= 0; shift -= 8)
            w->row[len++] = (uint8_t)((pixel[x] >> shift) - (before >> shift));
    }
    w->z.next_in = w->row;
    w->z.avail_in = (uInt)len;
    pack(w, Z_NO_FLUSH);
}

static enum vrs_status write_all(struct writing *w, struct vrs_error *err)
{
    find_colours(w);
    w->z = (z_stream){ .zalloc = vec_lend, .zfree = vec_give_back };
    if (deflateInit(&w->z, Z_DEFAULT_COMPRESSION) != Z_OK)
        return vrs_no_memory(err);
    put_head(w);
    put_texts(w);
    w->z.next_out = w->packed;
    w->z.avail_out = PART;
    for (uint32_t y = 0; y < w->png->H; y++)
        pack_row(w, y);
    w->z.avail_in = 0;
    pack(w, Z_FINISH);
    deflateEnd(&w->z);
    put_chunk(w->out, "IEND", NULL, 0);
    return VRS_OK;
}

enum vrs_status png_write(struct out *out, const struct png *png, struct vrs_error *err)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    struct writing *w = arena_take(&arena, sizeof *w);
    enum vrs_status status = VRS_NOMEM;
    if (w != NULL) {
        w->out = out;
        w->png = png;
        w->row = arena_take_array(&arena, png->W + (size_t)1, 3);
    }
    if (w == NULL || w->row == NULL)
        status = vrs_no_memory(err);
    else
        status = write_all(w, err);
    arena_free(&arena);
    return status;
}
