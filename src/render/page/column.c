/* column.c - delta encoding and byte planes (shuffle), of several columns in parallel. */
#include "render/page/column.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/* Rows of one column on their way. */
struct packing {
    const struct page_work *work;
    uint32_t first, rows;
    uint32_t busy_from, busy; /* counted from the first */
    struct page_packed *ret;
    struct buf *to;
};

static uint64_t number_of(const struct packing *p, uint32_t row, uint64_t *clipped)
{
    uint64_t value = p->work->column->value(p->work->from, row);
    if (p->work->column->type != PAGE_U64 || value <= PAGE_NUMBER_MOST)
        return value;
    ++*clipped;
    return PAGE_NUMBER_MOST;
}

/* Fills all planes of the type, and finds what rows have in common.  Returns all bits that are set
 * in what is packed. */
static uint64_t fill_planes(const struct packing *p, uint8_t *planes)
{
    const struct page_column *column = p->work->column;
    struct page_packed *ret = p->ret;
    uint32_t rows = p->rows, width = bytes_of(column->type);
    uint64_t ignored = 0, first = 0, ever = 0;
    uint64_t before = p->first == 0 ? 0 : number_of(p, p->first - 1, &ignored);
    ret->constant = true;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t value = number_of(p, p->first + i, &ret->clipped);
        first = i == 0 ? value : first;
        ret->constant = ret->constant && value == first;
        ret->max = value > ret->max ? value : ret->max;
        uint64_t put = changed(column, value, before);
        ever |= put;
        for (uint32_t k = 0; k < width; k++)
            planes[(size_t)k * rows + i] = (uint8_t)(put >> (BITS_OF_BYTE * k));
        before = value;
    }
    return ever;
}

static uint32_t rows_of(const struct page_work *work)
{
    return work->bytes != NULL ? work->len : work->table->rows;
}

static uint32_t busy_rows(const struct page_work *work)
{
    return rows_of(work) - work->table->idle_before - work->table->idle_behind;
}

static bool is_idle(const struct page_work *work)
{
    return busy_rows(work) < rows_of(work);
}

/* Without the highest that are all zero. */
static uint32_t planes_of(const struct page_work *work, uint64_t ever)
{
    uint32_t planes = 0;
    while (planes < bytes_of(work->column->type) && ever >> (BITS_OF_BYTE * planes) != 0)
        planes++;
    return planes;
}

static enum vrs_status pack_planes(const struct packing *p, uint8_t *at, struct vrs_error *err)
{
    struct page_packed *ret = p->ret;
    uint64_t ever = fill_planes(p, at);
    if (ret->constant)
        return VRS_OK;
    ret->left_out = p->work->unwanted;
    if (ret->left_out)
        return VRS_OK;
    ret->planes = planes_of(p->work, ever);
    struct page_planes planes = {
        at, p->rows, ret->planes, p->busy_from, p->busy, is_idle(p->work)
    };
    return page_deflate(&planes, p->to, &ret->shuffled, err);
}

static enum vrs_status pack_bytes(const struct packing *p, struct vrs_error *err)
{
    struct page_packed *ret = p->ret;
    const uint8_t *bytes = p->work->bytes;
    ret->planes = 1;
    for (uint32_t i = 0; i < p->rows; i++)
        ret->max = bytes[i] > ret->max ? bytes[i] : ret->max;
    struct page_planes planes = { bytes, p->rows, 1, 0, p->rows, false };
    return page_deflate(&planes, p->to, &ret->shuffled, err);
}

static enum vrs_status pack_rows(const struct packing *p, struct vrs_error *err)
{
    struct arena arena;
    *p->ret = (struct page_packed){ .column = p->work->column, .rows = p->rows };
    if (p->rows == 0)
        return VRS_OK;
    if (p->work->bytes != NULL)
        return pack_bytes(p, err);
    arena_init(&arena, SIZE_MAX / 2);
    uint8_t *planes =
        arena_array(&arena, uint8_t, (size_t)p->rows * bytes_of(p->work->column->type));
    enum vrs_status status = planes == NULL ? vrs_no_memory(err) : pack_planes(p, planes, err);
    arena_free(&arena);
    return status;
}

