/* advise_gap.c - reserved memory that nothing uses, and memory that a cache holds by design. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"

static struct advice_gap gap_of(const struct fragments *f)
{
    struct advice_gap gap = {
        .reserved_bytes = f->total.reserved_bytes,
        .active_bytes = f->total.active_bytes,
        .returnable_bytes = f->total.returnable_bytes,
        .stranded_bytes = f->total.stranded_bytes,
    };
    for (uint32_t i = 0; i < f->pools; i++) {
        gap.reserved_bytes += f->pool[i].reserved_bytes;
        gap.active_bytes += f->pool[i].active_bytes;
        gap.held_bytes += f->pool[i].free_bytes;
    }
    return gap;
}

/* The options of fragments that show the same moment. */
static const char *options_at(struct arena *keep, int64_t event, bool end)
{
    struct buf b;
    buf_init(&b, 64);
    if (!end && event < 0)
        buf_text(&b, "--at start");
    else if (!end)
        buf_format(&b, "--at %lld", (long long)event);
    str options = b.failed ? (str){ NULL, 0 } : arena_copy(keep, buf_slice(&b));
    buf_free(&b);
    return options.ptr;
}

/* The moment at which most is reserved; of several the one at which most of it is requested. */
static int64_t fullest(const struct advising *a, int64_t *ret_used)
{
    const struct study *s = a->s;
    uint32_t first = s->r->devices.first_event[s->device];
    uint64_t reserved = (uint64_t)s->curves.of[CURVE_RESERVED].start_bytes;
    uint64_t used = (uint64_t)s->curves.of[CURVE_REQUESTED].start_bytes;
    int64_t event = -1, most = s->curves.of[CURVE_RESERVED].peak_bytes;
    *ret_used = (int64_t)reserved == most ? (int64_t)used : INT64_MIN;
    for (uint32_t i = 0; i < s->events; i++) {
        reserved += reserved_change(s->r, first + i);
        used += requested_change(s->r, first + i);
        if ((int64_t)reserved != most || (int64_t)used <= *ret_used)
            continue;
        *ret_used = (int64_t)used;
        event = i;
    }
    return event;
}

/* Of a recording with a trace what is left over after its peak says little, as every allocator
 * caches that: what is reserved at the most is looked at.  NULL in `*ret`: no more than is in use.
 */
static enum vrs_status fragments_of(const struct advising *a, const struct fragments **ret)
{
    const struct study *s = a->s;
    struct fragments *made = NULL;
    *ret = a->in->fragments;
    if (!s->traced)
        return VRS_OK;
    int64_t used, most = s->curves.of[CURVE_RESERVED].peak_bytes;
    int64_t event = fullest(a, &used);
    *ret = NULL;
    if (most <= 0 || used < 0 || (uint64_t)(most - used) < percent_of((uint64_t)used, GAP_PERCENT))
        return VRS_OK;
    TRY(fragments_compute(a->proven, event, &made, a->err));
    *ret = made;
    return VRS_OK;
}

/* Much more is reserved than is in use. */
bool advise_reserved_gap(struct advising *a)
{
    const struct fragments *f = NULL;
    if (a->s->traced ? !a->s->curves.sizes_known : a->in->fragments == NULL)
        return advise_silent(a, "the layout of memory is not known");
    if (fragments_of(a, &f) != VRS_OK)
        return false;
    if (f == NULL)
        return advise_silent(a, "reserved memory is less than 10 % above what is in use when most "
                                "is reserved, or its layout is not known");
    struct advice_gap gap = gap_of(f);
    uint64_t bytes = gap.returnable_bytes + gap.stranded_bytes + gap.held_bytes;
    uint64_t least = percent_of(gap.active_bytes, GAP_PERCENT);
    least = least > FLOOR_BYTES ? least : FLOOR_BYTES;
    advise_condition(a, "gap_bytes", (double)bytes, (double)least);
    if (bytes < least)
        return advise_silent(a,
                             "reserved memory is less than 10 %, or less than 16 MiB, above what "
                             "is in use");
    const char *options = options_at(a->s->keep, f->at_event, f->at_end);
    a->now.bytes = bytes;
    a->now.gap = gap;
    a->now.gap.at_end = f->at_end;
    a->now.verification = (struct advice_verification){ "fragments", options, "returnable_bytes",
                                                        UNKNOWN_U64, gap.returnable_bytes };
    advise_event(a, f->at_event);
    bool pinned = f->pins > 0 && gap.stranded_bytes >= FLOOR_BYTES;
    return options != NULL && (!pinned || advise_site(a, f->pin[0].by.site.stack));
}

/* A cache of keys and values that takes much of the memory, as a server of models is told to. */
bool advise_kv_pool(struct advising *a)
{
    const struct study *s = a->s;
    uint64_t all = 0;
    struct largest largest = { 0 };
    for (uint32_t i = 0; i < a->alive.len; i++) {
        const struct lifetime *l = &s->lifetimes.at[a->alive.at[i]];
        all += l->bytes;
        if (s->categories.of[a->alive.at[i]] != CATEGORY_KV_CACHE)
            continue;
        a->now.bytes += l->bytes;
        largest_take(&largest, l->bytes, l->alloc_stack);
    }
    uint64_t least = percent_of(all, CACHE_PERCENT);
    advise_condition(a, "cache_bytes", (double)a->now.bytes, (double)least);
    if (a->now.bytes < least || a->now.bytes < FLOOR_BYTES)
        return advise_silent(
            a, "less than a quarter of what is in use, or less than 16 MiB, is known to "
               "be a KV cache");
    advise_event(a, a->peak_event);
    return advise_site(a, largest.stack);
}
