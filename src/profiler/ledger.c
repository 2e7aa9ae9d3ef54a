/* ledger.c - one reading, and at most one reset, for whatever is asked. */
#include "profiler/ledger.h"

#include <stddef.h>
#include <string.h>

#include "profiler/clock.h"

static uint64_t more_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Nothing is known of any figure. */
static const struct vrs_stats nothing = {
    .now = { VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN },
    .peak = { VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN },
    .inactive_split = VRS_UNKNOWN,
    .allocated_bytes = VRS_UNKNOWN,
    .freed_bytes = VRS_UNKNOWN,
    .allocations = VRS_UNKNOWN,
    .frees = VRS_UNKNOWN,
    .retries = VRS_UNKNOWN,
    .ooms = VRS_UNKNOWN,
};

void ledger_init(struct ledger *l, uint32_t slots_max)
{
    *l = (struct ledger){ .last = nothing, .last_ns = VRS_UNKNOWN };
    l->slots.max = l->open.max = slots_max;
}

void ledger_free(struct ledger *l)
{
    vec_free(&l->slots);
    vec_free(&l->open);
}

static bool known(const struct vrs_stats *reading, uint32_t k)
{
    return reading->now[k] != VRS_UNKNOWN && reading->peak[k] != VRS_UNKNOWN;
}

static void worsen(struct ledger_slot *s, enum vrs_state state)
{
    if (s->state < state)
        s->state = (uint8_t)state;
}

/* A stretch of the slot has ended: the counter stands at `now`, its peak since the last reset is
 * `peak`. */
static void add(struct ledger_slot *s, uint32_t k, uint64_t now, uint64_t peak)
{
    if (s->fold[k] == VRS_UNKNOWN)
        return;
    bool before = s->tainted[k] && peak <= s->open_peak[k];
    s->fold[k] = more_of(s->fold[k], before ? now : peak);
    s->at_most[k] = more_of(s->at_most[k], before ? s->open_peak[k] : peak);
}

/* The counter's peaks, which are gone, are folded into every open slot.  A curve that was not known
 * then never will be. */
static void fold_all(struct ledger *l, const struct vrs_stats *reading)
{
    for (uint32_t i = 0; i < l->open.len; i++) {
        struct ledger_slot *s = &l->slots.at[l->open.at[i]];
        for (uint32_t k = 0; k < VRS_CURVES; k++) {
            if (known(reading, k))
                add(s, k, reading->now[k], reading->peak[k]);
            else
                s->fold[k] = VRS_UNKNOWN;
            s->tainted[k] = false;
        }
    }
}

static bool has_fallen(const struct ledger *l, const struct vrs_stats *reading, uint32_t k)
{
    return known(reading, k) && reading->peak[k] < l->seen[k];
}

/* Whether the slot was open when a peak was seen that has fallen since. */
static bool was_open(const struct ledger *l, const struct ledger_slot *s,
                     const struct vrs_stats *reading)
{
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        if (has_fallen(l, reading, k) && s->fold[k] != VRS_UNKNOWN)
            return true;
    return false;
}

/* Somebody else has reset the peaks: what they were at the last reading is all that is left. */
static void lose(struct ledger *l, const struct vrs_stats *reading)
{
    for (uint32_t i = 0; i < l->open.len; i++) {
        struct ledger_slot *s = &l->slots.at[l->open.at[i]];
        /* A slot that does not know the curve may be younger than the reset, and still tainted. */
        bool across = was_open(l, s, reading);
        for (uint32_t k = 0; k < VRS_CURVES; k++) {
            add(s, k, 0, l->seen[k]);
            s->tainted[k] = s->tainted[k] && !across;
        }
        worsen(s, VRS_LOST);
    }
    memset(l->seen, 0, sizeof l->seen);
    l->foreign_resets++;
}

/* Counters that only grow have fallen. */
static bool totals_fell(const struct vrs_stats *before, const struct vrs_stats *now)
{
    return before->allocated_bytes > now->allocated_bytes ||
           before->freed_bytes > now->freed_bytes || before->allocations > now->allocations ||
           before->frees > now->frees;
}

