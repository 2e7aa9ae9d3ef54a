/* layout.h - the blocks and free ranges of every segment of a device at one moment.
 *
 * At the end it is the final state, as measured.  At another event the trace is undone: segments
 * and mapped pages always come out right, the blocks in them where a replay proves their sizes;
 * else they have the sizes of the rounding rule and `exact` is false.
 *
 * A segment here is one run of memory without a hole: memory that was asked for at once, or
 * neighbouring mapped pages.  Its blocks are in the order of addresses and leave no gap (in a
 * final state, as far as the file does not).  Cost: n log n in the device's allocations. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LAYOUT_LAYOUT_H
#define VRS_ANALYSIS_SNAPSHOT_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "analysis/snapshot/study/proven_study.h"
#include "base/arena.h"
#include "base/fail.h"

struct layout_block {
    uint64_t address, size;
    uint64_t requested; /* of a block that is not free; else 0 */
    uint32_t segment;   /* in the layout */
    uint32_t lifetime;  /* place in the study's lifetimes; NO_ROW: a free block, or not paired */
    uint8_t state;      /* BLOCK_ALLOCATED, BLOCK_PENDING or BLOCK_INACTIVE (free) */
};

struct layout_segment {
    uint64_t address, size;
    uint64_t active, pending, requested; /* bytes; active has the pending ones in it */
    uint64_t stream;                     /* its handle */
    uint32_t pool;                       /* row of pools; 0: the default pool */
    uint32_t first_block, blocks;
    bool small, expandable;
};

struct layout {
    int64_t event; /* the state after it; the last event is the end */
    bool exact;
    struct layout_segment *segment; /* by address; of a final state, as in the file */
    uint32_t segments;
    struct layout_block *block;
    uint32_t blocks;
    uint64_t page_bytes; /* of large expandable memory */
    uint64_t lost_bytes; /* of blocks that lie in no segment: the file contradicts itself */
};

/* The layout after `event` (-1: before the first), in `arena`.  `*ret_known` is false, and `ret`
 * of no use, where segments and trace contradict each other, or the file is cut. */
enum vrs_status layout_at(const struct proven_study *proven, int64_t event, struct arena *arena,
                          struct layout *ret, bool *ret_known, struct vrs_error *err) MUST_CHECK;

static inline uint64_t layout_segment_free(const struct layout_segment *segment)
{
    return segment->size > segment->active ? segment->size - segment->active : 0;
}

/* The pages of an expandable segment: what is returned is a multiple of it. */
static inline uint64_t layout_page(const struct layout *l, const struct layout_segment *segment)
{
    return segment->small ? SMALL_SEGMENT_BYTES : l->page_bytes;
}

/* Bytes that a full release would give back of [from, to) in an expandable segment, were they
 * free: whole pages, measured from the segment's beginning. */
uint64_t layout_whole_pages(const struct layout *l, const struct layout_segment *segment,
                            uint64_t from, uint64_t to);

/* What a full release would give back of a segment: a plain one without active blocks, whole free
 * pages of an expandable one.  Of a private pool nothing: its memory is held for its graphs. */
uint64_t layout_returnable(const struct layout *l, const struct layout_segment *segment);

/* For qsort of pointers to a layout's segments: pool, stream, large before small, place. */
int layout_by_lane(const void *a, const void *b);

#endif
