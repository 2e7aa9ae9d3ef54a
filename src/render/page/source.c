/* source.c - allocations in the order of their births, and what an analysis knows of each. */
#include "render/page/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* Allocations. */

static const struct lifetime *life(const struct page_source *f, uint32_t row)
{
    return &f->s->lifetimes.at[f->order[row]];
}

uint64_t page_alloc_born(const void *from, uint32_t row)
{
    return (uint64_t)((int64_t)life(from, row)->birth + 1);
}

uint64_t page_alloc_until(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    const struct lifetime *l = life(f, row);
    return l->freed >= (int64_t)f->s->events ? 0 : (uint64_t)((int64_t)l->freed - l->birth);
}

/* States between the request of its free and the end of it, or of the recording. */
uint64_t page_alloc_waits(const void *from, uint32_t row)
{
    const struct lifetime *l = life(from, row);
    int64_t asked = l->requested < l->birth ? l->birth : l->requested;
    return l->freed > asked ? (uint64_t)(l->freed - asked) : 0;
}

uint64_t page_alloc_bytes(const void *from, uint32_t row)
{
    return life(from, row)->bytes;
}

uint64_t page_alloc_pad(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    uint64_t more = proven_slack(f->proven, f->order[row]);
    return more < UINT32_MAX ? more : UINT32_MAX;
}

uint64_t page_alloc_source(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return proven_block(f->proven, f->order[row]).source;
}

uint64_t page_alloc_stack(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return f->names.stack_id[life(f, row)->alloc_stack.n];
}

uint64_t page_alloc_free_stack(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return f->names.stack_id[life(f, row)->free_stack.n];
}

uint64_t page_alloc_category(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return f->s->categories.of[f->order[row]];
}

uint64_t page_alloc_sure(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    uint8_t sure = f->s->categories.confidence[f->order[row]];
    return sure == CONFIDENCE_NONE ? 0 : sure + 1u;
}

uint64_t page_alloc_rule(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    uint16_t rule = f->s->categories.rule[f->order[row]];
    return rule < UINT8_MAX ? rule : UINT8_MAX;
}

uint64_t page_alloc_phase(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    uint32_t stack = life(f, row)->alloc_stack.n;
    return stack == 0 || !f->s->phases.known ? (uint64_t)PHASES : f->s->phases.of_stack[stack];
}

uint64_t page_alloc_stream(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    uint32_t first = f->s->r->devices.first_allocation[f->s->device];
    return allocation_stream(f->s->r, first + f->order[row]);
}

uint64_t page_alloc_pool(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return f->pool[row];
}

/* Where an address lies among all that were ever mapped, in units of 512 bytes. */
uint64_t page_lane_of(const struct page_source *f, uint64_t address)
{
    enum { GRAIN = 512 };
    uint64_t below = address == UNKNOWN_U64 ? UINT64_MAX : page_ranges_below(&f->ranges, address);
    return below / GRAIN < UINT32_MAX ? below / GRAIN : UINT32_MAX;
}

/* Of its alloc, else of its free, else of the final block. */
uint64_t page_alloc_lane(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    const struct recording *r = f->s->r;
    const struct lifetime *l = life(f, row);
    uint32_t first = r->devices.first_event[f->s->device];
    uint32_t allocation = r->devices.first_allocation[f->s->device] + f->order[row];
    uint32_t block = r->allocations.block[allocation];
    if (l->birth >= 0)
        return page_lane_of(f, r->events.address[first + (uint32_t)l->birth]);
    if (l->freed < (int64_t)f->s->events)
        return page_lane_of(f, r->events.address[first + (uint32_t)l->freed]);
    return block == NO_ROW ? UINT32_MAX : page_lane_of(f, r->blocks.address[block]);
}

/* 1, 2: older than the recording, and freed in it, or alive at its end. */
uint64_t page_alloc_flags(const void *from, uint32_t row)
{
    return life(from, row)->origin;
}

/* What its alloc said of where it belongs. */
uint64_t page_alloc_context(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    int64_t birth = life(f, row)->birth;
    uint32_t first = f->s->r->devices.first_event[f->s->device];
    return birth < 0 ? 0 : f->context[f->s->r->events.context[first + (uint32_t)birth]];
}

uint64_t page_alloc_tensor(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return f->tensors.of[f->order[row]];
}

/* The id of a compiled graph, else what the user's code set, else a category it named. */
static enum vrs_status name_contexts(struct page_source *f, struct vrs_error *err)
{
    const struct contexts *c = &f->s->r->contexts;
    uint32_t *id = arena_array(f->s->scratch, uint32_t, c->rows.len);
    bool any = false;
    if (id == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < c->rows.len; i++) {
        str text = strings_text(&f->s->r->code.strings, (string_id){ c->compile_context[i] });
        if (text.len == 0 || str_equal(text, S("N/A")))
            text = strings_text(&f->s->r->code.strings, (string_id){ c->user_metadata[i] });
        if (text.len == 0)
            text = strings_text(&f->s->r->code.strings, (string_id){ c->category[i] });
        TRY(page_names_bounded(&f->names, text, &id[i], err));
        any = any || text.len != 0;
    }
    f->context = any ? id : NULL;
    return VRS_OK;
}

