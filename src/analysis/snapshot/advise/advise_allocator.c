/* advise_allocator.c - settings of the allocator, and what waits on other streams. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/recorded.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/oom/oom_what_if.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* Stacks of Windows, where expandable segments do not exist. */
static bool is_windows(const struct recording *r)
{
    for (uint32_t i = 1; i < r->code.frames.rows.len; i++) {
        str file = strings_text(&r->code.strings, (string_id){ r->code.frames.file[i] });
        if (file.len > 2 && file.ptr[1] == ':' && (file.ptr[2] == '\\' || file.ptr[2] == '/'))
            return true;
    }
    return false;
}

static uint32_t bursts_of(const struct timeline *t, enum burst_cause cause)
{
    uint32_t count = 0;
    for (uint32_t i = 0; t != NULL && i < t->bursts; i++)
        count += t->burst[i].cause == cause;
    return count;
}

static const struct time_burst *last_burst(const struct timeline *t, enum burst_cause cause)
{
    for (uint32_t i = t == NULL ? 0 : t->bursts; i-- > 0;)
        if (t->burst[i].cause == cause)
            return &t->burst[i];
    return NULL;
}

/* What is stranded where most is reserved, else at the end. */
static bool stranded(const struct advising *a, uint64_t *ret_bytes, uint64_t *ret_reserved)
{
    const struct timeline *t = a->in->timeline;
    if (t != NULL && t->gap.known) {
        *ret_bytes = t->gap.stranded_bytes;
        *ret_reserved = (uint64_t)t->gap.reserved_bytes;
        return true;
    }
    const struct fragments *f = a->in->fragments;
    if (f == NULL)
        return false;
    *ret_bytes = f->total.stranded_bytes;
    *ret_reserved = f->total.reserved_bytes;
    return true;
}

/* Was memory short: an out-of-memory event, or a retry? */
static bool was_short(const struct advising *a)
{
    const struct timeline *t = a->in->timeline;
    return a->first_oom < (int64_t)a->s->events || bursts_of(t, BURST_RETRY) > 0;
}

/* Is most of a known capacity reserved, where most is? */
static bool was_near(const struct advising *a)
{
    const struct timeline *t = a->in->timeline;
    uint64_t most = t == NULL || t->gap.reserved_bytes < 0 ? 0 : (uint64_t)t->gap.reserved_bytes;
    return a->in->capacity_bytes > 0 && most >= percent_of(a->in->capacity_bytes, NEAR_PERCENT);
}

/* Do workspaces of libraries keep most of it from being returned?  Every process has those. */
static bool is_expected(const struct advising *a)
{
    const struct fragments *f = a->in->fragments;
    uint64_t expected = 0, all = 0;
    for (uint32_t i = 0; f != NULL && i < f->pins; i++) {
        all += f->pin[i].stranded_bytes;
        expected += f->pin[i].by.expected ? f->pin[i].stranded_bytes : 0;
    }
    return all > 0 && expected > all / 2;
}

/* Where the recorded program was replayed with them, that tells what they save. */
static bool verify_expandable(struct advising *a, const struct oom_what_if *w)
{
    int64_t most = a->s->curves.of[CURVE_RESERVED].peak_bytes;
    if (w->expandable == EXPANDABLE_RUNS_OUT)
        return advise_silent(a,
                             "a replay with expandable segments runs out of memory all the same");
    if (w->expandable == EXPANDABLE_NOT_ASKED)
        return true;
    bool less = most > 0 && w->expandable_peak_bytes < (uint64_t)most;
    a->now.saving_bytes = less ? (uint64_t)most - w->expandable_peak_bytes : 0;
    a->now.source = SAVING_VERIFIED;
    a->now.at_most = false;
    return true;
}

bool advise_expandable(struct advising *a)
{
    uint64_t bytes, reserved;
    if (config_of_recording(a->s->r).expandable)
        return advise_silent(a, "expandable segments are in use");
    if (!stranded(a, &bytes, &reserved))
        return advise_silent(a, "the layout of memory is not known");
    uint64_t least = percent_of(reserved, STRANDED_PERCENT);
    least = least > STRANDED_LEAST ? least : STRANDED_LEAST;
    advise_condition(a, "stranded_bytes", (double)bytes, (double)least);
    if (bytes < least && !a->in->fragmented)
        return advise_silent(a,
                             "less than 5 % of reserved memory is stranded, or less than 256 MiB");
    if (!was_short(a) && !was_near(a))
        return advise_silent(a, "memory was never short");
    if (is_expected(a))
        return advise_silent(a, "workspaces of libraries pin most of it");
    if (is_windows(a->s->r))
        return advise_silent(a, "expandable segments do not exist on Windows");
    const struct timeline *t = a->in->timeline;
    advise_event(a, t != NULL && t->gap.known ? t->gap.event : (int64_t)a->s->events - 1);
    a->now.bytes = a->now.saving_bytes = bytes;
    a->now.source = SAVING_ESTIMATED;
    a->now.at_most = true;
    return a->in->what_if == NULL ? true : verify_expandable(a, a->in->what_if);
}

