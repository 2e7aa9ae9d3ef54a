/* advise_allocator.c - calls that empty the cache, what waits on other streams, a full card. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/bytes.h"
#include "model/ids.h"
#include "model/recording.h"

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

/* Was memory short: an out-of-memory event, or a retry? */
bool advise_was_short(const struct advising *a)
{
    const struct timeline *t = a->in->timeline;
    return a->first_oom < (int64_t)a->s->events || bursts_of(t, BURST_RETRY) > 0;
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
    if (advise_was_short(a))
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

/* Too little is known: how to record better.  A recording that is whole shows all there was. */
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
    bool training = a->optimizer_seen || a->backward_seen;
    bool whole = a->proven->trust.window == WINDOW_COMPLETE;
    advise_condition(a, "unknown_ratio", all == 0 ? 0 : (double)unknown / (double)all,
                     UNKNOWN_PERCENT / 100.0);
    advise_condition(a, "steps", s->steps.count, CAPTURE_STEPS_LEAST);
    a->now.bytes = unknown;
    if (!s->traced)
        a->now.text = "the trace is missing or one event long: call "
                      "torch.cuda.memory._record_memory_history(max_entries=100000) before the "
                      "first step, then torch.cuda.memory._dump_snapshot(\"run.pickle\").";
    else if (!s->stacked)
        a->now.text = "the recording has no stacks: record with stacks=\"all\", or "
                      "stacks=\"python\", so that lines can be named.";
    else if (unknown > percent_of(all, UNKNOWN_PERCENT))
        a->now.text = "{bytes} of the peak have no stack and no category: begin to record before "
                      "they are allocated, with a larger max_entries if that is too long.";
    else if (training && !s->curves.of[CURVE_REQUESTED].start_known &&
             s->steps.count < CAPTURE_STEPS_LEAST)
        a->now.text = "the file is cut, and the part read holds fewer than two whole steps: copy "
                      "the whole file, or record it again.";
    else if (training && !whole && s->steps.count < CAPTURE_STEPS_LEAST)
        a->now.text = "the recording begins in the middle of a run and holds fewer than two whole "
                      "steps: record two steps or more, with a larger max_entries.";
    else
        return advise_silent(a, "enough was recorded");
    return true;
}
