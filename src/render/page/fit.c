/* fit.c - takes columns out of tables and their bytes out of blocks. */
#include "render/page/fit.h"

#include <assert.h>
#include <string.h>

const char *const page_spare_words[PAGE_SPARES] = {
    [PAGE_SPARE_FREES] = "stacks of frees",  [PAGE_SPARE_RULES] = "category rules",
    [PAGE_SPARE_BLOCKS] = "sizes of blocks", [PAGE_SPARE_TIMES] = "times",
    [PAGE_SPARE_ADDRESSES] = "addresses",
};

static const struct {
    enum page_spare spare;
    enum page_table_name table;
    const char *column;
} spares[] = {
    { PAGE_SPARE_FREES, PAGE_ALLOC, "free_stack" }, { PAGE_SPARE_RULES, PAGE_ALLOC, "rule" },
    { PAGE_SPARE_BLOCKS, PAGE_ALLOC, "pad" },       { PAGE_SPARE_BLOCKS, PAGE_ALLOC, "source" },
    { PAGE_SPARE_TIMES, PAGE_TIME, "dt" },          { PAGE_SPARE_ADDRESSES, PAGE_ALLOC, "lane" },
};

/* What stands behind `end` of a block moves by `by`, which is modulo 2^64. */
static void move_behind(struct page_table *table, uint32_t tables, uint32_t block, uint64_t end,
                        uint64_t by)
{
    for (uint32_t t = 0; t < tables; t++)
        for (uint32_t c = 0; c < table[t].columns; c++) {
            struct page_packed *column = &table[t].column[c];
            if (column->len > 0 && column->block == block && column->at >= end)
                column->at += by;
        }
}

/* Puts `len` bytes in the place of a column's, and all that stands behind them moves. */
static bool put_in_place(struct page_parts *parts, const struct page_packed *old, const char *bytes,
                         size_t len)
{
    struct buf *block = &parts->blocks->block.at[old->block];
    size_t end = (size_t)(old->at + old->len), more = len > old->len ? len - (size_t)old->len : 0;
    size_t behind = block->len - end;
    buf_bytes(block, bytes, more); /* room */
    if (block->failed)
        return false;
    memmove(block->at + old->at + len, block->at + end, behind);
    if (len > 0)
        memcpy(block->at + old->at, bytes, len);
    block->len = (size_t)old->at + len + behind;
    uint64_t by = (uint64_t)len - old->len;
    for (uint32_t f = 0; f < parts->files; f++)
        for (uint32_t d = 0; d < parts->file[f].devices; d++)
            move_behind(parts->file[f].device[d].table, PAGE_TABLES, old->block, end, by);
    for (uint32_t p = 0; p < parts->pairs; p++)
        move_behind(parts->pair[p].table, PAGE_PAIR_TABLES, old->block, end, by);
    return true;
}

enum vrs_status page_replace(struct page_parts *parts, struct page_packed *column,
                             const struct page_packed *made, const struct buf *bytes,
                             struct vrs_error *err)
{
    struct page_packed old = *column;
    assert(old.len > 0 || bytes->len == 0);
    if (old.len > 0 && !put_in_place(parts, &old, bytes->at, bytes->len))
        return vrs_no_memory(err);
    *column = *made;
    column->at = old.at;
    return VRS_OK;
}

static bool take_column(struct page_parts *parts, struct page_table *table, const char *name)
{
    uint32_t c = 0;
    while (c < table->columns && strcmp(table->column[c].column->name, name) != 0)
        c++;
    if (c == table->columns || table->column[c].len == 0)
        return false;
    struct page_packed gap = table->column[c];
    table->columns--;
    memmove(&table->column[c], &table->column[c + 1], (table->columns - c) * sizeof *table->column);
    return put_in_place(parts, &gap, NULL, 0);
}

bool page_leave_out(struct page_parts *parts, enum page_spare spare)
{
    bool any = false;
    for (uint32_t f = 0; f < parts->files; f++)
        for (uint32_t d = 0; d < parts->file[f].devices; d++) {
            struct page_device *device = &parts->file[f].device[d];
            /* Of a final state alone they are what there is to see. */
            if (spare == PAGE_SPARE_ADDRESSES && device->states < 2)
                continue;
            for (size_t i = 0; i < sizeof spares / sizeof *spares; i++)
                if (spares[i].spare == spare)
                    any = take_column(parts, &device->table[spares[i].table], spares[i].column) ||
                          any;
            if (device->table[PAGE_TIME].columns == 0)
                device->base_us = UNKNOWN_U64;
        }
    return any;
}
