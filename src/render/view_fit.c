/* view_fit.c - takes columns out of tables and their bytes out of blocks. */
#include "render/view_fit.h"

#include <string.h>

const char *const view_spare_words[VIEW_SPARES] = {
    [VIEW_SPARE_FREES] = "stacks of frees",  [VIEW_SPARE_RULES] = "category rules",
    [VIEW_SPARE_BLOCKS] = "sizes of blocks", [VIEW_SPARE_TIMES] = "times",
    [VIEW_SPARE_ADDRESSES] = "addresses",
};

static const struct {
    enum view_spare spare;
    enum view_table_name table;
    const char *column;
} spares[] = {
    { VIEW_SPARE_FREES, VIEW_ALLOC, "free_stack" }, { VIEW_SPARE_RULES, VIEW_ALLOC, "rule" },
    { VIEW_SPARE_BLOCKS, VIEW_ALLOC, "pad" },       { VIEW_SPARE_BLOCKS, VIEW_ALLOC, "source" },
    { VIEW_SPARE_TIMES, VIEW_TIME, "dt" },          { VIEW_SPARE_ADDRESSES, VIEW_ALLOC, "lane" },
};

static void close_gap(struct view_table *table, uint32_t tables, const struct view_packed *gap)
{
    for (uint32_t t = 0; t < tables; t++)
        for (uint32_t c = 0; c < table[t].columns; c++) {
            struct view_packed *column = &table[t].column[c];
            if (column->block == gap->block && column->at > gap->at)
                column->at -= gap->len;
        }
}

/* All that stands behind the bytes of a column moves to where they were. */
static void take_bytes(struct view_parts *parts, const struct view_packed *gap)
{
    struct buf *block = &parts->blocks->block.at[gap->block];
    size_t past = (size_t)(gap->at + gap->len);
    memmove(block->at + gap->at, block->at + past, block->len - past);
    block->len -= (size_t)gap->len;
    for (uint32_t f = 0; f < parts->files; f++)
        for (uint32_t d = 0; d < parts->file[f].devices; d++)
            close_gap(parts->file[f].device[d].table, VIEW_TABLES, gap);
    for (uint32_t p = 0; p < parts->pairs; p++)
        close_gap(parts->pair[p].table, VIEW_PAIR_TABLES, gap);
}

static bool take_column(struct view_parts *parts, struct view_table *table, const char *name)
{
    uint32_t c = 0;
    while (c < table->columns && strcmp(table->column[c].column->name, name) != 0)
        c++;
    if (c == table->columns || table->column[c].len == 0)
        return false;
    struct view_packed gap = table->column[c];
    table->columns--;
    memmove(&table->column[c], &table->column[c + 1], (table->columns - c) * sizeof *table->column);
    take_bytes(parts, &gap);
    return true;
}

bool view_leave_out(struct view_parts *parts, enum view_spare spare)
{
    bool any = false;
    for (uint32_t f = 0; f < parts->files; f++)
        for (uint32_t d = 0; d < parts->file[f].devices; d++) {
            struct view_device *device = &parts->file[f].device[d];
            /* Of a final state alone they are what there is to see. */
            if (spare == VIEW_SPARE_ADDRESSES && device->states < 2)
                continue;
            for (size_t i = 0; i < sizeof spares / sizeof *spares; i++)
                if (spares[i].spare == spare)
                    any = take_column(parts, &device->table[spares[i].table], spares[i].column) ||
                          any;
            if (device->table[VIEW_TIME].columns == 0)
                device->base_us = UNKNOWN_U64;
        }
    return any;
}
