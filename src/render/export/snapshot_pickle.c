/* snapshot_pickle.c - segments, traces, annotations and settings as the dicts of a snapshot. */
#include "render/export/snapshot_pickle.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "render/export/snapshot_settings.h"
#include "render/export/snapshot_shared.h"
#include "render/write/pickle_out.h"

/* Larger numbers are no sizes to a reader, only addresses. */
static const uint64_t size_max = (uint64_t)1 << 62;

/* One pair of a dict each. */

static void put_key(struct shared *s, struct pickle_items *dict, enum snapshot_word key)
{
    pickle_next(&s->p, dict);
    shared_word(s, key);
}

static void put_u64(struct shared *s, struct pickle_items *dict, enum snapshot_word key,
                    uint64_t value)
{
    if (value == UNKNOWN_U64)
        return;
    put_key(s, dict, key);
    pickle_u64(&s->p, value);
}

/* A key that makes the dict what it is stands there even where its value is not known. */
static void put_u64_or_none(struct shared *s, struct pickle_items *dict, enum snapshot_word key,
                            uint64_t value)
{
    put_key(s, dict, key);
    if (value == UNKNOWN_U64)
        pickle_none(&s->p);
    else
        pickle_u64(&s->p, value);
}

/* Streams and times are signed in PyTorch. */
static void put_i64(struct shared *s, struct pickle_items *dict, enum snapshot_word key,
                    uint64_t bits)
{
    put_key(s, dict, key);
    pickle_i64(&s->p, (int64_t)bits);
}

static void put_string(struct shared *s, struct pickle_items *dict, enum snapshot_word key,
                       uint32_t string)
{
    if (string == 0)
        return;
    put_key(s, dict, key);
    shared_string(s, string);
}

static void put_stack(struct shared *s, struct pickle_items *dict, uint32_t stack)
{
    put_key(s, dict, SAY_FRAMES);
    shared_stack(s, stack);
}

static void put_lines(struct shared *s, struct pickle_items *dict, uint32_t stack)
{
    if (stack == 0)
        return;
    put_key(s, dict, SAY_FORWARD_FRAMES);
    shared_lines(s, stack);
}

static void put_pool(struct shared *s, struct pickle_items *dict, enum snapshot_word key,
                     uint32_t pool)
{
    if (pool == 0)
        return;
    put_key(s, dict, key);
    shared_pool(s, pool);
}

/* What is known of an event's context but for the names of compilation and action. */
static void put_context(struct shared *s, struct pickle_items *dict, uint32_t row)
{
    const struct contexts *c = &s->r->contexts;
    put_string(s, dict, SAY_USER_METADATA, c->user_metadata[row]);
    put_string(s, dict, SAY_INTERNAL_METADATA, c->internal_metadata[row]);
    put_string(s, dict, SAY_CATEGORY, c->category[row]);
    put_pool(s, dict, SAY_POOL_ID, c->pool[row]);
    put_lines(s, dict, c->forward_stack[row]);
}

/* Segments. */

/* The part of it that a block's dict has a place for. */
static void put_block_context(struct shared *s, struct pickle_items *dict, uint32_t row)
{
    const struct contexts *c = &s->r->contexts;
    put_string(s, dict, SAY_USER_METADATA, c->user_metadata[row]);
    put_string(s, dict, SAY_CATEGORY, c->category[row]);
    put_lines(s, dict, c->forward_stack[row]);
}

static void put_history(struct shared *s, struct pickle_items *dict, uint32_t block)
{
    const struct history *h = &s->r->history;
    uint32_t first = s->r->blocks.first_history[block], count = s->r->blocks.histories[block];
    if (count == 0)
        return;
    struct pickle_items list, entry;
    put_key(s, dict, SAY_HISTORY);
    pickle_list(&s->p, count, &list);
    for (uint32_t i = first; i < first + count; i++) {
        pickle_next(&s->p, &list);
        pickle_dict(&s->p, PICKLE_SEVERAL, &entry);
        put_u64_or_none(s, &entry, SAY_ADDR, h->address[i]);
        put_u64_or_none(s, &entry, SAY_REAL_SIZE, h->real_size[i]);
        if (h->stack[i] != 0)
            put_stack(s, &entry, h->stack[i]);
        put_string(s, &entry, SAY_CPP_FRAMES, h->cpp_frames[i]);
        pickle_close(&s->p, &entry);
    }
    pickle_close(&s->p, &list);
}