static void notice(struct ledger *l, const struct vrs_stats *reading)
{
    bool fell = false;
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        fell |= has_fallen(l, reading, k);
    if (fell)
        lose(l, reading);
    bool gross = l->has_last && totals_fell(&l->last, reading);
    for (uint32_t i = 0; i < l->open.len; i++) {
        struct ledger_slot *s = &l->slots.at[l->open.at[i]];
        s->gross_lost |= gross;
        for (uint32_t k = 0; k < VRS_CURVES; k++)
            if (s->tainted[k] && known(reading, k) && s->fold[k] != VRS_UNKNOWN)
                s->fold[k] = more_of(s->fold[k], reading->now[k]);
    }
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        if (known(reading, k))
            l->seen[k] = reading->peak[k];
    l->last = *reading;
    l->has_last = true;
}

/* Reads by one of the backend's two functions. */
static bool read_by(struct ledger *l, enum vrs_status (*call)(void *, uint32_t, struct vrs_stats *),
                    const struct vrs_backend *b, uint32_t device, struct vrs_stats *ret)
{
    struct vrs_stats reading = nothing;
    if (call == NULL)
        return false;
    l->asking = call == b->stats; /* what a reset has done is not in the ledger yet */
    uint64_t asked_ns = l->watchers != 0 ? clock_ns(b) : VRS_UNKNOWN;
    enum vrs_status status = call(b->arg, device, &reading);
    l->asking = false;
    if (status != VRS_OK) {
        l->failed_readings++;
        return false;
    }
    notice(l, &reading);
    l->last_ns = asked_ns;
    *ret = reading;
    return true;
}

bool ledger_read(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                 struct vrs_stats *ret)
{
    return read_by(l, b->stats, b, device, ret);
}

static bool peak_is_past(const struct vrs_stats *reading)
{
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        if (known(reading, k) && reading->peak[k] > reading->now[k])
            return true;
    return false;
}

/* Resets the peaks; `*reading` is then what they were reset at.  False: they were not. */
static bool reset(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                  struct vrs_stats *reading)
{
    if (b->swap_peak != NULL)
        return read_by(l, b->swap_peak, b, device, reading);
    if (b->reset_peak == NULL)
        return false;
    bool done = b->reset_peak(b->arg, device) == VRS_OK;
    l->failed_readings += !done;
    return done;
}

enum outcome { NOT_READ, READ, RESET };

/* The reading with which an interval begins.  After it the counter's peaks stand at its values,
 * wherever a reset was needed and could be had; `ret->peak` says what they stand at. */
static enum outcome read_and_reset(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                                   uint32_t flags, struct vrs_stats *ret)
{
    *ret = nothing;
    if (!ledger_read(l, b, device, ret))
        return NOT_READ;
    bool allowed = l->keepers == 0 && !(flags & (VRS_KEEP_PEAK | VRS_FROM_RESET)) &&
                   !(flags & VRS_NO_RESET);
    if (!allowed || !peak_is_past(ret) || !reset(l, b, device, ret))
        return READ;
    /* Folded only now: where a reset fails, the peak and what is tainted by it stay. */
    fold_all(l, ret);
    for (uint32_t k = 0; k < VRS_CURVES; k++) {
        l->seen[k] = 0;
        if (known(ret, k))
            ret->peak[k] = ret->now[k];
    }
    l->last = *ret;
    return RESET;
}

/* After a reset that was not one with the reading: what was allocated between the two was missed by
 * whoever is open now.  Looked at where somebody who is wants to know. */
static void check_race(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                       const struct vrs_stats *before)
{
    struct vrs_stats again;
    if (b->swap_peak != NULL || l->strict == 0 ||
        (ledger_read(l, b, device, &again) && again.allocations != VRS_UNKNOWN &&
         again.allocations == before->allocations))
        return;
    for (uint32_t i = 0; i < l->open.len; i++)
        worsen(&l->slots.at[l->open.at[i]], VRS_RACED);
}

