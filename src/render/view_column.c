/* view_column.c - differences, planes, zlib. */
#define ZLIB_CONST
#include "render/view_column.h"

#include <zlib.h>

#include "base/arena.h"

const char *const view_type_names[VIEW_TYPES] = { "u8", "u16", "u32", "u64" };

enum {
    BLOCK_MOST = 24 << 20, /* then a new one: as base64 32 MiB */
    /* Of 1 to 9 the one with which a page of a million allocations is within its 10 MB at the least
     * time: docs/measurements.md. */
    LEVEL = 4,
    BITS_OF_BYTE = 8
};

static uint32_t bytes_of(enum view_type type)
{
    return 1u << type;
}

bool view_blocks_init(struct view_blocks *blocks)
{
    *blocks = (struct view_blocks){ .block.max = UINT32_MAX / 2 };
    return view_blocks_next(blocks);
}

void view_blocks_free(struct view_blocks *blocks)
{
    for (uint32_t i = 0; i < blocks->block.len; i++)
        buf_free(&blocks->block.at[i]);
    vec_free(&blocks->block);
}

bool view_blocks_next(struct view_blocks *blocks)
{
    struct buf block;
    buf_init(&block, SIZE_MAX / 2);
    blocks->at = blocks->block.len;
    return vec_push(&blocks->block, block);
}

void view_blocks_cover(struct view_blocks *blocks)
{
    blocks->at = 0;
}

/* Appends one zlib stream of `len` bytes. */
static enum vrs_status deflate_to(struct buf *to, const uint8_t *bytes, size_t len,
                                  struct vrs_error *err)
{
    char packed[16384];
    z_stream z = { .zalloc = vec_lend, .zfree = vec_give_back };
    if (deflateInit(&z, LEVEL) != Z_OK)
        return vrs_no_memory(err);
    int ended = Z_OK;
    while (ended == Z_OK) {
        uInt part = len < sizeof packed ? (uInt)len : (uInt)sizeof packed;
        if (z.avail_in == 0) {
            z.next_in = bytes;
            z.avail_in = part;
            bytes += part;
            len -= part;
        }
        z.next_out = (Bytef *)packed;
        z.avail_out = sizeof packed;
        ended = deflate(&z, len == 0 ? Z_FINISH : Z_NO_FLUSH);
        buf_bytes(to, packed, sizeof packed - z.avail_out);
    }
    deflateEnd(&z);
    return ended == Z_STREAM_END && !to->failed ? VRS_OK : vrs_no_memory(err);
}

static enum vrs_status put_bytes(struct view_blocks *blocks, const uint8_t *bytes, size_t len,
                                 struct view_packed *ret, struct vrs_error *err)
{
    if (blocks->block.at[blocks->at].len >= BLOCK_MOST && !view_blocks_next(blocks))
        return vrs_no_memory(err);
    struct buf *block = &blocks->block.at[blocks->at];
    ret->block = blocks->at;
    ret->at = block->len;
    TRY(deflate_to(block, bytes, len, err));
    ret->len = block->len - ret->at;
    return VRS_OK;
}

static uint64_t changed(const struct view_column *column, uint64_t value, uint64_t before)
{
    uint32_t bits = bytes_of(column->type) * BITS_OF_BYTE;
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t delta = (value - before) & mask;
    if (column->change == VIEW_AS_IT_IS)
        return value;
    if (column->change == VIEW_DELTA)
        return delta;
    bool negative = (delta >> (bits - 1) & 1) != 0;
    return ((delta << 1) ^ (negative ? mask : 0)) & mask;
}

/* Numbers as they are packed, and what they have in common. */
struct look {
    bool same;
    uint64_t first, max, ever; /* `ever`: all bits that are set after the change */
};

static uint64_t number_of(const struct view_column *column, const void *from, uint32_t row,
                          uint64_t *clipped)
{
    uint64_t value = column->value(from, row);
    if (column->type != VIEW_U64 || value <= VIEW_NUMBER_MOST)
        return value;
    ++*clipped;
    return VIEW_NUMBER_MOST;
}

static struct look look_at(struct view_blocks *blocks, const struct view_column *column,
                           const void *from, uint32_t rows)
{
    struct look look = { .same = true };
    uint64_t before = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t value = number_of(column, from, i, &blocks->clipped);
        look.first = i == 0 ? value : look.first;
        look.same = look.same && value == look.first;
        look.max = value > look.max ? value : look.max;
        look.ever |= changed(column, value, before);
        before = value;
    }
    return look;
}

enum vrs_status view_pack(struct view_blocks *blocks, const struct view_column *column,
                          const void *from, uint32_t rows, struct view_packed *ret,
                          struct vrs_error *err)
{
    struct look look = look_at(blocks, column, from, rows);
    *ret = (struct view_packed){ .column = column, .rows = rows, .max = look.max };
    ret->constant = look.same;
    if (rows == 0 || ret->constant)
        return VRS_OK;
    while (look.ever >> (BITS_OF_BYTE * ret->planes) != 0) {
        ret->planes++;
        if (ret->planes == bytes_of(column->type))
            break;
    }
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    uint8_t *planes = arena_array(&arena, uint8_t, (size_t)rows * ret->planes);
    uint64_t before = 0, ignored = 0;
    for (uint32_t i = 0; planes != NULL && i < rows; i++) {
        uint64_t value = number_of(column, from, i, &ignored);
        uint64_t put = changed(column, value, before);
        for (uint32_t p = 0; p < ret->planes; p++)
            planes[(size_t)p * rows + i] = (uint8_t)(put >> (BITS_OF_BYTE * p));
        before = value;
    }
    enum vrs_status status = planes == NULL
                                 ? vrs_no_memory(err)
                                 : put_bytes(blocks, planes, (size_t)rows * ret->planes, ret, err);
    arena_free(&arena);
    return status;
}

enum vrs_status view_pack_bytes(struct view_blocks *blocks, const struct view_column *column,
                                const void *bytes, uint32_t len, struct view_packed *ret,
                                struct vrs_error *err)
{
    const uint8_t *at = bytes;
    *ret = (struct view_packed){ .column = column, .rows = len, .planes = 1 };
    for (uint32_t i = 0; i < len; i++)
        ret->max = at[i] > ret->max ? at[i] : ret->max;
    return len == 0 ? VRS_OK : put_bytes(blocks, bytes, len, ret, err);
}