static void put_state(struct shared *s, struct pickle_items *dict, uint8_t state)
{
    put_key(s, dict, SAY_STATE);
    if (state == BLOCK_UNKNOWN)
        pickle_none(&s->p);
    else
        shared_word(s, state == BLOCK_ALLOCATED ? SAY_ACTIVE_ALLOCATED
                       : state == BLOCK_PENDING ? SAY_ACTIVE_PENDING_FREE
                                                : SAY_INACTIVE);
}

static void put_block(struct shared *s, uint32_t i)
{
    const struct blocks *b = &s->r->blocks;
    /* Layouts with a history have the stack there, and there alone. */
    bool in_history =
        b->histories[i] != 0 && s->r->history.stack[b->first_history[i]] == b->stack[i];
    struct pickle_items dict;
    pickle_dict(&s->p, PICKLE_SEVERAL, &dict);
    put_u64(s, &dict, SAY_ADDRESS, b->address[i]);
    put_u64_or_none(s, &dict, SAY_SIZE, b->size[i]);
    put_u64(s, &dict, SAY_REQUESTED_SIZE, b->requested_size[i]);
    put_state(s, &dict, b->state[i]);
    if (!in_history)
        put_stack(s, &dict, b->stack[i]);
    put_block_context(s, &dict, b->context[i]);
    put_history(s, &dict, i);
    pickle_close(&s->p, &dict);
}

static void put_segment(struct shared *s, uint32_t i)
{
    const struct segments *g = &s->r->segments;
    struct pickle_items dict, blocks;
    pickle_dict(&s->p, PICKLE_SEVERAL, &dict);
    put_u64(s, &dict, SAY_DEVICE, s->r->devices.number[g->device[i]]);
    put_u64(s, &dict, SAY_ADDRESS, g->address[i]);
    put_u64(s, &dict, SAY_TOTAL_SIZE, g->total_size[i]);
    put_u64(s, &dict, SAY_ALLOCATED_SIZE, g->allocated_size[i]);
    put_u64(s, &dict, SAY_ACTIVE_SIZE, g->active_size[i]);
    put_u64(s, &dict, SAY_REQUESTED_SIZE, g->requested_size[i]);
    put_i64(s, &dict, SAY_STREAM, s->r->streams.handle[g->stream[i]]);
    if (g->size_class[i] != CLASS_UNKNOWN) {
        put_key(s, &dict, SAY_SEGMENT_TYPE);
        shared_word(s, g->size_class[i] == CLASS_SMALL ? SAY_SMALL : SAY_LARGE);
    }
    put_pool(s, &dict, SAY_SEGMENT_POOL_ID, g->pool[i]);
    put_key(s, &dict, SAY_IS_EXPANDABLE);
    pickle_bool(&s->p, g->expandable[i] != 0);
    put_stack(s, &dict, g->stack[i]);
    put_lines(s, &dict, g->forward_stack[i]);
    put_key(s, &dict, SAY_BLOCKS);
    pickle_list(&s->p, g->blocks[i], &blocks);
    for (uint32_t k = g->first_block[i]; k < g->first_block[i] + g->blocks[i]; k++) {
        pickle_next(&s->p, &blocks);
        put_block(s, k);
    }
    pickle_close(&s->p, &blocks);
    pickle_close(&s->p, &dict);
}

