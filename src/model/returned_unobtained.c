/* returned_unobtained.c - interval arithmetic over the segment events of a device.
 *
 * The ends of all ranges cut the address space into cells.  Only the first event that touches a
 * cell decides: when it returns memory, the cell was there before the trace.  Touched cells are
 * skipped by union-find, so each is visited once, whatever the ranges are. */
#include "model/returned_unobtained.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/sorted.h"
#include "model/ids.h"

struct range {
    uint64_t from, to;
    bool returned;
};

static bool range_of(const struct events *e, uint32_t row, struct range *ret)
{
    bool obtained = action_obtains(e->action[row]), returned = action_returns(e->action[row]);
    uint64_t from = e->address[row], size = e->size[row];
    if ((!obtained && !returned) || from == UNKNOWN_U64 || size == UNKNOWN_U64 || size == 0)
        return false;
    *ret = (struct range){ from, size > UINT64_MAX - from ? UINT64_MAX : from + size, returned };
    return true;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first untouched cell from `cell` on; paths are halved on the way. */
static uint32_t untouched(uint32_t *next, uint32_t cell)
{
    while (next[cell] != cell) {
        next[cell] = next[next[cell]];
        cell = next[cell];
    }
    return cell;
}

static uint64_t sum_first_touches(const struct recording *r, uint32_t device, const uint64_t *end,
                                  uint32_t ends, uint32_t *next)
{
    uint64_t bytes = 0;
    uint32_t first = r->devices.first_event[device];
    for (uint32_t i = 0; i < r->devices.events[device]; i++) {
        struct range range;
        if (!range_of(&r->events, first + i, &range))
            continue;
        uint32_t cell = untouched(next, sorted_at_least(end, ends, range.from));
        for (; cell < ends - 1 && end[cell] < range.to; cell = untouched(next, cell)) {
            if (range.returned)
                bytes += end[cell + 1] - end[cell];
            next[cell] = cell + 1;
        }
    }
    return bytes;
}

enum vrs_status returned_unobtained_bytes(const struct recording *r, uint32_t device, uint64_t *ret,
                                          struct vrs_error *err)
{
    uint32_t first = r->devices.first_event[device], ranges = 0;
    struct range range;
    for (uint32_t i = 0; i < r->devices.events[device]; i++)
        ranges += range_of(&r->events, first + i, &range);
    if (ranges == 0) {
        *ret = 0;
        return VRS_OK;
    }

    struct arena scratch;
    arena_init(&scratch, SIZE_MAX);
    uint32_t ends = 0;
    uint64_t *end =
        ranges > UINT32_MAX / 2 ? NULL : arena_array(&scratch, uint64_t, (size_t)ranges * 2);
    uint32_t *next = end == NULL ? NULL : arena_array(&scratch, uint32_t, (size_t)ranges * 2);
    if (next == NULL) {
        arena_free(&scratch);
        return vrs_no_memory(err);
    }
    for (uint32_t i = 0; i < r->devices.events[device]; i++)
        if (range_of(&r->events, first + i, &range)) {
            end[ends++] = range.from;
            end[ends++] = range.to;
        }
    qsort(end, ends, sizeof *end, by_value);
    for (uint32_t i = 0; i < ends; i++)
        next[i] = i;
    *ret = sum_first_touches(r, device, end, ends, next);
    arena_free(&scratch);
    return VRS_OK;
}
