/* unpack.c - decodes a packed column: inflate, byte planes, deltas. */
#define ZLIB_CONST
#include "render/page/unpack.h"

#include <string.h>
#include <zlib.h>

enum { PART_MOST = 1 << 30, BITS_OF_BYTE = 8 };

/* Of a stream that was made here all that fails is memory. */
static bool inflate_all(const uint8_t *from, size_t len, uint8_t *to, size_t room)
{
    z_stream z = { .zalloc = vec_lend, .zfree = vec_give_back };
    if (inflateInit(&z) != Z_OK)
        return false;
    int status = Z_OK;
    while (status == Z_OK) {
        z.next_in = from;
        z.avail_in = len < PART_MOST ? (uInt)len : PART_MOST;
        z.next_out = to;
        z.avail_out = room < PART_MOST ? (uInt)room : PART_MOST;
        status = inflate(&z, Z_NO_FLUSH);
        len -= (size_t)(z.next_in - from);
        room -= (size_t)(z.next_out - to);
        from = z.next_in;
        to = z.next_out;
    }
    inflateEnd(&z);
    return status == Z_STREAM_END && room == 0;
}

static uint64_t unchanged(const struct page_packed *p, uint64_t put, uint64_t before)
{
    uint32_t bits = BITS_OF_BYTE << p->column->type;
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (p->column->change == PAGE_AS_IT_IS)
        return put;
    if (p->column->change == PAGE_ZIGZAG)
        put = (put >> 1) ^ (0 - (put & 1));
    return (before + put) & mask;
}

static void read_planes(const struct page_packed *p, const uint8_t *at, uint64_t *to)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < p->rows; i++) {
        uint64_t put = 0;
        for (uint32_t k = 0; k < p->planes; k++) {
            size_t place = p->shuffled ? (size_t)k * p->rows + i : (size_t)i * p->planes + k;
            put |= (uint64_t)at[place] << (BITS_OF_BYTE * k);
        }
        to[i] = before = unchanged(p, put, before);
    }
}

enum vrs_status page_unpack(const struct page_packed *column, const struct page_chunks *blocks,
                            struct arena *arena, uint64_t **ret, struct vrs_error *err)
{
    uint64_t *numbers = arena_array(arena, uint64_t, column->rows);
    size_t room = (size_t)column->rows * column->planes;
    struct arena own;
    if (numbers == NULL)
        return vrs_no_memory(err);
    if (column->constant || column->rows == 0) {
        for (uint32_t i = 0; i < column->rows; i++)
            numbers[i] = column->max;
        *ret = numbers;
        return VRS_OK;
    }
    arena_init(&own, SIZE_MAX / 2);
    uint8_t *planes = arena_array(&own, uint8_t, room);
    const char *from = blocks->block.at[column->block].at + column->at;
    bool ok =
        planes != NULL && inflate_all((const uint8_t *)from, (size_t)column->len, planes, room);
    if (ok)
        read_planes(column, planes, numbers);
    arena_free(&own);
    *ret = ok ? numbers : *ret;
    return ok ? VRS_OK : vrs_no_memory(err);
}

static uint64_t number_of(const void *from, uint32_t row)
{
    return ((const uint64_t *)from)[row];
}

enum vrs_status page_repack(const struct page_packed *column, const uint64_t *numbers,
                            uint32_t rows, struct page_packed *ret, struct buf *to,
                            struct vrs_error *err)
{
    struct page_column copy = *column->column;
    copy.value = number_of;
    struct page_packed made = { .column = column->column, .rows = rows, .block = column->block };
    struct page_work work = { .column = &copy, .from = numbers, .rows = rows, .ret = &made };
    buf_init(&work.packed, SIZE_MAX / 2);
    enum vrs_status status = page_pack(&work);
    made.at = column->at;
    made.len = work.packed.len;
    buf_bytes(to, work.packed.at, work.packed.len);
    buf_free(&work.packed);
    if (status != VRS_OK || to->failed)
        return vrs_no_memory(err);
    *ret = made;
    return VRS_OK;
}
