/* block_sizes.h - the size of each allocation's block with its source. */
#ifndef VRS_ALLOCATOR_REPLAY_BLOCK_SIZES_H
#define VRS_ALLOCATOR_REPLAY_BLOCK_SIZES_H

#include <stdint.h>

#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

enum block_source {
    SOURCE_FINAL,    /* the final block that the allocation survives in, as recorded */
    SOURCE_REPLAYED, /* the allocator's model, which reproduces the device */
    SOURCE_ROUNDED   /* the rounded request: a lower bound */
};

/* Rows parallel to the allocations of a recording. */
struct block_sizes {
    struct table rows;
    uint64_t *bytes; /* UNKNOWN_U64: of an unknown request */
    uint8_t *source; /* enum block_source */
};

extern const struct table_kind block_sizes_kind;

/* One of them. */
struct block_size {
    uint64_t bytes; /* 0 where unknown */
    enum block_source source;
};

/* Of an allocation (a row). */
static inline struct block_size block_of(const struct block_sizes *s, uint32_t allocation)
{
    return (struct block_size){ known_or_0(s->bytes[allocation]),
                                (enum block_source)s->source[allocation] };
}

/* What it holds beyond the bytes that were asked for. */
static inline uint64_t block_slack(const struct block_sizes *s, uint32_t allocation, uint64_t asked)
{
    uint64_t bytes = block_of(s, allocation).bytes;
    return bytes > asked ? bytes - asked : 0;
}

/* Fills the table, which is empty, by final blocks and the rounding rule alone. */
enum vrs_status block_sizes_round(const struct recording *r, struct block_sizes *ret,
                                  struct vrs_error *err) MUST_CHECK;
void block_sizes_free(struct block_sizes *s);

/* VRS_CORRUPT names the first row that is not as it should be: a fault of ours, never of the
 * file. */
enum vrs_status verify_block_sizes(const struct recording *r, const struct block_sizes *s,
                                   struct vrs_error *err) MUST_CHECK;

#endif
