/* pairing.c - one pass over the events of each device.
 *
 * The open allocations stand in a compact array of their own, so that a step of the hash table
 * touches one small entry and never the columns. */
#include "model/pairing.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/returned_unobtained.h"

/* Of so many allocs, one free that has none of its own is expected, which is more than are seen. */
enum { UNEXPLAINED_PART = 16 };

struct open_entry {
    uint64_t address;
    uint32_t allocation; /* of an entry out of use: the next such entry */
    bool traced;         /* its alloc was seen, not only its free */
    bool requested;      /* its free was, which the far column need not be asked for */
};

struct pairing {
    struct recording *r;
    struct vrs_error *err;
    VEC(struct open_entry) open; /* entry 0 is none, as in idtab: neither traced nor requested */
    uint32_t unused;             /* first entry out of use, or 0 */
    struct idtab index;
    uint32_t found; /* the slot found last: a completion mostly follows its request at once */
    struct pairing_counts counts;
};

/* The slot of the entry at `address`, or of the empty slot that ends the search. */
static uint32_t find(struct pairing *p, uint64_t address)
{
    if (p->open.at[p->index.slot[p->found].id].address == address)
        return p->found;
    uint64_t hash = hash_u64(address);
    uint32_t at = idtab_first(&p->index, hash);
    while (p->index.slot[at].id != 0 && p->open.at[p->index.slot[at].id].address != address)
        at = idtab_next(&p->index, hash, at);
    p->found = at;
    return at;
}

static enum vrs_status reserve_allocations(struct pairing *p, uint32_t more)
{
    struct table *rows = &p->r->allocations.rows;
    if (table_reserve(&p->r->allocations, &allocations_kind, more))
        return VRS_OK;
    if (more > rows->max - rows->len)
        return vrs_fail(p->err, VRS_LIMIT, "more than %u allocations; see --limit items",
                        rows->max);
    return vrs_no_memory(p->err);
}

static enum vrs_status add_allocation(struct pairing *p, uint32_t event, uint64_t size,
                                      uint32_t *ret)
{
    struct allocations *a = &p->r->allocations;
    if (a->rows.len == a->rows.cap)
        TRY(reserve_allocations(p, 1));
    uint32_t row = a->rows.len++;
    a->alloc_event[row] = event;
    a->free_requested_event[row] = a->free_completed_event[row] = a->block[row] = NO_ROW;
    a->size[row] = size;
    *ret = row;
    return VRS_OK;
}

static enum vrs_status open_allocation(struct pairing *p, struct open_entry entry)
{
    if (!idtab_reserve(&p->index))
        return vrs_no_memory(p->err);
    uint32_t id = p->unused;
    if (id != 0)
        p->unused = p->open.at[id].allocation;
    else if (vec_reserve(&p->open, 1))
        id = p->open.len++;
    else
        return vrs_no_memory(p->err);
    p->open.at[id] = entry;
    idtab_put(&p->index, hash_u64(entry.address), id);
    return VRS_OK;
}

static void close_slot(struct pairing *p, uint32_t at)
{
    uint32_t id = p->index.slot[at].id;
    idtab_remove(&p->index, at);
    p->open.at[id].allocation = p->unused;
    p->unused = id;
}

static enum vrs_status pair_alloc(struct pairing *p, uint32_t event)
{
    struct allocations *a = &p->r->allocations;
    uint64_t address = p->r->events.address[event];
    uint32_t row = 0;
    TRY(add_allocation(p, event, p->r->events.size[event], &row));
    uint32_t id = p->index.slot[find(p, address)].id;
    if (id == 0)
        return open_allocation(p, (struct open_entry){ address, row, .traced = true });

    struct open_entry *older = &p->open.at[id];
    p->counts.double_allocs += older->traced;
    if (!older->requested)
        a->free_requested_event[older->allocation] = event;
    a->free_completed_event[older->allocation] = event;
    *older = (struct open_entry){ address, row, .traced = true };
    return VRS_OK;
}

static enum vrs_status pair_request(struct pairing *p, uint32_t event)
{
    uint64_t address = p->r->events.address[event];
    uint32_t id = p->index.slot[find(p, address)].id;
    struct open_entry entry = p->open.at[id];
    if (id == 0)
        TRY(add_allocation(p, NO_ROW, p->r->events.size[event], &entry.allocation));
    /* A second request without a completion between: the memory was given up at the first. */
    if (!entry.requested)
        p->r->allocations.free_requested_event[entry.allocation] = event;
    entry.address = address;
    entry.requested = true;
    if (id == 0)
        return open_allocation(p, entry);
    p->open.at[id] = entry;
    return VRS_OK;
}