/* Begins the interval of a slot with a reading, which is nothing where there was none. */
static void begin(struct ledger_slot *s, const struct vrs_stats *r, enum outcome outcome)
{
    s->state = outcome == NOT_READ ? VRS_STATE_UNKNOWN : VRS_EXACT;
    s->gross_lost = false;
    s->allocated_bytes = r->allocated_bytes;
    s->freed_bytes = r->freed_bytes;
    s->allocations = r->allocations;
    s->frees = r->frees;
    for (uint32_t k = 0; k < VRS_CURVES; k++) {
        bool is_known = known(r, k);
        s->fold[k] = s->at_most[k] = s->start[k] = is_known ? r->now[k] : VRS_UNKNOWN;
        s->open_peak[k] = r->peak[k];
        s->tainted[k] = is_known && r->peak[k] > r->now[k];
    }
}

/* As if it had been opened when the counter's peaks were last reset. */
static void since_reset(struct ledger_slot *s)
{
    for (uint32_t k = 0; k < VRS_CURVES; k++) {
        s->tainted[k] = false;
        if (s->fold[k] != VRS_UNKNOWN)
            s->fold[k] = s->at_most[k] = s->open_peak[k];
    }
}

/* A place for a slot; NO_PLACE: there is none. */
enum { NO_PLACE = UINT32_MAX };
static uint32_t place_take(struct ledger *l)
{
    if (!vec_reserve(&l->open, 1))
        return NO_PLACE;
    uint32_t place = l->empty - 1;
    if (l->empty != 0) {
        l->empty = l->slots.at[place].order;
    } else {
        if (!vec_push(&l->slots, (struct ledger_slot){ .turn = 0 }))
            return NO_PLACE;
        place = l->slots.len - 1;
    }
    struct ledger_slot *s = &l->slots.at[place];
    s->used = true;
    s->turn = l->turns++;
    s->order = l->open.len;
    l->open.at[l->open.len++] = place;
    l->open_slots = l->open.len;
    return place;
}

static void place_give(struct ledger *l, uint32_t place)
{
    struct ledger_slot *s = &l->slots.at[place];
    uint32_t last = l->open.at[--l->open.len];
    l->open_slots = l->open.len;
    l->open.at[s->order] = last;
    l->slots.at[last].order = s->order;
    if (s->flags & VRS_KEEP_PEAK)
        l->keepers--;
    if (s->flags & VRS_STRICT)
        l->strict--;
    s->used = false;
    s->order = l->empty;
    l->empty = place + 1;
}

/* NULL: it was never opened, or is closed. */
static struct ledger_slot *slot_of(struct ledger *l, const struct vrs_slot *slot)
{
    if (slot->place == 0 || slot->place > l->slots.len)
        return NULL;
    struct ledger_slot *s = &l->slots.at[slot->place - 1];
    return s->used && s->turn == slot->turn ? s : NULL;
}

static void place_fill(struct ledger *l, uint32_t place, uint32_t flags,
                       const struct vrs_stats *reading, enum outcome outcome, struct vrs_slot *ret)
{
    struct ledger_slot *s = &l->slots.at[place];
    s->flags = flags;
    if (flags & VRS_KEEP_PEAK)
        l->keepers++;
    if (flags & VRS_STRICT)
        l->strict++;
    begin(s, reading, outcome);
    if (flags & VRS_FROM_RESET)
        since_reset(s);
    ret->place = place + 1;
    ret->turn = s->turn;
}

void ledger_open(struct ledger *l, const struct vrs_backend *b, uint32_t device, uint32_t flags,
                 struct vrs_slot *ret)
{
    ret->place = ret->turn = 0;
    struct vrs_stats reading;
    enum outcome outcome = read_and_reset(l, b, device, flags, &reading);
    uint32_t place = place_take(l);
    if (place == NO_PLACE)
        l->slots_refused++;
    else
        place_fill(l, place, flags, &reading, outcome, ret);
    if (outcome == RESET)
        check_race(l, b, device, &reading);
}

void ledger_forget(struct ledger *l)
{
    /* What the vecs point to may be given back already; it is left to the end of the process. */
    l->slots.at = NULL;
    l->open.at = NULL;
    l->slots.len = l->slots.cap = l->open.len = l->open.cap = 0;
    l->empty = l->keepers = l->strict = 0;
    l->open_slots = 0;
    memset(l->seen, 0, sizeof l->seen);
    l->last = nothing;
    l->last_ns = VRS_UNKNOWN;
    l->has_last = false;
    l->asking = false;
}