static enum vrs_status order_allocations(struct page_source *f, struct vrs_error *err)
{
    const struct study *s = f->s;
    uint32_t count = s->lifetimes.count, at = 0;
    struct segment_index index;
    f->order = arena_array(s->scratch, uint32_t, count);
    f->pool = arena_array(s->scratch, uint32_t, count);
    if (f->order == NULL || f->pool == NULL)
        return vrs_no_memory(err);
    /* Those that were seen stand in the order of their births. */
    for (int seen = 0; seen < 2; seen++)
        for (uint32_t i = 0; i < count; i++)
            if ((s->lifetimes.at[i].birth >= 0) == seen)
                f->order[at++] = i;
    TRY(segment_index_make(s->r, s->device, s->scratch, &index, err));
    uint32_t first = s->r->devices.first_allocation[s->device];
    for (uint32_t i = 0; i < count; i++)
        f->pool[i] = allocation_pool(s->r, &index, first + f->order[i]).n;
    return VRS_OK;
}

static bool told_by_allocations(uint8_t action)
{
    return action == ACTION_ALLOC || action == ACTION_FREE_REQUESTED ||
           action == ACTION_FREE_COMPLETED || action == ACTION_FREE;
}

static enum vrs_status find_events(struct page_source *f, struct vrs_error *err)
{
    const struct recording *r = f->s->r;
    uint32_t first = r->devices.first_event[f->s->device];
    for (int pass = 0; pass < 2; pass++) {
        uint32_t events = 0, ooms = 0;
        for (uint32_t i = 0; i < f->s->events; i++) {
            uint8_t action = r->events.action[first + i];
            if (told_by_allocations(action))
                continue;
            if (pass == 1)
                f->events[events] = i;
            if (pass == 1 && action == ACTION_OOM)
                f->ooms[ooms] = i;
            events++;
            ooms += action == ACTION_OOM;
        }
        if (pass == 1)
            break;
        f->event_count = events;
        f->oom_count = ooms;
        f->events = arena_array(f->s->scratch, uint32_t, events);
        f->ooms = arena_array(f->s->scratch, uint32_t, ooms);
        if (f->events == NULL || f->ooms == NULL)
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

uint32_t page_event_row(const struct page_source *f, const uint32_t *events, uint32_t row)
{
    return f->s->r->devices.first_event[f->s->device] + events[row];
}

enum vrs_status page_events_between(const struct study *s, const struct moment *from,
                                    const struct moment *to, int64_t *ret_first, int64_t *ret_last,
                                    struct vrs_error *err)
{
    int64_t first = -1, last = (int64_t)s->events - 1;
    if (from != NULL)
        TRY(moment_bound(s, *from, false, &first, err));
    if (to != NULL)
        TRY(moment_bound(s, *to, true, &last, err));
    if (first > last)
        return vrs_fail(err, VRS_USAGE,
                        "the first event shown would be %lld, behind the last, which is %lld",
                        (long long)first, (long long)last);
    *ret_first = first;
    *ret_last = last;
    return VRS_OK;
}

/* Which stacks are shown: of allocations and of requests that failed. */
static enum vrs_status find_names(struct page_source *f, struct vrs_error *err)
{
    const struct study *s = f->s;
    bool *shown = arena_array(s->scratch, bool, s->r->code.stacks.rows.len);
    if (shown == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        shown[s->lifetimes.at[i].alloc_stack.n] = true;
        shown[s->lifetimes.at[i].free_stack.n] = true;
    }
    for (uint32_t i = 0; i < f->oom_count; i++)
        shown[s->r->events.stack[page_event_row(f, f->ooms, i)]] = true;
    shown[0] = false;
    return page_names_make(s, shown, &f->names, err);
}

static enum vrs_status make(struct page_source *f, struct vrs_error *err)
{
    TRY(order_allocations(f, err));
    TRY(find_events(f, err));
    TRY(find_names(f, err));
    TRY(name_contexts(f, err));
    TRY(page_ranges_make(f->s, f->s->scratch, &f->ranges, err));
    TRY(page_marks_make(f->s, &f->names, &f->marks, err));
    return page_tensors_make(f->s, &f->tensors, err);
}

enum vrs_status page_source_make(const struct proven_study *proven, struct page_source *ret,
                                 struct vrs_error *err)
{
    *ret = (struct page_source){ .proven = proven, .s = proven->study };
    enum vrs_status status = make(ret, err);
    if (status != VRS_OK)
        page_source_end(ret);
    return status;
}

void page_source_end(struct page_source *source)
{
    page_names_end(&source->names);
    page_tensors_end(&source->tensors);
}