static enum vrs_status pair_completion(struct pairing *p, uint32_t event)
{
    struct allocations *a = &p->r->allocations;
    uint32_t at = find(p, p->r->events.address[event]);
    uint32_t id = p->index.slot[at].id;
    struct open_entry entry = p->open.at[id];
    p->counts.orphan_frees += !entry.traced;
    if (id == 0)
        TRY(add_allocation(p, NO_ROW, p->r->events.size[event], &entry.allocation));
    if (!entry.requested)
        a->free_requested_event[entry.allocation] = event;
    a->free_completed_event[entry.allocation] = event;
    if (id != 0)
        close_slot(p, at);
    return VRS_OK;
}

static enum vrs_status pair_event(struct pairing *p, uint32_t event)
{
    if (p->r->events.address[event] == UNKNOWN_U64)
        return VRS_OK;
    switch ((enum event_action)p->r->events.action[event]) {
    case ACTION_ALLOC:
        return pair_alloc(p, event);
    case ACTION_FREE_REQUESTED:
        return pair_request(p, event);
    case ACTION_FREE_COMPLETED:
    case ACTION_FREE:
        return pair_completion(p, event);
    case ACTION_OTHER:
    case ACTION_SEGMENT_ALLOC:
    case ACTION_SEGMENT_FREE:
    case ACTION_SEGMENT_MAP:
    case ACTION_SEGMENT_UNMAP:
    case ACTION_SNAPSHOT:
    case ACTION_OOM:
    case ACTION_ANNOTATE:
    case ACTION_USER_DEFINED:
    case ACTIONS:
        break;
    }
    return VRS_OK;
}

/* Ties what is open to the block it survives in; a block that nothing open explains is an
 * allocation older than the recording. */
static enum vrs_status pair_blocks(struct pairing *p, uint32_t device)
{
    struct recording *r = p->r;
    uint32_t first = r->devices.first_block[device];
    for (uint32_t i = 0; i < r->devices.blocks[device]; i++) {
        uint32_t block = first + i;
        if (!block_live(r, block))
            continue;
        uint64_t address = r->blocks.address[block];
        uint32_t id = address == UNKNOWN_U64 ? 0 : p->index.slot[find(p, address)].id;
        uint32_t row = id == 0 ? 0 : p->open.at[id].allocation;
        if (id == 0 || r->allocations.block[row] != NO_ROW)
            TRY(add_allocation(p, NO_ROW, block_requested(r, block), &row));
        r->allocations.block[row] = block;
    }
    return VRS_OK;
}

/* Growing a big table by steps moves it each time.  Nearly all rows are of allocs; some are of
 * frees and blocks that no alloc explains. */
static enum vrs_status reserve_device(struct pairing *p, uint32_t device)
{
    const struct devices *d = &p->r->devices;
    uint32_t allocs = 0;
    for (uint32_t i = 0; i < d->events[device]; i++)
        allocs += p->r->events.action[d->first_event[device] + i] == ACTION_ALLOC;
    struct allocations *a = &p->r->allocations;
    uint64_t likely = (uint64_t)a->rows.len + allocs;
    table_expect(a, &allocations_kind, likely + allocs / UNEXPLAINED_PART + d->blocks[device],
                 likely);
    return reserve_allocations(p, allocs);
}

static enum vrs_status pair_device(struct pairing *p, uint32_t device)
{
    struct devices *d = &p->r->devices;
    bool anchored = (d->parts[device] & PART_ANCHOR) != 0;
    p->counts = (struct pairing_counts){ 0 };
    p->open.len = p->unused = p->found = 0;
    idtab_free(&p->index);
    /* No event that is looked up has the address of entry 0. */
    if (!vec_push(&p->open, (struct open_entry){ .address = UNKNOWN_U64 }) ||
        !idtab_reserve(&p->index))
        return vrs_no_memory(p->err);
    TRY(reserve_device(p, device));

    uint32_t first_row = p->r->allocations.rows.len;
    for (uint32_t i = 0; i < d->events[device]; i++)
        TRY(pair_event(p, d->first_event[device] + i));
    if (anchored || d->events[device] == 0)
        TRY(pair_blocks(p, device));
    if (!anchored)
        TRY(returned_unobtained_bytes(p->r, device, &p->counts.returned_unobtained_bytes, p->err));

    d->first_allocation[device] = first_row;
    d->allocations[device] = p->r->allocations.rows.len - first_row;
    d->orphan_frees[device] = p->counts.orphan_frees;
    d->double_allocs[device] = p->counts.double_allocs;
    d->returned_unobtained_bytes[device] = p->counts.returned_unobtained_bytes;
    return VRS_OK;
}

enum vrs_status pair_allocations(struct recording *r, struct vrs_error *err)
{
    struct pairing p = { .r = r, .err = err, .open.max = UINT32_MAX };
    enum vrs_status status = VRS_OK;
    r->allocations.rows.len = 0;
    for (uint32_t i = 0; status == VRS_OK && i < r->devices.rows.len; i++)
        status = pair_device(&p, i);
    vec_free(&p.open);
    idtab_free(&p.index);
    if (status == VRS_OK)
        table_trim(&r->allocations, &allocations_kind);
    return status;
}