void ledger_unknown(const struct ledger *l, enum vrs_state state, struct vrs_peaks *ret)
{
    *ret = (struct vrs_peaks){ .now = l->last, .state = state };
    memcpy(ret->start, nothing.now, sizeof ret->start);
    memcpy(ret->peak, nothing.now, sizeof ret->peak);
    memcpy(ret->at_most, nothing.now, sizeof ret->at_most);
    ret->allocated_bytes = ret->freed_bytes = ret->allocations = ret->frees = VRS_UNKNOWN;
}

static uint64_t counted(uint64_t from, uint64_t to)
{
    return from == VRS_UNKNOWN || to == VRS_UNKNOWN ? VRS_UNKNOWN : to - from;
}

/* What the slot gives when its interval ends with this reading, which has been folded or is now. */
static void end(struct ledger_slot *s, const struct vrs_stats *reading, struct vrs_peaks *ret)
{
    ret->now = *reading;
    ret->state = (enum vrs_state)s->state;
    for (uint32_t k = 0; k < VRS_CURVES; k++) {
        if (known(reading, k))
            add(s, k, reading->now[k], reading->peak[k]);
        else
            s->fold[k] = VRS_UNKNOWN;
        ret->start[k] = s->start[k];
        ret->peak[k] = s->fold[k];
        ret->at_most[k] = s->fold[k] == VRS_UNKNOWN ? VRS_UNKNOWN : s->at_most[k];
        if (ret->peak[k] < ret->at_most[k] && ret->peak[k] != VRS_UNKNOWN &&
            ret->state < VRS_SAMPLED)
            ret->state = VRS_SAMPLED;
    }
    if (s->state >= VRS_LOST)
        memcpy(ret->at_most, nothing.now, sizeof ret->at_most);
    ret->allocated_bytes = counted(s->allocated_bytes, reading->allocated_bytes);
    ret->freed_bytes = counted(s->freed_bytes, reading->freed_bytes);
    ret->allocations = counted(s->allocations, reading->allocations);
    ret->frees = counted(s->frees, reading->frees);
    if (s->gross_lost)
        ret->allocated_bytes = ret->freed_bytes = ret->allocations = ret->frees = VRS_UNKNOWN;
}

void ledger_mark(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                 struct vrs_slot *slot, struct vrs_peaks *ret)
{
    struct vrs_stats reading;
    const struct ledger_slot *before = slot_of(l, slot);
    uint32_t flags = before != NULL ? before->flags & VRS_NO_RESET : 0;
    enum outcome outcome = read_and_reset(l, b, device, flags, &reading);
    ledger_unknown(l, VRS_STATE_UNKNOWN, ret);
    ret->now = reading;
    struct ledger_slot *s = slot_of(l, slot); /* only now: a finalizer may have closed it */
    if (s == NULL) {
        slot->place = 0;
    } else if (outcome != NOT_READ) {
        if (s->state != VRS_STATE_UNKNOWN)
            end(s, &reading, ret);
        begin(s, &reading, outcome);
    }
    if (outcome == RESET)
        check_race(l, b, device, &reading);
}

void ledger_mark_last(struct ledger *l, struct vrs_slot *slot, struct vrs_peaks *ret)
{
    struct ledger_slot *s = slot_of(l, slot);
    ledger_unknown(l, VRS_STATE_UNKNOWN, ret);
    if (s == NULL) {
        slot->place = 0;
    } else if (l->has_last) {
        if (s->state != VRS_STATE_UNKNOWN)
            end(s, &l->last, ret);
        begin(s, &l->last, READ);
    }
}

void ledger_close(struct ledger *l, const struct vrs_backend *b, uint32_t device,
                  struct vrs_slot *slot, struct vrs_peaks *ret)
{
    struct vrs_stats reading = nothing;
    bool read = ledger_read(l, b, device, &reading);
    ledger_unknown(l, VRS_STATE_UNKNOWN, ret);
    ret->now = reading;
    struct ledger_slot *s = slot_of(l, slot);
    if (read && s != NULL && s->state != VRS_STATE_UNKNOWN)
        end(s, &reading, ret);
    ledger_drop(l, slot);
}

void ledger_drop(struct ledger *l, struct vrs_slot *slot)
{
    if (slot_of(l, slot) != NULL)
        place_give(l, slot->place - 1);
    slot->place = 0;
}
