/* idtab.h - the only hash table of the project: from a hash to a dense id.
 *
 * The table holds ids and nothing else.  The things the ids name (strings, stacks, open
 * allocations) live in their own arrays, which is why one table serves them all: the caller
 * hashes, walks the candidates, and compares.
 *
 * Invariants: id 0 means "empty slot", so ids start at 1 (plain indices, which start at 0, are
 * stored plus 1); the table is never more than half full, so that a walk ends, and soon. */
#ifndef VRS_BASE_IDTAB_H
#define VRS_BASE_IDTAB_H

#include <stdbool.h>
#include <stdint.h>

struct idtab {
    uint32_t *slot; /* mask + 1 of them; NULL before the first reserve */
    uint32_t mask;
    uint32_t used;
};

void idtab_free(struct idtab *t);

/* Room for one more id; false when out of memory.  `hash_of(id, arg)` gives an id's hash again
 * when the table grows. */
bool idtab_reserve(struct idtab *t, uint64_t (*hash_of)(uint32_t id, const void *arg),
                   const void *arg);

static inline uint32_t idtab_first(const struct idtab *t, uint64_t hash)
{
    return (uint32_t)(hash >> 32) & t->mask;
}

static inline uint32_t idtab_next(const struct idtab *t, uint32_t at)
{
    return (at + 1) & t->mask;
}

/* Puts an id that is not in the table; room must have been reserved. */
void idtab_put(struct idtab *t, uint64_t hash, uint32_t id);

/* Empties the slot `at`, closing the gap it leaves in its run. */
void idtab_remove(struct idtab *t, uint32_t at, uint64_t (*hash_of)(uint32_t id, const void *arg),
                  const void *arg);

#endif
