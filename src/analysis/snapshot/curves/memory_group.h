/* memory_group.h - the parts of a device's memory that never mix: by pool, stream and class.
 *
 * Every allocation, segment and segment event of a device is in exactly one group, so that what is
 * summed by group adds up to the device. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CURVES_MEMORY_GROUP_H
#define VRS_ANALYSIS_SNAPSHOT_CURVES_MEMORY_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/curves/live.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/idtab.h"
#include "base/vec.h"
#include "model/recording.h"

struct memory_group {
    uint32_t pool;   /* pool_id of a private pool; 0: the default one, or not known */
    uint32_t stream; /* row of streams */
    bool small;      /* its blocks have at most 1 MiB */
};

/* The classes, by `small`. */
extern const char *const memory_class_names[2];

struct memory_groups {
    const struct recording *r;
    VEC(struct memory_group) at; /* row 0 is none */
    struct idtab index;
    uint32_t last[2];             /* the large and the small group found last */
    bool private_pools;           /* the recording names some */
    struct segment_index segment; /* final ones */
    struct mapped_range *mapped;  /* expandable memory, by address */
    uint32_t ranges;
};

/* `arena` outlives it.  Ends with memory_groups_end, also after a failure. */
enum vrs_status memory_groups_begin(const struct recording *r, uint32_t device, struct arena *arena,
                                    struct memory_groups *ret, struct vrs_error *err) MUST_CHECK;
void memory_groups_end(struct memory_groups *g);

/* The group, old or new; 0 when out of memory.  `pool` is a row of pools. */
uint32_t memory_group_of(struct memory_groups *g, uint32_t pool, uint32_t stream, bool small);

uint32_t memory_group_of_segment(struct memory_groups *g, uint32_t segment);
uint32_t memory_group_of_allocation(struct memory_groups *g, uint32_t allocation,
                                    uint64_t block_bytes);
/* Of an event that obtains or returns memory (a row of events). */
uint32_t memory_group_of_event(struct memory_groups *g, uint32_t event);

/* What people call a pool (a row of pools): "default", "graph 3", "pool 3", "unknown". */
enum { POOL_NAME_MOST = 48 };
void memory_group_pool_name(const struct recording *r, uint32_t pool, char to[POOL_NAME_MOST]);

#endif
