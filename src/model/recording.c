/* recording.c - the tables of a recording: which columns they have, how rows are interned. */
#include "model/recording.h"

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"

const char *const event_action_names[ACTIONS] = {
    [ACTION_ALLOC] = "alloc",
    [ACTION_FREE_REQUESTED] = "free_requested",
    [ACTION_FREE_COMPLETED] = "free_completed",
    [ACTION_FREE] = "free",
    [ACTION_SEGMENT_ALLOC] = "segment_alloc",
    [ACTION_SEGMENT_FREE] = "segment_free",
    [ACTION_SEGMENT_MAP] = "segment_map",
    [ACTION_SEGMENT_UNMAP] = "segment_unmap",
    [ACTION_SNAPSHOT] = "snapshot",
    [ACTION_OOM] = "oom",
    [ACTION_ANNOTATE] = "annotate",
    [ACTION_USER_DEFINED] = "user_defined",
};

static const struct column devices_columns[] = {
    { "kind", offsetof(struct devices, kind), COLUMN_U8 },
    { "number", offsetof(struct devices, number), COLUMN_U32 },
    { "parts", offsetof(struct devices, parts), COLUMN_U8 },
    { "first_segment", offsetof(struct devices, first_segment), COLUMN_U32 },
    { "segments", offsetof(struct devices, segments), COLUMN_U32 },
    { "first_block", offsetof(struct devices, first_block), COLUMN_U32 },
    { "blocks", offsetof(struct devices, blocks), COLUMN_U32 },
    { "first_event", offsetof(struct devices, first_event), COLUMN_U32 },
    { "events", offsetof(struct devices, events), COLUMN_U32 },
    { "first_allocation", offsetof(struct devices, first_allocation), COLUMN_U32 },
    { "allocations", offsetof(struct devices, allocations), COLUMN_U32 },
    { "orphan_frees", offsetof(struct devices, orphan_frees), COLUMN_U64 },
    { "double_allocs", offsetof(struct devices, double_allocs), COLUMN_U64 },
    { "returned_unobtained_bytes", offsetof(struct devices, returned_unobtained_bytes),
      COLUMN_U64 },
};
const struct table_kind devices_kind = { "devices", devices_columns, 14 };

static const struct column segments_columns[] = {
    { "device", offsetof(struct segments, device), COLUMN_U32 },
    { "address", offsetof(struct segments, address), COLUMN_U64 },
    { "total_size", offsetof(struct segments, total_size), COLUMN_U64 },
    { "allocated_size", offsetof(struct segments, allocated_size), COLUMN_U64 },
    { "active_size", offsetof(struct segments, active_size), COLUMN_U64 },
    { "requested_size", offsetof(struct segments, requested_size), COLUMN_U64 },
    { "stream", offsetof(struct segments, stream), COLUMN_U32 },
    { "pool", offsetof(struct segments, pool), COLUMN_U32 },
    { "stack", offsetof(struct segments, stack), COLUMN_U32 },
    { "forward_stack", offsetof(struct segments, forward_stack), COLUMN_U32 },
    { "size_class", offsetof(struct segments, size_class), COLUMN_U8 },
    { "expandable", offsetof(struct segments, expandable), COLUMN_U8 },
    { "first_block", offsetof(struct segments, first_block), COLUMN_U32 },
    { "blocks", offsetof(struct segments, blocks), COLUMN_U32 },
};
const struct table_kind segments_kind = { "segments", segments_columns, 14 };

static const struct column blocks_columns[] = {
    { "segment", offsetof(struct blocks, segment), COLUMN_U32 },
    { "address", offsetof(struct blocks, address), COLUMN_U64 },
    { "size", offsetof(struct blocks, size), COLUMN_U64 },
    { "requested_size", offsetof(struct blocks, requested_size), COLUMN_U64 },
    { "state", offsetof(struct blocks, state), COLUMN_U8 },
    { "stack", offsetof(struct blocks, stack), COLUMN_U32 },
    { "context", offsetof(struct blocks, context), COLUMN_U32 },
    { "first_history", offsetof(struct blocks, first_history), COLUMN_U32 },
    { "histories", offsetof(struct blocks, histories), COLUMN_U32 },
};
const struct table_kind blocks_kind = { "blocks", blocks_columns, 9 };

