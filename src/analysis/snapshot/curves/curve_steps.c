/* curve_steps.c - what each event changes. */
#include "analysis/snapshot/curves/curve_steps.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

static uint32_t *no_rows(struct arena *arena, uint32_t count)
{
    uint32_t *made = arena_array(arena, uint32_t, count);
    if (made != NULL && count > 0)
        memset(made, 0xff, (size_t)count * sizeof *made); /* NO_ROW */
    return made;
}

static void place(struct curve_steps *c, uint32_t i)
{
    const struct lifetime *l = &c->lifetimes->at[i];
    int64_t events = c->events;
    if (l->birth >= 0) {
        c->begins[l->birth] = i;
    } else {
        uint64_t block = block_of(c->sizes, c->lifetimes->first + i).bytes;
        c->start[CURVE_ACTIVE] += block;
        c->start[CURVE_ALLOCATED] += l->requested >= 0 ? block : 0;
    }
    if (l->requested >= 0 && l->requested < events)
        c->asked[l->requested] = i;
    if (l->freed < events)
        c->ends[l->freed] = i;
}

enum vrs_status curve_steps_begin(const struct recording *r, uint32_t device,
                                  const struct lifetimes *lifetimes,
                                  const struct block_sizes *sizes, struct arena *arena,
                                  struct curve_steps *ret, struct vrs_error *err)
{
    struct curve_steps c = {
        .r = r,
        .first = r->devices.first_event[device],
        .events = r->devices.events[device],
        .lifetimes = lifetimes,
        .sizes = sizes,
    };
    c.begins = no_rows(arena, c.events);
    c.asked = no_rows(arena, c.events);
    c.ends = no_rows(arena, c.events);
    if (c.begins == NULL || c.asked == NULL || c.ends == NULL)
        return vrs_no_memory(err);
    c.start[CURVE_REQUESTED] = (uint64_t)curve_at(r, device, CURVE_REQUESTED, -1);
    c.start[CURVE_RESERVED] = (uint64_t)curve_at(r, device, CURVE_RESERVED, -1);
    for (uint32_t i = 0; i < lifetimes->count; i++)
        place(&c, i);
    *ret = c;
    curve_steps_restart(ret);
    return VRS_OK;
}

void curve_steps_restart(struct curve_steps *c)
{
    memcpy(c->bytes, c->start, sizeof c->bytes);
    c->next = 0;
}

static uint64_t block_bytes(const struct curve_steps *c, uint32_t allocation)
{
    return allocation == NO_ROW ? 0 : block_of(c->sizes, c->lifetimes->first + allocation).bytes;
}

bool curve_steps_next(struct curve_steps *c)
{
    if (c->next == c->events)
        return false;
    uint32_t i = c->next++, row = c->first + i;
    uint8_t action = c->r->events.action[row];
    uint64_t size = known_or_0(c->r->events.size[row]);
    bool completes = action == ACTION_FREE_COMPLETED || action == ACTION_FREE;
    if (action == ACTION_ALLOC || completes)
        c->bytes[CURVE_REQUESTED] += completes ? -size : size;
    if (action_obtains(action) || action_returns(action))
        c->bytes[CURVE_RESERVED] += action_returns(action) ? -size : size;
    uint32_t ends = c->ends[i];
    c->bytes[CURVE_ACTIVE] += block_bytes(c, c->begins[i]) - block_bytes(c, ends);
    c->bytes[CURVE_ALLOCATED] += block_bytes(c, c->begins[i]) - block_bytes(c, c->asked[i]);
    /* One that ends without having been asked to. */
    if (ends != NO_ROW && c->lifetimes->at[ends].requested >= c->lifetimes->at[ends].freed &&
        c->asked[i] != ends)
        c->bytes[CURVE_ALLOCATED] -= block_bytes(c, ends);
    return true;
}
