/* named.c - a table of what is in use by address, asked once for each name. */
#include "model/named.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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
    bool later;          /* of the list: it may have been allocated after that was begun */
    bool gone;           /* no longer in use: freed after the list was begun */
};

/* The list of names among the events of a device. */
struct moment {
    bool known;        /* false: no times tell, and everything counts as older than the list */
    uint32_t first;    /* event of the device */
    uint32_t is_later; /* the first event that is not older than the list, or may not be */
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

bool named_datable(const struct recording *r, uint32_t device)
{
    const uint64_t *time = r->events.time_us + r->devices.first_event[device];
    uint32_t i = 0, events = r->devices.events[device];
    while (i < events && time[i] == UNKNOWN_U64)
        i++;
    return i < events && r->named_facts.time_us != UNKNOWN_U64;
}

static struct moment moment_of(const struct recording *r, uint32_t device)
{
    const uint64_t *time = r->events.time_us, begun = r->named_facts.time_us;
    uint32_t first = r->devices.first_event[device], i = first;
    uint32_t end = first + r->devices.events[device];
    bool known = named_datable(r, device);
    while (known && i < end && (time[i] == UNKNOWN_U64 || time[i] < begun))
        i++;
    while (i > first && time[i - 1] == UNKNOWN_U64)
        i--;
    return (struct moment){ known, first, i };
}

/* An allocation without an event is older than the trace, which helps only where some of that is
 * older than the list. */
static bool may_be_later(const struct recording *r, const struct moment *m, uint32_t row)
{
    uint32_t event = r->allocations.alloc_event[row];
    if (!m->known)
        return false;
    return event == NO_ROW ? m->is_later == m->first : event >= m->is_later;
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

/* What is freed after the list was begun was in use when it was made; what is there now although
 * the trace has no alloc of it came behind that. */
static bool note_freed(struct matching *m, const struct moment *moment, uint32_t device,
                       uint32_t row)
{
    const struct allocations *a = &m->r->allocations;
    uint32_t freed = a->free_requested_event[row];
    uint64_t hash;
    if (!moment->known || freed == NO_ROW || freed < moment->is_later)
        return true;
    if (!idtab_reserve(&m->index))
        return false;
    struct place gone = { .address = m->r->events.address[freed],
                          .device = device,
                          .allocation = row,
                          .claimed_by = NO_ROW,
                          .later = true,
                          .gone = true };
    uint32_t at = find_slot(m, device, gone.address, &hash), id = m->index.slot[at].id;
    struct place *now = id == 0 ? NULL : &m->place[id - 1];
    if (now == NULL) {
        m->place[m->places++] = gone;
        idtab_put(&m->index, hash, m->places);
    } else if (now->allocation != NO_ROW && now->allocation != row) {
        now->later = now->later || a->alloc_event[now->allocation] == NO_ROW;
    }
    return true;
}

static bool note_device(struct matching *m, uint32_t device)
{
    const struct recording *r = m->r;
    struct moment moment = moment_of(r, device);
    uint32_t first = r->devices.first_allocation[device];
    uint32_t end = first + r->devices.allocations[device];
    for (uint32_t row = first; row < end; row++) {
        struct place place;
        if (!place_of(r, device, row, &place))
            continue;
        place.later = may_be_later(r, &moment, row);
        if (!note_place(m, &place))
            return false;
    }
    for (uint32_t row = first; row < end; row++)
        if (!note_freed(m, &moment, device, row))
            return false;
    return true;
}

static bool note_places(struct matching *m)
{
    const struct devices *d = &m->r->devices;
    if (!idtab_reserve(&m->index))
        return false;
    for (uint32_t device = 0; device < d->rows.len; device++)
        if (d->kind[device] == DEVICE_CUDA && !note_device(m, device))
            return false;
    return true;
}

/* Two entries that say the same of the same memory are one, said twice. */
static bool says_the_same(const struct named_tensors *n, uint32_t a, uint32_t b)
{
    return n->name[a] == n->name[b] && n->kind[a] == n->kind[b];
}

/* One more entry for memory that an entry has a name for already. */
static enum named_standing match_again(struct named_tensors *n, uint32_t other, uint32_t row)
{
    if (says_the_same(n, other, row) && n->standing[other] == NAMED_HOLDS)
        return NAMED_REPEATED;
    n->standing[other] = NAMED_DISPUTED;
    n->allocation[other] = NO_ROW;
    return NAMED_DISPUTED;
}

static enum named_standing match_place(struct named_tensors *n, struct place *place, uint32_t row)
{
    if (place->later)
        return NAMED_LATER;
    if (place->allocation == NO_ROW)
        return NAMED_DISPUTED;
    if (n->bytes[row] > place->bytes)
        return NAMED_TOO_LARGE;
    if (place->claimed_by != NO_ROW)
        return match_again(n, place->claimed_by, row);
    place->claimed_by = row;
    n->allocation[row] = place->allocation;
    return NAMED_HOLDS;
}

static void match(struct matching *m, uint32_t row)
{
    struct named_tensors *n = &m->r->named;
    uint32_t device = named_device(m->r, row), slot = 0;
    uint64_t hash;
    n->allocation[row] = NO_ROW;
    if (device != NO_ROW)
        slot = m->index.slot[find_slot(m, device, n->address[row], &hash)].id;
    if (slot == 0)
        n->standing[row] = device == NO_ROW ? NAMED_NO_DEVICE : NAMED_NOWHERE;
    else
        n->standing[row] = (uint8_t)match_place(n, &m->place[slot - 1], row);
}

static int by_address(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

/* Tells what lies inside of memory in use from what lies nowhere; the index is of no use after. */
static void match_insides(struct matching *m)
{
    struct named_tensors *n = &m->r->named;
    struct place *place = m->place;
    uint32_t places = 0, at;
    for (uint32_t i = 0; i < m->places; i++)
        if (!place[i].gone)
            place[places++] = place[i];
    qsort(place, places, sizeof *place, by_address);
    for (uint32_t i = 0; i < n->rows.len; i++) {
        if (n->standing[i] != NAMED_NOWHERE)
            continue;
        struct place claimed = { .device = named_device(m->r, i), .address = n->address[i] };
        SORTED_FIND(at, places, by_address(&place[at], &claimed) < 0);
        if (at > 0 && place[at - 1].device == claimed.device &&
            claimed.address - place[at - 1].address < place[at - 1].bytes)
            n->standing[i] = NAMED_INSIDE;
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
    match_insides(m);
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