/* How many lives at a place were short, and how many not; what is alive counts once it is old. */
struct place_lives {
    uint32_t brief, lasting;
};

static struct place_lives *count_lives(const struct advising *a)
{
    const struct study *s = a->s;
    struct place_lives *of = arena_array(s->scratch, struct place_lives, a->sites.sites);
    for (uint32_t i = 0; of != NULL && i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        struct place_lives *place = &of[a->sites.of[i]];
        if (l->birth < 0 || l->freed - l->birth >= PIN_SHORT_EVENTS)
            place->lasting++;
        else if (l->freed < (int64_t)s->events)
            place->brief++;
    }
    return of;
}

/* Does the segment get whole again by itself?  Its oldest block is young, and no more at its place
 * grow old than die soon. */
static bool is_brief(const struct advising *a, const struct fragment_pin *pin,
                     const struct place_lives *lives)
{
    if (pin->oldest == NO_ROW)
        return false;
    const struct lifetime *l = &a->s->lifetimes.at[pin->oldest];
    const struct place_lives *place = &lives[a->sites.of[pin->oldest]];
    return l->birth >= 0 && a->in->fragments->at_event - l->birth < PIN_SHORT_EVENTS &&
           place->brief >= place->lasting;
}

static bool judge_pins(struct advising *a, const struct fragments *f)
{
    const struct fragment_pin *largest = NULL;
    const struct place_lives *lives = count_lives(a);
    bool brief = false;
    if (lives == NULL)
        return false;
    for (uint32_t i = 0; i < f->pins; i++) {
        const struct fragment_pin *pin = &f->pin[i];
        if (pin->total_bytes < PINNED_SEGMENT ||
            pin->active_bytes > percent_of(pin->total_bytes, PINNED_PERCENT))
            continue;
        if (is_brief(a, pin, lives)) {
            brief = true;
            continue;
        }
        a->now.bytes += pin->free_bytes;
        largest = largest == NULL || pin->free_bytes > largest->free_bytes ? pin : largest;
    }
    if (largest == NULL)
        return advise_silent(a, brief ? "the small blocks that pin large segments are short-lived"
                                      : "no large segment is pinned by small blocks");
    a->now.saving_bytes = a->now.bytes;
    a->now.source = SAVING_ESTIMATED;
    return advise_site(a, largest->by.site.stack);
}

/* Large segments that a small block pins, where expandable segments cannot be had. */
bool advise_max_split(struct advising *a)
{
    if (!is_windows(a->s->r) || a->in->fragments == NULL)
        return advise_silent(a, "expandable_segments:True is available, and is the better setting");
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool ok = judge_pins(a, a->in->fragments);
    arena_release(a->s->scratch, mark);
    return ok;
}

/* Memory asked of the device, and how often. */
struct obtained {
    uint64_t bytes;
    uint32_t calls, maps;
};

static struct obtained obtained_between(const struct study *s, uint32_t from, uint32_t to)
{
    const uint8_t *action = s->r->events.action + s->r->devices.first_event[s->device];
    const uint64_t *size = s->r->events.size + s->r->devices.first_event[s->device];
    struct obtained sum = { 0 };
    for (uint32_t i = from; i < to; i++) {
        sum.bytes += action_obtains(action[i]) ? known_or_0(size[i]) : 0;
        sum.calls += action_obtains(action[i]);
        sum.maps += action[i] == ACTION_SEGMENT_MAP;
    }
    return sum;
}

/* Memory given back by hand, and asked for again before the next time. */
bool advise_empty_cache(struct advising *a)
{
    const struct timeline *t = a->in->timeline;
    stack_id first = { 0 };
    uint64_t again = 0;
    uint32_t bursts = 0, maps = 0;
    if (bursts_of(t, BURST_EMPTY_CACHE) < EMPTIED_LEAST)
        return advise_silent(a, "empty_cache is called less than three times");
    if (was_short(a))
        return advise_silent(a, "memory was short: there is a retry or an out-of-memory event");
    for (uint32_t i = 0; i < t->bursts; i++) {
        const struct time_burst *b = &t->burst[i];
        if (b->cause != BURST_EMPTY_CACHE)
            continue;
        if (bursts++ == 0)
            first = b->site.stack;
        uint32_t to = i + 1 < t->bursts ? t->burst[i + 1].first_event : a->s->events;
        struct obtained after = obtained_between(a->s, b->last_event + 1, to);
        again += after.bytes < b->bytes ? after.bytes : b->bytes;
        maps += after.maps;
        a->now.calls += after.calls;
        a->now.call_bytes += after.bytes;
        a->now.bytes += b->bytes;
        advise_event(a, b->first_event);
    }
    advise_condition(a, "bursts", bursts, EMPTIED_LEAST);
    uint64_t least = percent_of(a->now.bytes, MAPPED_AGAIN_PERCENT);
    advise_condition(a, "mapped_again_bytes", (double)again, (double)least);
    if (again < least)
        return advise_silent(a,
                             "less than half of what is returned to the device is reserved again");
    a->now.saving_bytes = 0;
    a->now.mapped = maps == a->now.calls;
    return advise_site(a, first);
}

