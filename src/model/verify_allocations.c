/* verify_allocations.c - each life against the events and the block it names. */
#include "model/verify_allocations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "model/ids.h"

struct life {
    uint32_t row;
    uint32_t born, asked, done, block;
    uint32_t first; /* event that names it first; NO_ROW: only a block does */
};

static struct life life_at(const struct recording *r, uint32_t row)
{
    const struct allocations *a = &r->allocations;
    struct life life = { row,
                         a->alloc_event[row],
                         a->free_requested_event[row],
                         a->free_completed_event[row],
                         a->block[row],
                         NO_ROW };
    life.first = life.born != NO_ROW ? life.born : life.asked;
    return life;
}

static enum vrs_status wrong(const struct life *life, const char *what, struct vrs_error *err)
{
    return vrs_fail(err, VRS_CORRUPT, "allocations, row %u: %s", life->row, what);
}

static bool outside(const struct recording *r, uint32_t device, uint32_t event)
{
    uint32_t first = r->devices.first_event[device];
    return event != NO_ROW && (event < first || event - first >= r->devices.events[device]);
}

/* A free ends an allocation, or an alloc of the same address that the trace did not expect. */
static bool may_end(uint8_t action)
{
    return action == ACTION_FREE_COMPLETED || action == ACTION_FREE || action == ACTION_ALLOC;
}

static enum vrs_status check_events_of(const struct recording *r, uint32_t device,
                                       const struct life *life, struct vrs_error *err)
{
    const struct events *e = &r->events;
    if (outside(r, device, life->born) || outside(r, device, life->asked) ||
        outside(r, device, life->done))
        return wrong(life, "an event of another device", err);
    if (life->born != NO_ROW && e->action[life->born] != ACTION_ALLOC)
        return wrong(life, "born of an event that allocates nothing", err);
    if (life->asked != NO_ROW && e->action[life->asked] != ACTION_FREE_REQUESTED &&
        !may_end(e->action[life->asked]))
        return wrong(life, "its free was asked for by another kind of event", err);
    if (life->done != NO_ROW && !may_end(e->action[life->done]))
        return wrong(life, "freed by an event that frees nothing", err);
    if (life->done != NO_ROW && (life->asked == NO_ROW || life->asked > life->done))
        return wrong(life, "freed before it was asked for", err);
    if (life->born != NO_ROW && life->asked != NO_ROW && life->asked <= life->born)
        return wrong(life, "freed before it was born", err);
    if (life->first == NO_ROW)
        return VRS_OK;
    uint64_t address = e->address[life->first];
    if (address == UNKNOWN_U64 || (life->asked != NO_ROW && e->address[life->asked] != address) ||
        (life->done != NO_ROW && e->address[life->done] != address))
        return wrong(life, "its events are at different addresses", err);
    if (r->allocations.size[life->row] != e->size[life->first])
        return wrong(life, "its size is not that of its first event", err);
    return VRS_OK;
}

static enum vrs_status check_block_of(const struct recording *r, uint32_t device,
                                      const struct life *life, uint8_t *taken,
                                      struct vrs_error *err)
{
    if (life->block == NO_ROW)
        return life->first == NO_ROW ? wrong(life, "neither an event nor a block", err) : VRS_OK;
    uint32_t first = r->devices.first_block[device];
    if (life->block < first || life->block - first >= r->devices.blocks[device])
        return wrong(life, "a block of another device", err);
    if (!block_live(r, life->block))
        return wrong(life, "survives in a free block", err);
    if (life->done != NO_ROW)
        return wrong(life, "freed, and survives", err);
    if (life->first != NO_ROW && r->blocks.address[life->block] != r->events.address[life->first])
        return wrong(life, "its block is at another address", err);
    if (taken[life->block]++ != 0)
        return wrong(life, "its block is another's too", err);
    return VRS_OK;
}

static enum vrs_status check_device(const struct recording *r, uint32_t device, uint8_t *taken,
                                    struct vrs_error *err)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < r->devices.allocations[device]; i++) {
        struct life life = life_at(r, r->devices.first_allocation[device] + i);
        TRY(check_events_of(r, device, &life, err));
        TRY(check_block_of(r, device, &life, taken, err));
        /* NO_ROW is larger than any event, so those that only a block knows come last. */
        if (life.first < before)
            return wrong(&life, "out of order", err);
        before = life.first;
    }
    return VRS_OK;
}

enum vrs_status verify_allocations(const struct recording *r, struct vrs_error *err)
{
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX);
    uint8_t *taken = arena_array(&scratch, uint8_t, r->blocks.rows.len);
    enum vrs_status status = taken == NULL ? vrs_no_memory(err) : VRS_OK;
    for (uint32_t i = 0; status == VRS_OK && i < r->devices.rows.len; i++)
        status = check_device(r, i, taken, err);
    arena_free(&scratch);
    return status;
}
