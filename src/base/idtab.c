/* idtab.c - open addressing with linear probing; deletion shifts back, without tombstones. */
#include "base/idtab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

void idtab_free(struct idtab *t)
{
    free(t->slot);
    *t = (struct idtab){ 0 };
}

/* Puts into the first empty slot. */
static void place(struct idtab *t, struct idtab_slot entry)
{
    uint32_t at = entry.hash & t->mask;
    while (t->slot[at].id != 0)
        at = (at + 1) & t->mask;
    t->slot[at] = entry;
}

static bool rebuild(struct idtab *t, uint32_t slots)
{
    struct idtab old = *t;
    struct idtab_slot *slot = pages_zeroed(slots * sizeof *slot);
    if (slot == NULL)
        return false;
    *t = (struct idtab){ .slot = slot, .mask = slots - 1, .used = old.used, .room = slots };
    for (uint32_t i = 0; old.slot != NULL && i <= old.mask; i++)
        if (old.slot[i].id != 0)
            place(t, old.slot[i]);
    free(old.slot);
    return true;
}

bool idtab_restart(struct idtab *t, uint32_t count)
{
    uint32_t slots = 8;
    while (slots / 2 <= count && slots <= UINT32_MAX / 4)
        slots *= 2;
    if (slots / 2 <= count)
        return false;
    if (slots > t->room) {
        idtab_free(t);
        return rebuild(t, slots);
    }
    memset(t->slot, 0, slots * sizeof *t->slot);
    t->mask = slots - 1;
    t->used = 0;
    return true;
}

bool idtab_reserve(struct idtab *t)
{
    if (t->slot == NULL)
        return rebuild(t, 64);
    if (t->used < t->mask / 2)
        return true;
    return t->mask < UINT32_MAX / 2 && rebuild(t, (t->mask + 1) * 2);
}

void idtab_put(struct idtab *t, uint64_t hash, uint32_t id)
{
    assert(id != 0 && t->used < t->mask);
    place(t, (struct idtab_slot){ .id = id, .hash = (uint32_t)(hash >> 32) });
    t->used++;
}

void idtab_remove(struct idtab *t, uint32_t at)
{
    assert(t->slot[at].id != 0);
    uint32_t gap = at;
    for (uint32_t i = (gap + 1) & t->mask; t->slot[i].id != 0; i = (i + 1) & t->mask) {
        /* May the id at `i` move into the gap?  Only if the gap lies between its home and `i`. */
        if (((i - t->slot[i].hash) & t->mask) >= ((i - gap) & t->mask)) {
            t->slot[gap] = t->slot[i];
            gap = i;
        }
    }
    t->slot[gap] = (struct idtab_slot){ 0 };
    t->used--;
}
