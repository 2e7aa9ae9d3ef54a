/* stay_sort.h - allocations that stay from moment to moment, in the order of their places. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_STAY_SORT_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_STAY_SORT_H

#include "base/arena.h"
#include "base/fail.h"

/* An allocation that is alive at moments [first, last], and what tells its place. */
struct stay {
    uint64_t key;
    uint32_t allocation;
    uint32_t first, last;
};

/* What a sort takes; may be used again for as many stays. */
struct stay_room {
    struct stay *stay;
    uint32_t *place; /* of each value of a digit */
};

/* False when out of memory. */
bool stay_room_make(struct stay_room *room, uint32_t stays, struct arena *arena);

/* By key, of one key by the first moment, then by allocation, in time linear in the stays.  Returns
 * them in their new order: they and those of the room may have changed places. */
struct stay *sort_stays(struct stay *stay, uint32_t stays, struct stay_room *room) MUST_CHECK;

#endif