static bool queue(struct page_chunks *chunks, struct page_work work)
{
    struct page_table *table = work.table;
    work.place = table->columns;
    work.where = chunks->where;
    work.share = chunks->share;
    chunks->where = chunks->where == PAGE_NEW_BLOCK ? PAGE_LAST_BLOCK : chunks->where;
    table->column[table->columns++] = (struct page_packed){ .column = work.column };
    buf_init(&work.packed, SIZE_MAX / 2);
    return vec_push(&chunks->work, work);
}

bool page_queue(struct page_chunks *chunks, struct page_table *table,
                const struct page_column *column, const void *from)
{
    return queue(chunks, (struct page_work){ .column = column, .from = from, .table = table });
}

bool page_queue_bytes(struct page_chunks *chunks, struct page_table *table,
                      const struct page_column *column, const uint8_t *bytes, uint32_t len)
{
    return queue(
        chunks, (struct page_work){ .column = column, .bytes = bytes, .len = len, .table = table });
}

static enum vrs_status pack_work(struct page_work *work, struct vrs_error *err)
{
    buf_free(&work->packed);
    buf_init(&work->packed, SIZE_MAX / 2);
    struct packing p = {
        .work = work,
        .rows = rows_of(work),
        .busy_from = work->table->idle_before,
        .busy = busy_rows(work),
        .ret = &work->table->column[work->place],
        .to = &work->packed,
    };
    TRY(pack_rows(&p, err));
    work->whole = work->packed.len;
    work->done = true;
    return VRS_OK;
}

struct pack_list {
    struct page_chunks *chunks;
    enum page_share share;
};

static enum vrs_status pack_queued(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    const struct pack_list *list = arg;
    struct page_work *work = &list->chunks->work.at[i];
    (void)thread;
    if ((work->share & list->share) == 0 || (work->share == PAGE_FIXED && work->done))
        return VRS_OK;
    return pack_work(work, err);
}

enum vrs_status page_pack(struct page_chunks *chunks, enum page_share share, uint32_t threads,
                          struct vrs_error *err)
{
    struct pack_list list = { chunks, share };
    return task_list_run(threads, &(struct task_list){ chunks->work.len, pack_queued, &list }, err);
}

void page_leave_out(struct page_work *work)
{
    work->unwanted = true;
    if (work->packed.len == 0)
        return;
    work->table->column[work->place].left_out = true;
    buf_free(&work->packed);
}

/* Samples. */

/* Of no more rows than the runs have, all are packed. */
enum { RUNS = 5, ALL = RUNS * PAGE_RUN };

/* With or without the idle rows. */
static enum vrs_status pack_apart(const struct page_work *work, bool idle, uint64_t *ret,
                                  struct vrs_error *err)
{
    struct page_packed ignored;
    struct buf packed;
    uint32_t before = work->table->idle_before, busy = busy_rows(work);
    buf_init(&packed, SIZE_MAX / 2);
    struct packing p = { work, before, busy, 0, busy, &ignored, &packed };
    if (idle)
        p = (struct packing){ work, 0, rows_of(work), before, busy, &ignored, &packed };
    enum vrs_status status = pack_rows(&p, err);
    size_t len = packed.len;
    buf_free(&packed);
    TRY(status);
    *ret = len;
    return VRS_OK;
}

/* Runs all over the busy rows, with the planes that one of them needs; one with one value has
 * nothing to say. */
static enum vrs_status fill_runs(const struct page_work *work, struct arena *arena,
                                 struct page_planes *runs, struct vrs_error *err)
{
    uint64_t apart = (busy_rows(work) - PAGE_RUN) / (RUNS - 1), ever = 0;
    bool constant = true;
    for (uint32_t i = 0; i < RUNS; i++) {
        uint32_t first = work->table->idle_before + (uint32_t)(i * apart);
        struct page_packed column = { .column = work->column };
        struct packing p = { work, first, PAGE_RUN, 0, PAGE_RUN, &column, NULL };
        uint8_t *at = arena_array(arena, uint8_t, (size_t)PAGE_RUN * bytes_of(work->column->type));
        if (at == NULL)
            return vrs_no_memory(err);
        ever |= fill_planes(&p, at);
        constant = constant && column.constant;
        runs[i] = (struct page_planes){ at, PAGE_RUN, 0, 0, PAGE_RUN, is_idle(work) };
    }
    for (uint32_t i = 0; i < RUNS; i++)
        runs[i].count = constant ? 0 : planes_of(work, ever);
    return VRS_OK;
}

