/* named.c - a table of what is in use by address, asked once for each name. */
#include "model/named.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/sorted.h"
#include "base/table.h"
#include "model/ids.h"

/* Memory in use at the end. */
struct place {
    uint64_t address, bytes;
    uint32_t device;     /* row of devices */
    uint32_t allocation; /* NO_ROW: two are at the same address, and a name could be either's */
    uint32_t claimed_by; /* row of named, or NO_ROW */
};

struct matching {
    struct recording *r;
    struct place *place;
    uint32_t places;
    struct idtab index; /* of `place`, plus 1 */
};

uint32_t named_device(const struct recording *r, uint32_t row)
{
    const struct devices *d = &r->devices;
    uint32_t at, wanted = r->named.device[row];
    SORTED_FIND(at, d->rows.len, d->kind[at] == DEVICE_CUDA && d->number[at] < wanted);
    bool found = at < d->rows.len && d->kind[at] == DEVICE_CUDA && d->number[at] == wanted;
    return found ? at : NO_ROW;
}

/* What the final state has in use; without one, what the whole trace leaves in use. */
static bool place_of(const struct recording *r, uint32_t device, uint32_t row, struct place *ret)
{
    const struct allocations *a = &r->allocations;
    uint32_t block = a->block[row], event = a->alloc_event[row];
    *ret = (struct place){ .device = device, .allocation = row, .claimed_by = NO_ROW };
    if (block != NO_ROW) {
        ret->address = r->blocks.address[block];
        ret->bytes = r->blocks.size[block];
        return r->blocks.state[block] == BLOCK_ALLOCATED && ret->bytes != UNKNOWN_U64;
    }
    if (r->devices.segments[device] != 0 || (r->devices.parts[device] & PART_TRACE) == 0 ||
        event == NO_ROW || a->free_requested_event[row] != NO_ROW)
        return false;
    ret->address = r->events.address[event];
    ret->bytes = a->size[row];
    return ret->bytes != UNKNOWN_U64;
}

static uint32_t find_slot(const struct matching *m, uint32_t device, uint64_t address,
                          uint64_t *ret_hash)
{
    uint64_t hash = hash_pair(address, device);
    uint32_t at = idtab_first(&m->index, hash);
    *ret_hash = hash;
    for (; m->index.slot[at].id != 0; at = idtab_next(&m->index, hash, at)) {
        const struct place *p = &m->place[m->index.slot[at].id - 1];
        if (p->address == address && p->device == device)
            break;
    }
    return at;
}

static bool note_place(struct matching *m, const struct place *place)
{
    uint64_t hash;
    if (!idtab_reserve(&m->index))
        return false;
    uint32_t at = find_slot(m, place->device, place->address, &hash);
    if (m->index.slot[at].id != 0) {
        m->place[m->index.slot[at].id - 1].allocation = NO_ROW;
        return true;
    }
    m->place[m->places++] = *place;
    idtab_put(&m->index, hash, m->places);
    return true;
}

static bool note_places(struct matching *m)
{
    const struct recording *r = m->r;
    if (!idtab_reserve(&m->index))
        return false;
    for (uint32_t d = 0; d < r->devices.rows.len; d++)
        for (uint32_t i = 0; r->devices.kind[d] == DEVICE_CUDA && i < r->devices.allocations[d];
             i++) {
            struct place place;
            if (place_of(r, d, r->devices.first_allocation[d] + i, &place) &&
                !note_place(m, &place))
                return false;
        }
    return true;
}

/* Two entries that say the same of the same memory are one, said twice. */
static bool says_the_same(const struct named_tensors *n, uint32_t a, uint32_t b)
{
    return n->name[a] == n->name[b] && n->kind[a] == n->kind[b];
}

static void match(struct matching *m, uint32_t row)
{
    struct named_tensors *n = &m->r->named;
    uint32_t device = named_device(m->r, row), slot = 0;
    uint64_t hash;
    n->standing[row] = NAMED_NOWHERE;
    n->allocation[row] = NO_ROW;
    if (device != NO_ROW)
        slot = m->index.slot[find_slot(m, device, n->address[row], &hash)].id;
    if (slot == 0)
        return;
    struct place *place = &m->place[slot - 1];
    n->standing[row] = NAMED_DISPUTED;
    if (place->allocation == NO_ROW)
        return;
    if (n->bytes[row] > place->bytes) {
        n->standing[row] = NAMED_TOO_LARGE;
        return;
    }
    uint32_t other = place->claimed_by;
    if (other == NO_ROW) {
        place->claimed_by = row;
        n->standing[row] = NAMED_HOLDS;
        n->allocation[row] = place->allocation;
    } else if (!says_the_same(n, other, row)) {
        n->standing[other] = NAMED_DISPUTED;
        n->allocation[other] = NO_ROW;
    }
}

/* Those that hold, in the order of their allocations, then the others. */
static bool order_names(struct recording *r, uint32_t *of, uint32_t *order)
{
    struct named_tensors *n = &r->named;
    uint32_t rows = n->rows.len, next = 0;
    for (uint32_t i = 0; i < rows; i++)
        if (n->standing[i] == NAMED_HOLDS)
            of[n->allocation[i]] = i + 1;
    for (uint32_t a = 0; a < r->allocations.rows.len; a++)
        if (of[a] != 0)
            order[next++] = of[a] - 1;
    for (uint32_t i = 0; i < rows; i++)
        if (n->standing[i] != NAMED_HOLDS)
            order[next++] = i;
    return table_gather(n, &named_kind, order, rows);
}

static bool match_all(struct matching *m, struct arena *scratch)
{
    struct recording *r = m->r;
    uint32_t rows = r->named.rows.len, allocations = r->allocations.rows.len;
    m->place = arena_array(scratch, struct place, allocations);
    uint32_t *of = arena_array(scratch, uint32_t, allocations);
    uint32_t *order = arena_array(scratch, uint32_t, rows);
    if (m->place == NULL || of == NULL || order == NULL || !note_places(m))
        return false;
    for (uint32_t i = 0; i < rows; i++)
        match(m, i);
    return order_names(r, of, order);
}

enum vrs_status match_names(struct recording *r, struct vrs_error *err)
{
    if (r->named.rows.len == 0)
        return VRS_OK;
    struct matching m = { .r = r };
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX / 2);
    bool made = match_all(&m, &scratch);
    idtab_free(&m.index);
    arena_free(&scratch);
    return made ? VRS_OK : vrs_no_memory(err);
}

uint32_t named_find(const struct recording *r, uint32_t allocation)
{
    const struct named_tensors *n = &r->named;
    uint32_t at;
    if (n->rows.len == 0)
        return NO_ROW;
    /* NO_ROW, of those that do not hold, is larger than any row. */
    SORTED_FIND(at, n->rows.len, n->allocation[at] < allocation);
    return at < n->rows.len && n->allocation[at] == allocation ? at : NO_ROW;
}

uint32_t named_holding(const struct recording *r)
{
    uint32_t at;
    SORTED_FIND(at, r->named.rows.len, r->named.allocation[at] != NO_ROW);
    return at;
}
