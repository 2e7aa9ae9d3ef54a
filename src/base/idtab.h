/* idtab.h - open-addressing hash table from a hash to a dense id, the only one of the project.
 *
 * The things the ids name (strings, stacks, open allocations) live in their own arrays, which is
 * why one table serves them all: the caller hashes, walks the candidates, and compares.  Beside an
 * id stands half of its hash: what cannot be equal is passed over without a look at the array,
 * and the table grows by itself.
 *
 * Invariants: id 0 means "empty slot", so ids start at 1 (plain indices, which start at 0, are
 * stored plus 1); the table is never more than half full, so that a walk ends, and soon. */
#ifndef VRS_BASE_IDTAB_H
#define VRS_BASE_IDTAB_H

#include <stdbool.h>
#include <stdint.h>

struct idtab_slot {
    uint32_t id;
    uint32_t hash; /* the upper half */
};

struct idtab {
    struct idtab_slot *slot; /* mask + 1 of them; NULL before the first reserve */
    uint32_t mask;
    uint32_t used;
    uint32_t room; /* slots there is memory for */
};

void idtab_free(struct idtab *t);

/* Empties a table that is to take `count` ids; false when out of memory.  Takes time by `count`
 * alone, whatever was in it, and keeps its memory for tables that come after. */
bool idtab_restart(struct idtab *t, uint32_t count);

/* Room for one more id; false when out of memory. */
bool idtab_reserve(struct idtab *t);

/* The first slot from `at` on that can hold an id of `hash`, or the empty one that ends the walk.
 */
static inline uint32_t idtab_from(const struct idtab *t, uint64_t hash, uint32_t at)
{
    at &= t->mask;
    while (t->slot[at].id != 0 && t->slot[at].hash != (uint32_t)(hash >> 32))
        at = (at + 1) & t->mask;
    return at;
}

static inline uint32_t idtab_first(const struct idtab *t, uint64_t hash)
{
    return idtab_from(t, hash, (uint32_t)(hash >> 32));
}

static inline uint32_t idtab_next(const struct idtab *t, uint64_t hash, uint32_t at)
{
    return idtab_from(t, hash, at + 1);
}

/* Puts an id that is not in the table; room must have been reserved. */
void idtab_put(struct idtab *t, uint64_t hash, uint32_t id);

/* Empties the slot `at`, closing the gap it leaves in its run. */
void idtab_remove(struct idtab *t, uint32_t at);

#endif