static enum vrs_status sample_runs(const struct page_work *work, uint64_t *ret,
                                   struct vrs_error *err)
{
    struct page_planes runs[RUNS];
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    uint64_t bytes = 0;
    enum vrs_status status = fill_runs(work, &arena, runs, err);
    if (status == VRS_OK && runs[0].count > 0)
        status = page_deflate_sample(runs, RUNS, busy_rows(work), &bytes, err);
    arena_free(&arena);
    TRY(status);
    *ret = bytes;
    return VRS_OK;
}

enum vrs_status page_sample(const struct page_work *work, uint64_t *ret, struct vrs_error *err)
{
    /* Rows of zeros that zlib packs into a byte, and bytes for a number among them. */
    enum { ZEROS_PER_BYTE = 256, BYTES_PER_NUMBER = 6 };
    uint32_t rows = rows_of(work), busy = busy_rows(work);
    assert(work->bytes == NULL); /* `value` is asked for runs of rows */
    if (rows <= ALL)
        return pack_apart(work, true, ret, err);
    uint64_t bytes;
    TRY(busy <= ALL ? pack_apart(work, false, &bytes, err) : sample_runs(work, &bytes, err));
    *ret = bytes + (rows - busy) / ZEROS_PER_BYTE +
           (uint64_t)work->table->idle_numbers * BYTES_PER_NUMBER;
    return VRS_OK;
}

uint64_t page_unpacked(const struct page_work *work)
{
    return (uint64_t)rows_of(work) * bytes_of(work->column->type);
}

/* Places. */

static struct page_block *block_of(struct page_chunks *chunks, enum page_where where)
{
    if (where == PAGE_COVER_BLOCK)
        return &chunks->block.at[0];
    if (where == PAGE_NEW_BLOCK || chunks->block.at[chunks->block.len - 1].whole >= BLOCK_MOST)
        if (!vec_push(&chunks->block, (struct page_block){ 0 }))
            return NULL;
    return &chunks->block.at[chunks->block.len - 1];
}

enum vrs_status page_place(struct page_chunks *chunks, struct vrs_error *err)
{
    chunks->block.len = 0;
    if (!vec_push(&chunks->block, (struct page_block){ 0 }))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < chunks->work.len; i++) {
        const struct page_work *work = &chunks->work.at[i];
        struct page_packed *column = &work->table->column[work->place];
        struct page_block *block = block_of(chunks, work->where);
        if (block == NULL)
            return vrs_no_memory(err);
        column->block = (uint32_t)(block - chunks->block.at);
        column->at = block->len;
        column->len = work->packed.len;
        block->len += work->packed.len;
        block->whole += work->whole;
    }
    return VRS_OK;
}

size_t page_block_read(const struct page_chunks *chunks, uint32_t block, uint64_t at, char *to,
                       size_t most)
{
    size_t len = 0;
    for (uint32_t i = 0; i < chunks->work.len && len < most; i++) {
        const struct page_work *work = &chunks->work.at[i];
        const struct page_packed *column = &work->table->column[work->place];
        if (column->block != block || column->at + column->len <= at + len)
            continue;
        size_t skip = (size_t)(at + len - column->at), rest = (size_t)column->len - skip;
        size_t part = rest < most - len ? rest : most - len;
        memcpy(to + len, work->packed.at + skip, part);
        len += part;
    }
    return len;
}

void page_chunks_init(struct page_chunks *chunks)
{
    *chunks = (struct page_chunks){
        .work.max = UINT32_MAX / 2,
        .block.max = UINT32_MAX / 2,
        .where = PAGE_COVER_BLOCK,
        .share = PAGE_FIXED,
    };
}

void page_chunks_free(struct page_chunks *chunks)
{
    for (uint32_t i = 0; i < chunks->work.len; i++)
        buf_free(&chunks->work.at[i].packed);
    vec_free(&chunks->work);
    vec_free(&chunks->block);
}