/* Freed, and still waiting for another stream when most is in use. */
bool advise_pending_free(struct advising *a)
{
    const struct study *s = a->s;
    uint64_t pending = 0, active = 0;
    bool side_stream = false;
    struct largest largest = { 0 };
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->freed - l->requested > 1 && !advise_remove(a, i, l->requested, l->freed, l->bytes))
            return false;
        if (!lifetime_alive(l, a->peak_event))
            continue;
        active += l->bytes;
        if (l->requested > a->peak_event)
            continue;
        pending += l->bytes;
        side_stream = side_stream || (s->tokens->of_stack[l->alloc_stack.n] &
                                      (TOKEN_COMMUNICATION | TOKEN_REDUCER)) != 0;
        largest_take(&largest, l->bytes, l->alloc_stack);
    }
    if (pending == 0)
        return advise_silent(a, "nothing waits to be freed at the peak");
    uint64_t least = percent_of(active, PENDING_PERCENT);
    advise_condition(a, "pending_bytes", (double)pending, (double)least);
    if (pending < least)
        return advise_silent(a, "less than 5 % of the peak waits to be freed");
    if (!side_stream && s->r->streams.rows.len < 2)
        return advise_silent(a, "no other stream and no communication");
    a->now.bytes = pending;
    advise_event(a, a->peak_event);
    return advise_site(a, largest.stack);
}

bool advise_side_stream_cache(struct advising *a)
{
    const struct fragments *f = a->in->fragments;
    for (uint32_t i = 0; f != NULL && i < f->streams; i++) {
        a->now.bytes += f->stream[i].bytes;
        advise_event(a, f->stream[i].last_event);
    }
    advise_condition(a, "stream_stranded_bytes", (double)a->now.bytes, STRANDED_LEAST);
    if (a->now.bytes < STRANDED_LEAST)
        return advise_silent(a, "less than 256 MiB is cached for streams that no longer allocate");
    a->now.saving_bytes = a->now.bytes;
    a->now.source = SAVING_ESTIMATED;
    return true;
}

/* Reserved bytes before a burst; and the most of them after it, or 0. */
static int64_t reserved_around(const struct study *s, const struct time_burst *b,
                               int64_t *ret_after)
{
    uint32_t first = s->r->devices.first_event[s->device];
    uint64_t bytes = (uint64_t)s->curves.of[CURVE_RESERVED].start_bytes, level = bytes;
    *ret_after = 0;
    for (int64_t i = 0; i < (int64_t)s->events; i++) {
        if (i == b->first_event)
            level = bytes;
        bytes += reserved_change(s->r, first + (uint32_t)i);
        if (i >= b->last_event && (int64_t)bytes > *ret_after)
            *ret_after = (int64_t)bytes;
    }
    return (int64_t)level;
}

/* The card was full once, though no request failed. */
bool advise_near_limit(struct advising *a)
{
    const struct time_burst *b = last_burst(a->in->timeline, BURST_RETRY);
    if (b == NULL)
        return advise_silent(a,
                             "the allocator never had to release cached memory to serve a request");
    if (a->first_oom < (int64_t)a->s->events)
        return advise_silent(a, "there is an out-of-memory event, which says more");
    int64_t after = 0, level = reserved_around(a->s, b, &after);
    int64_t least = level > 0 ? (int64_t)percent_of((uint64_t)level, LEVEL_PERCENT) : level;
    advise_condition(a, "reserved_after_bytes", (double)after, (double)least);
    if (after < least)
        return advise_silent(a, "less than 95 % of that level is reserved afterwards");
    a->now.bytes = b->bytes;
    advise_event(a, b->first_event);
    return advise_site(a, b->site.stack);
}

/* Too little is known: how to record better. */
bool advise_capture(struct advising *a)
{
    const struct study *s = a->s;
    uint64_t unknown = 0, all = 0;
    for (uint32_t i = 0; i < a->alive.len; i++) {
        const struct lifetime *l = &s->lifetimes.at[a->alive.at[i]];
        all += l->bytes;
        bool known = l->alloc_stack.n != 0 || s->categories.of[a->alive.at[i]] > CATEGORY_UNKNOWN;
        unknown += known ? 0 : l->bytes;
    }
    advise_condition(a, "unknown_ratio", all == 0 ? 0 : (double)unknown / (double)all,
                     UNKNOWN_PERCENT / 100.0);
    advise_condition(a, "steps", s->steps.count, CAPTURE_STEPS_LEAST);
    a->now.bytes = unknown;
    bool training = a->optimizer_seen || a->backward_seen;
    if (unknown <= percent_of(all, UNKNOWN_PERCENT) && s->stacked &&
        (s->steps.count >= CAPTURE_STEPS_LEAST || !training))
        return advise_silent(a, "enough was recorded");
    return true;
}