/* The devices of one kind: a run of rows. */
static void devices_of(const struct recording *r, enum device_kind kind, uint32_t *ret_first,
                       uint32_t *ret_end)
{
    const struct devices *d = &r->devices;
    uint32_t first = 0;
    while (first < d->rows.len && d->kind[first] < kind)
        first++;
    uint32_t end = first;
    while (end < d->rows.len && d->kind[end] == kind)
        end++;
    *ret_first = first;
    *ret_end = end;
}

static void put_segments(struct shared *s, enum device_kind kind)
{
    const struct devices *d = &s->r->devices;
    uint32_t first, end, count = 0;
    devices_of(s->r, kind, &first, &end);
    for (uint32_t i = first; i < end; i++)
        count += d->segments[i];
    struct pickle_items list;
    pickle_list(&s->p, count, &list);
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = 0; k < d->segments[i]; k++) {
            pickle_next(&s->p, &list);
            put_segment(s, d->first_segment[i] + k);
        }
    pickle_close(&s->p, &list);
}

/* Traces. */

static void put_action(struct shared *s, struct pickle_items *dict, uint32_t i)
{
    static const enum snapshot_word say[ACTIONS] = {
        [ACTION_ALLOC] = SAY_ALLOC,
        [ACTION_FREE_REQUESTED] = SAY_FREE_REQUESTED,
        [ACTION_FREE_COMPLETED] = SAY_FREE_COMPLETED,
        [ACTION_FREE] = SAY_FREE,
        [ACTION_SEGMENT_ALLOC] = SAY_SEGMENT_ALLOC,
        [ACTION_SEGMENT_FREE] = SAY_SEGMENT_FREE,
        [ACTION_SEGMENT_MAP] = SAY_SEGMENT_MAP,
        [ACTION_SEGMENT_UNMAP] = SAY_SEGMENT_UNMAP,
        [ACTION_SNAPSHOT] = SAY_SNAPSHOT,
        [ACTION_OOM] = SAY_OOM,
        [ACTION_ANNOTATE] = SAY_ANNOTATE,
        [ACTION_USER_DEFINED] = SAY_USER_DEFINED,
    };
    const struct events *e = &s->r->events;
    put_key(s, dict, SAY_ACTION);
    if (e->action[i] == ACTION_OTHER)
        shared_string(s, s->r->contexts.action[e->context[i]]);
    else
        shared_word(s, say[e->action[i]]);
}

static void put_event(struct shared *s, uint32_t i)
{
    const struct events *e = &s->r->events;
    uint32_t compiled = s->r->contexts.compile_context[e->context[i]];
    bool device_free = e->action[i] == ACTION_OOM && e->address[i] <= size_max;
    struct pickle_items dict;
    pickle_dict(&s->p, PICKLE_SEVERAL, &dict);
    put_action(s, &dict, i);
    put_u64(s, &dict, device_free ? SAY_DEVICE_FREE : SAY_ADDR, e->address[i]);
    put_u64(s, &dict, SAY_SIZE, e->size[i]);
    put_i64(s, &dict, SAY_STREAM, s->r->streams.handle[e->stream[i]]);
    if (e->time_us[i] != UNKNOWN_U64)
        put_i64(s, &dict, SAY_TIME_US, e->time_us[i]);
    put_key(s, &dict, SAY_COMPILE_CONTEXT);
    if (compiled == 0)
        shared_word(s, SAY_N_A);
    else
        shared_string(s, compiled);
    put_context(s, &dict, e->context[i]);
    put_stack(s, &dict, e->stack[i]);
    pickle_close(&s->p, &dict);
}

static void put_trace(struct shared *s, uint32_t first, uint32_t count)
{
    struct pickle_items list;
    pickle_list(&s->p, count, &list);
    for (uint32_t i = first; i < first + count; i++) {
        pickle_next(&s->p, &list);
        put_event(s, i);
    }
    pickle_close(&s->p, &list);
}

