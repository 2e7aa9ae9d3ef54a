/* column.c - delta encoding and byte planes (shuffle), of several columns in parallel. */
#include "render/page/column.h"

#include "base/arena.h"
#include "base/task_list.h"
#include "render/page/deflate.h"

const char *const page_type_names[PAGE_TYPES] = { "u8", "u16", "u32", "u64" };

enum {
    BLOCK_MOST = 24 << 20, /* then a new one: as base64 32 MiB */
    BITS_OF_BYTE = 8
};

static uint32_t bytes_of(enum page_type type)
{
    return 1u << type;
}

static bool add_block(struct page_chunks *blocks)
{
    struct buf block;
    buf_init(&block, SIZE_MAX / 2);
    return vec_push(&blocks->block, block);
}

static uint64_t changed(const struct page_column *column, uint64_t value, uint64_t before)
{
    uint32_t bits = bytes_of(column->type) * BITS_OF_BYTE;
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t delta = (value - before) & mask;
    if (column->change == PAGE_AS_IT_IS)
        return value;
    if (column->change == PAGE_DELTA)
        return delta;
    bool negative = delta > mask >> 1;
    return ((delta << 1) ^ (negative ? mask : 0)) & mask;
}

static uint64_t number_of(struct page_work *work, uint32_t row)
{
    uint64_t value = work->column->value(work->from, row);
    if (work->column->type != PAGE_U64 || value <= PAGE_NUMBER_MOST)
        return value;
    work->clipped++;
    return PAGE_NUMBER_MOST;
}

/* Fills all planes of the type, and finds what rows have in common.  Returns all bits that are set
 * in what is packed. */
static uint64_t fill_planes(struct page_work *work, uint8_t *planes)
{
    const struct page_column *column = work->column;
    uint32_t rows = work->rows, width = bytes_of(column->type);
    uint64_t before = 0, first = 0, ever = 0;
    work->ret->constant = true;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t value = number_of(work, i);
        first = i == 0 ? value : first;
        work->ret->constant = work->ret->constant && value == first;
        work->ret->max = value > work->ret->max ? value : work->ret->max;
        uint64_t put = changed(column, value, before);
        ever |= put;
        for (uint32_t p = 0; p < width; p++)
            planes[(size_t)p * rows + i] = (uint8_t)(put >> (BITS_OF_BYTE * p));
        before = value;
    }
    return ever;
}

static enum vrs_status pack_planes(struct page_work *work, uint8_t *at)
{
    struct page_packed *ret = work->ret;
    uint64_t ever = fill_planes(work, at);
    if (ret->constant)
        return VRS_OK;
    while (ret->planes < bytes_of(work->column->type) && ever >> (BITS_OF_BYTE * ret->planes) != 0)
        ret->planes++;
    struct page_planes planes = { at, work->rows, ret->planes };
    return page_deflate(&planes, &work->packed, &ret->shuffled, NULL);
}

static enum vrs_status pack_bytes(struct page_work *work)
{
    struct page_packed *ret = work->ret;
    ret->planes = 1;
    for (uint32_t i = 0; i < work->rows; i++)
        ret->max = work->bytes[i] > ret->max ? work->bytes[i] : ret->max;
    struct page_planes planes = { work->bytes, work->rows, 1 };
    return page_deflate(&planes, &work->packed, &ret->shuffled, NULL);
}

enum vrs_status page_pack(struct page_work *work)
{
    struct arena arena;
    if (work->rows == 0)
        return VRS_OK;
    if (work->bytes != NULL)
        return pack_bytes(work);
    arena_init(&arena, SIZE_MAX / 2);
    uint8_t *planes =
        arena_array(&arena, uint8_t, (size_t)work->rows * bytes_of(work->column->type));
    enum vrs_status status = planes == NULL ? vrs_no_memory(NULL) : pack_planes(work, planes);
    arena_free(&arena);
    return status;
}

static bool queue(struct page_chunks *blocks, struct page_work work, struct page_packed *ret)
{
    work.ret = ret;
    work.where = blocks->where;
    blocks->where = blocks->where == PAGE_NEW_BLOCK ? PAGE_LAST_BLOCK : blocks->where;
    *ret = (struct page_packed){ .column = work.column, .rows = work.rows };
    buf_init(&work.packed, SIZE_MAX / 2);
    return vec_push(&blocks->work, work);
}

bool page_queue(struct page_chunks *blocks, const struct page_column *column, const void *from,
                uint32_t rows, struct page_packed *ret)
{
    return queue(blocks, (struct page_work){ .column = column, .from = from, .rows = rows }, ret);
}

bool page_queue_bytes(struct page_chunks *blocks, const struct page_column *column,
                      const uint8_t *bytes, uint32_t len, struct page_packed *ret)
{
    return queue(blocks, (struct page_work){ .column = column, .bytes = bytes, .rows = len }, ret);
}

static struct buf *chunk_of(struct page_chunks *blocks, const struct page_work *work)
{
    struct buf *last = &blocks->block.at[blocks->block.len - 1];
    if (work->where == PAGE_COVER_BLOCK)
        return &blocks->block.at[0];
    if (work->where == PAGE_LAST_BLOCK && last->len < BLOCK_MOST)
        return last;
    return add_block(blocks) ? &blocks->block.at[blocks->block.len - 1] : NULL;
}

static enum vrs_status place(struct page_chunks *blocks, const struct page_work *work,
                             struct vrs_error *err)
{
    struct buf *block = chunk_of(blocks, work);
    if (block == NULL)
        return vrs_no_memory(err);
    blocks->clipped += work->clipped;
    if (work->packed.len == 0)
        return VRS_OK;
    work->ret->block = (uint32_t)(block - blocks->block.at);
    work->ret->at = block->len;
    work->ret->len = work->packed.len;
    buf_bytes(block, work->packed.at, work->packed.len);
    return block->failed ? vrs_no_memory(err) : VRS_OK;
}

static enum vrs_status pack_queued(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    struct page_chunks *blocks = arg;
    (void)thread;
    return page_pack(&blocks->work.at[i]) == VRS_OK ? VRS_OK : vrs_no_memory(err);
}

static void drop_work(struct page_chunks *blocks)
{
    for (uint32_t i = 0; i < blocks->work.len; i++)
        buf_free(&blocks->work.at[i].packed);
    vec_free(&blocks->work);
}

enum vrs_status page_pack_all(struct page_chunks *blocks, uint32_t threads, struct vrs_error *err)
{
    struct task_list list = { blocks->work.len, pack_queued, blocks };
    enum vrs_status status = task_list_run(threads, &list, err);
    for (uint32_t i = 0; i < blocks->work.len && status == VRS_OK; i++)
        status = place(blocks, &blocks->work.at[i], err);
    drop_work(blocks);
    return status;
}

bool page_chunks_init(struct page_chunks *blocks)
{
    *blocks = (struct page_chunks){
        .block.max = UINT32_MAX / 2,
        .work.max = UINT32_MAX / 2,
        .where = PAGE_COVER_BLOCK,
    };
    return add_block(blocks);
}

void page_chunks_free(struct page_chunks *blocks)
{
    for (uint32_t i = 0; i < blocks->block.len; i++)
        buf_free(&blocks->block.at[i]);
    vec_free(&blocks->block);
    drop_work(blocks);
}