static const struct column history_columns[] = {
    { "address", offsetof(struct history, address), COLUMN_U64 },
    { "real_size", offsetof(struct history, real_size), COLUMN_U64 },
    { "stack", offsetof(struct history, stack), COLUMN_U32 },
    { "cpp_frames", offsetof(struct history, cpp_frames), COLUMN_U32 },
};
const struct table_kind history_kind = { "history", history_columns, 4 };

static const struct column events_columns[] = {
    { "action", offsetof(struct events, action), COLUMN_U8 },
    { "stream", offsetof(struct events, stream), COLUMN_U16 },
    { "stack", offsetof(struct events, stack), COLUMN_U32 },
    { "address", offsetof(struct events, address), COLUMN_U64 },
    { "size", offsetof(struct events, size), COLUMN_U64 },
    { "time_us", offsetof(struct events, time_us), COLUMN_U64 },
    { "context", offsetof(struct events, context), COLUMN_U32 },
};
const struct table_kind events_kind = { "events", events_columns, 7 };

static const struct column contexts_columns[] = {
    { "compile_context", offsetof(struct contexts, compile_context), COLUMN_U32 },
    { "user_metadata", offsetof(struct contexts, user_metadata), COLUMN_U32 },
    { "internal_metadata", offsetof(struct contexts, internal_metadata), COLUMN_U32 },
    { "category", offsetof(struct contexts, category), COLUMN_U32 },
    { "action", offsetof(struct contexts, action), COLUMN_U32 },
    { "pool", offsetof(struct contexts, pool), COLUMN_U32 },
    { "forward_stack", offsetof(struct contexts, forward_stack), COLUMN_U32 },
};
const struct table_kind contexts_kind = { "contexts", contexts_columns, 7 };

static const struct column pools_columns[] = {
    { "first", offsetof(struct pools, first), COLUMN_U64 },
    { "second", offsetof(struct pools, second), COLUMN_U64 },
};
const struct table_kind pools_kind = { "pools", pools_columns, 2 };

static const struct column streams_columns[] = {
    { "handle", offsetof(struct streams, handle), COLUMN_U64 },
};
const struct table_kind streams_kind = { "streams", streams_columns, 1 };

static const struct column marks_columns[] = {
    { "name", offsetof(struct marks, name), COLUMN_U32 },
    { "stage", offsetof(struct marks, stage), COLUMN_U8 },
    { "device", offsetof(struct marks, device), COLUMN_U32 },
    { "time_us", offsetof(struct marks, time_us), COLUMN_U64 },
};
const struct table_kind marks_kind = { "marks", marks_columns, 4 };

static const struct column settings_columns[] = {
    { "name", offsetof(struct settings, name), COLUMN_U32 },
    { "type", offsetof(struct settings, type), COLUMN_U8 },
    { "integer", offsetof(struct settings, integer), COLUMN_I64 },
    { "real", offsetof(struct settings, real), COLUMN_F64 },
    { "text", offsetof(struct settings, text), COLUMN_U32 },
};
const struct table_kind settings_kind = { "settings", settings_columns, 5 };

static const struct column tallies_columns[] = {
    { "kind", offsetof(struct tallies, kind), COLUMN_U8 },
    { "name", offsetof(struct tallies, name), COLUMN_U32 },
    { "count", offsetof(struct tallies, count), COLUMN_U64 },
};
const struct table_kind tallies_kind = { "tallies", tallies_columns, 3 };

static const struct column allocations_columns[] = {
    { "alloc_event", offsetof(struct allocations, alloc_event), COLUMN_U32 },
    { "free_requested_event", offsetof(struct allocations, free_requested_event), COLUMN_U32 },
    { "free_completed_event", offsetof(struct allocations, free_completed_event), COLUMN_U32 },
    { "block", offsetof(struct allocations, block), COLUMN_U32 },
    { "size", offsetof(struct allocations, size), COLUMN_U64 },
};
const struct table_kind allocations_kind = { "allocations", allocations_columns, 5 };

