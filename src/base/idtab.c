/* idtab.c - open addressing with linear steps; removal shifts back, so there are no tombstones. */
#include "base/idtab.h"

#include <assert.h>
#include <stdlib.h>

void idtab_free(struct idtab *t)
{
    free(t->slot);
    *t = (struct idtab){ 0 };
}

static bool rebuild(struct idtab *t, uint32_t slots,
                    uint64_t (*hash_of)(uint32_t id, const void *arg), const void *arg)
{
    struct idtab old = *t;
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (slot == NULL)
        return false;
    *t = (struct idtab){ .slot = slot, .mask = slots - 1 };
    for (uint32_t i = 0; old.slot != NULL && i <= old.mask; i++)
        if (old.slot[i] != 0)
            idtab_put(t, hash_of(old.slot[i], arg), old.slot[i]);
    free(old.slot);
    return true;
}

bool idtab_reserve(struct idtab *t, uint64_t (*hash_of)(uint32_t id, const void *arg),
                   const void *arg)
{
    if (t->slot == NULL)
        return rebuild(t, 64, hash_of, arg);
    if (t->used < t->mask / 2)
        return true;
    return t->mask < UINT32_MAX / 2 && rebuild(t, (t->mask + 1) * 2, hash_of, arg);
}

void idtab_put(struct idtab *t, uint64_t hash, uint32_t id)
{
    assert(id != 0 && t->used < t->mask);
    uint32_t at = idtab_first(t, hash);
    while (t->slot[at] != 0)
        at = idtab_next(t, at);
    t->slot[at] = id;
    t->used++;
}

void idtab_remove(struct idtab *t, uint32_t at, uint64_t (*hash_of)(uint32_t id, const void *arg),
                  const void *arg)
{
    assert(t->slot[at] != 0);
    uint32_t gap = at;
    for (uint32_t i = idtab_next(t, gap); t->slot[i] != 0; i = idtab_next(t, i)) {
        uint32_t home = idtab_first(t, hash_of(t->slot[i], arg));
        /* May the id at `i` move into the gap?  Only if the gap lies between its home and `i`. */
        if (((i - home) & t->mask) >= ((i - gap) & t->mask)) {
            t->slot[gap] = t->slot[i];
            gap = i;
        }
    }
    t->slot[gap] = 0;
    t->used--;
}