/* One list for each device number; those that are nobody's stay empty. */
static void put_traces(struct shared *s, enum device_kind kind)
{
    const struct devices *d = &s->r->devices;
    uint32_t row, end;
    devices_of(s->r, kind, &row, &end);
    uint32_t count = row == end ? 0 : d->number[end - 1] + 1;
    struct pickle_items list;
    pickle_list(&s->p, count, &list);
    for (uint32_t number = 0; number < count; number++) {
        bool there = d->number[row] == number;
        pickle_next(&s->p, &list);
        put_trace(s, there ? d->first_event[row] : 0, there ? d->events[row] : 0);
        row += there;
    }
    pickle_close(&s->p, &list);
}

/* Annotations. */

/* Whether the reader makes an annotation of this event, as it was in mid-2024. */
static bool event_is_mark(const struct recording *r, uint32_t i)
{
    stack_id stack = { r->events.stack[i] };
    if (r->events.action[i] != ACTION_USER_DEFINED || stack.n == 0)
        return false;
    string_id name = { r->code.frames.name[stacks_frame(&r->code.stacks, stack).n] };
    str text = strings_text(&r->code.strings, name);
    return str_equal(text, snapshot_word_text(SAY_START)) ||
           str_equal(text, snapshot_word_text(SAY_END));
}

/* The marks that stand in the list; those made of events are the last, and come with these. */
static uint32_t listed_marks(const struct recording *r)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < r->events.rows.len; i++)
        made += event_is_mark(r, i);
    return made < r->marks.rows.len ? r->marks.rows.len - made : 0;
}

static void put_marks(struct shared *s)
{
    const struct marks *m = &s->r->marks;
    uint32_t count = listed_marks(s->r);
    struct pickle_items list, dict;
    pickle_list(&s->p, count, &list);
    for (uint32_t i = 0; i < count; i++) {
        pickle_next(&s->p, &list);
        pickle_dict(&s->p, PICKLE_SEVERAL, &dict);
        put_key(s, &dict, SAY_NAME);
        shared_string(s, m->name[i]);
        put_key(s, &dict, SAY_STAGE);
        shared_word(s, m->stage[i] == STAGE_START ? SAY_START : SAY_END);
        if (m->device[i] != NO_ROW)
            put_u64(s, &dict, SAY_DEVICE, m->device[i]);
        if (m->time_us[i] != UNKNOWN_U64)
            put_i64(s, &dict, SAY_TIME_US, m->time_us[i]);
        pickle_close(&s->p, &dict);
    }
    pickle_close(&s->p, &list);
}

static void put_top(struct shared *s)
{
    uint32_t first, end;
    devices_of(s->r, DEVICE_HOST, &first, &end);
    struct pickle_items top;
    pickle_dict(&s->p, PICKLE_SEVERAL, &top);
    put_key(s, &top, SAY_SEGMENTS);
    put_segments(s, DEVICE_CUDA);
    put_key(s, &top, SAY_DEVICE_TRACES);
    put_traces(s, DEVICE_CUDA);
    if (first != end) {
        put_key(s, &top, SAY_HOST_SEGMENTS);
        put_segments(s, DEVICE_HOST);
        put_key(s, &top, SAY_HOST_TRACES);
        put_traces(s, DEVICE_HOST);
    }
    put_key(s, &top, SAY_ALLOCATOR_SETTINGS);
    snapshot_settings(s);
    put_key(s, &top, SAY_EXTERNAL_ANNOTATIONS);
    put_marks(s);
    pickle_close(&s->p, &top);
}

enum vrs_status snapshot_pickle(struct out *out, const struct recording *r, struct vrs_error *err)
{
    if (!r->origin.complete)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "the recording is cut at byte %llu; written as a snapshot it would look "
                        "whole",
                        (unsigned long long)r->origin.cut_offset);
    struct shared s;
    if (!shared_init(&s, out, r))
        return vrs_no_memory(err);
    put_top(&s);
    pickle_finish(&s.p);
    shared_free(&s);
    return VRS_OK;
}