static const struct column named_columns[] = {
    { "device", offsetof(struct named_tensors, device), COLUMN_U32 },
    { "address", offsetof(struct named_tensors, address), COLUMN_U64 },
    { "bytes", offsetof(struct named_tensors, bytes), COLUMN_U64 },
    { "kind", offsetof(struct named_tensors, kind), COLUMN_U8 },
    { "name", offsetof(struct named_tensors, name), COLUMN_U32 },
    { "shape", offsetof(struct named_tensors, shape), COLUMN_U32 },
    { "dtype", offsetof(struct named_tensors, dtype), COLUMN_U32 },
    { "owner", offsetof(struct named_tensors, owner), COLUMN_U32 },
    { "shared", offsetof(struct named_tensors, shared), COLUMN_U32 },
    { "standing", offsetof(struct named_tensors, standing), COLUMN_U8 },
    { "allocation", offsetof(struct named_tensors, allocation), COLUMN_U32 },
};
const struct table_kind named_kind = { "named", named_columns, 11 };

static const struct column step_marks_columns[] = {
    { "index", offsetof(struct step_marks, index), COLUMN_U64 },
    { "event", offsetof(struct step_marks, event), COLUMN_U64 },
    { "time_us", offsetof(struct step_marks, time_us), COLUMN_U64 },
};
const struct table_kind step_marks_kind = { "step_marks", step_marks_columns, 3 };

const struct table_place recording_tables[] = {
    { &strings_kind, offsetof(struct recording, code.strings) },
    { &frames_kind, offsetof(struct recording, code.frames) },
    { &fx_nodes_kind, offsetof(struct recording, code.fx_nodes) },
    { &stacks_kind, offsetof(struct recording, code.stacks) },
    { &devices_kind, offsetof(struct recording, devices) },
    { &segments_kind, offsetof(struct recording, segments) },
    { &blocks_kind, offsetof(struct recording, blocks) },
    { &history_kind, offsetof(struct recording, history) },
    { &events_kind, offsetof(struct recording, events) },
    { &contexts_kind, offsetof(struct recording, contexts) },
    { &pools_kind, offsetof(struct recording, pools) },
    { &streams_kind, offsetof(struct recording, streams) },
    { &marks_kind, offsetof(struct recording, marks) },
    { &settings_kind, offsetof(struct recording, settings) },
    { &tallies_kind, offsetof(struct recording, tallies) },
    { &allocations_kind, offsetof(struct recording, allocations) },
    { &named_kind, offsetof(struct recording, named) },
    { &step_marks_kind, offsetof(struct recording, step_marks) },
};
const uint32_t recording_table_count = sizeof recording_tables / sizeof *recording_tables;

/* Row 0 of the interned tables that have no module of their own. */
static bool reserve_none(struct recording *r)
{
    if (!table_reserve(&r->pools, &pools_kind, 1) ||
        !table_reserve(&r->contexts, &contexts_kind, 1))
        return false;
    r->pools.first[0] = r->pools.second[0] = UNKNOWN_U64;
    r->pools.rows.len = 1;
    struct contexts *c = &r->contexts;
    c->compile_context[0] = c->user_metadata[0] = c->internal_metadata[0] = c->category[0] = 0;
    c->action[0] = c->pool[0] = c->forward_stack[0] = 0;
    c->rows.len = 1;
    return true;
}

bool recording_init(struct recording *r, uint32_t max_rows, uint32_t max_string_bytes)
{
    *r = (struct recording){ .origin.pickle_protocol = -1 };
    r->named_facts = (struct named_facts){ .time_us = UNKNOWN_U64, .dropped = UNKNOWN_U64 };
    for (uint32_t i = 0; i < recording_table_count; i++)
        ((struct table *)(void *)((char *)r + recording_tables[i].offset))->max = max_rows;
    r->streams.rows.max = UINT16_MAX;
    if (code_init(&r->code, max_string_bytes) && reserve_none(r))
        return true;
    recording_free(r);
    return false;
}

void recording_free(struct recording *r)
{
    code_free(&r->code);
    idtab_free(&r->contexts.index);
    idtab_free(&r->pools.index);
    idtab_free(&r->streams.index);
    for (uint32_t i = 0; i < recording_table_count; i++)
        table_free((char *)r + recording_tables[i].offset, recording_tables[i].kind);
}

bool pools_intern(struct pools *p, uint64_t first, uint64_t second, pool_id *ret)
{
    if (!idtab_reserve(&p->index))
        return false;
    uint64_t hash = hash_pair(first, second);
    for (uint32_t at = idtab_first(&p->index, hash); p->index.slot[at].id != 0;
         at = idtab_next(&p->index, hash, at)) {
        uint32_t id = p->index.slot[at].id;
        if (p->first[id] == first && p->second[id] == second) {
            ret->n = id;
            return true;
        }
    }
    if (!table_reserve(p, &pools_kind, 1))
        return false;
    uint32_t id = p->rows.len++;
    p->first[id] = first;
    p->second[id] = second;
    idtab_put(&p->index, hash, id);
    ret->n = id;
    return true;
}

