/* block_sizes.c - the table of block sizes, filled by rounding where nothing is replayed. */
#include "allocator/replay/block_sizes.h"

#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/rounding.h"
#include "allocator/replay/recorded.h"
#include "base/table.h"
#include "model/ids.h"

static const struct column block_sizes_columns[] = {
    { "bytes", offsetof(struct block_sizes, bytes), COLUMN_U64 },
    { "source", offsetof(struct block_sizes, source), COLUMN_U8 },
};
const struct table_kind block_sizes_kind = { "block_sizes", block_sizes_columns, 2 };

static struct block_size rounded(const struct recording *r, const struct rounding *rounding,
                                 uint32_t allocation)
{
    uint32_t block = r->allocations.block[allocation];
    uint64_t size = r->allocations.size[allocation];
    if (block != NO_ROW && r->blocks.size[block] != UNKNOWN_U64)
        return (struct block_size){ r->blocks.size[block], SOURCE_FINAL };
    uint64_t bytes = size == UNKNOWN_U64 ? UNKNOWN_U64 : rounding_apply(rounding, size);
    return (struct block_size){ bytes, SOURCE_ROUNDED };
}

enum vrs_status block_sizes_round(const struct recording *r, struct block_sizes *ret,
                                  struct vrs_error *err)
{
    struct rounding rounding = rounding_of(r);
    uint32_t count = r->allocations.rows.len;
    ret->rows.max = r->allocations.rows.max;
    if (!table_reserve(ret, &block_sizes_kind, count))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        struct block_size size = rounded(r, &rounding, i);
        ret->bytes[i] = size.bytes;
        ret->source[i] = (uint8_t)size.source;
    }
    ret->rows.len = count;
    return VRS_OK;
}

void block_sizes_free(struct block_sizes *s)
{
    table_free(s, &block_sizes_kind);
}

enum vrs_status verify_block_sizes(const struct recording *r, const struct block_sizes *s,
                                   struct vrs_error *err)
{
    if (s->rows.len != r->allocations.rows.len)
        return vrs_fail(err, VRS_CORRUPT, "block_sizes: %u rows for %u allocations", s->rows.len,
                        r->allocations.rows.len);
    for (uint32_t i = 0; i < s->rows.len; i++) {
        uint32_t block = r->allocations.block[i];
        uint64_t recorded = block == NO_ROW ? UNKNOWN_U64 : r->blocks.size[block];
        if (s->source[i] > SOURCE_ROUNDED)
            return vrs_fail(err, VRS_CORRUPT, "block_sizes.source, row %u: %u is not below %u", i,
                            s->source[i], SOURCE_ROUNDED + 1);
        if ((s->source[i] == SOURCE_FINAL) != (recorded != UNKNOWN_U64) ||
            (recorded != UNKNOWN_U64 && s->bytes[i] != recorded))
            return vrs_fail(err, VRS_CORRUPT, "block_sizes, row %u: not that of its final block",
                            i);
    }
    return VRS_OK;
}