/* Streams are plain rows from 0, so the table of ids holds each plus 1. */
bool streams_intern(struct streams *s, uint64_t handle, uint16_t *ret)
{
    if (!idtab_reserve(&s->index))
        return false;
    uint64_t hash = hash_u64(handle);
    for (uint32_t at = idtab_first(&s->index, hash); s->index.slot[at].id != 0;
         at = idtab_next(&s->index, hash, at)) {
        uint32_t row = s->index.slot[at].id - 1;
        if (s->handle[row] == handle) {
            *ret = (uint16_t)row;
            return true;
        }
    }
    if (!table_reserve(s, &streams_kind, 1))
        return false;
    uint32_t row = s->rows.len++;
    s->handle[row] = handle;
    idtab_put(&s->index, hash, row + 1);
    *ret = (uint16_t)row;
    return true;
}

static struct context contexts_get(const struct contexts *c, uint32_t id)
{
    return (struct context){
        { c->compile_context[id] }, { c->user_metadata[id] }, { c->internal_metadata[id] },
        { c->category[id] },        { c->action[id] },        { c->pool[id] },
        { c->forward_stack[id] },
    };
}

static uint64_t context_hash(struct context c)
{
    uint64_t hash = hash_pair((uint64_t)c.compile_context.n << 32 | c.user_metadata.n,
                              (uint64_t)c.internal_metadata.n << 32 | c.category.n);
    return hash_pair(hash_pair(hash, (uint64_t)c.action.n << 32 | c.pool.n), c.forward_stack.n);
}

bool contexts_intern(struct contexts *c, struct context context, context_id *ret)
{
    if (context_equal(context, contexts_get(c, 0))) {
        ret->n = 0;
        return true;
    }
    if (!idtab_reserve(&c->index))
        return false;
    uint64_t hash = context_hash(context);
    for (uint32_t at = idtab_first(&c->index, hash); c->index.slot[at].id != 0;
         at = idtab_next(&c->index, hash, at)) {
        uint32_t id = c->index.slot[at].id;
        if (context_equal(contexts_get(c, id), context)) {
            ret->n = id;
            return true;
        }
    }
    if (!table_reserve(c, &contexts_kind, 1))
        return false;
    uint32_t id = c->rows.len++;
    c->compile_context[id] = context.compile_context.n;
    c->user_metadata[id] = context.user_metadata.n;
    c->internal_metadata[id] = context.internal_metadata.n;
    c->category[id] = context.category.n;
    c->action[id] = context.action.n;
    c->pool[id] = context.pool.n;
    c->forward_stack[id] = context.forward_stack.n;
    idtab_put(&c->index, hash, id);
    ret->n = id;
    return true;
}

bool tallies_count(struct tallies *t, enum tally_kind kind, string_id name)
{
    /* Once full, only names already told apart and the empty one (of each kind) are counted. */
    bool full = t->rows.len >= TALLIES_MAX - TALLY_KINDS;
    for (int again = 0; again <= (int)full; again++) {
        for (uint32_t i = 0; i < t->rows.len; i++)
            if (t->kind[i] == kind && t->name[i] == name.n) {
                t->count[i]++;
                return true;
            }
        if (full)
            name.n = 0;
    }
    if (!table_reserve(t, &tallies_kind, 1))
        return false;
    uint32_t id = t->rows.len++;
    t->kind[id] = (uint8_t)kind;
    t->name[id] = name.n;
    t->count[id] = 1;
    return true;
}

uint32_t settings_find(const struct recording *r, str name)
{
    for (uint32_t i = 0; i < r->settings.rows.len; i++)
        if (str_equal(strings_text(&r->code.strings, (string_id){ r->settings.name[i] }), name))
            return i;
    return NO_ROW;
}

uint64_t block_requested(const struct recording *r, uint32_t block)
{
    const struct blocks *b = &r->blocks;
    if (b->requested_size[block] != UNKNOWN_U64)
        return b->requested_size[block];
    if (b->histories[block] != 0 && r->history.real_size[b->first_history[block]] != UNKNOWN_U64)
        return r->history.real_size[b->first_history[block]];
    return known_or_0(b->size[block]);
}
