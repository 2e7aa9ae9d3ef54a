/* snapshot_shared.c - first uses and later ones. */
#include "render/export/snapshot_shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "render/write/out.h"

static const str words[SNAPSHOT_WORDS] = {
    [SAY_SEGMENTS] = { "segments", 8 },
    [SAY_DEVICE_TRACES] = { "device_traces", 13 },
    [SAY_ALLOCATOR_SETTINGS] = { "allocator_settings", 18 },
    [SAY_EXTERNAL_ANNOTATIONS] = { "external_annotations", 20 },
    [SAY_HOST_SEGMENTS] = { "host_segments", 13 },
    [SAY_HOST_TRACES] = { "host_traces", 11 },
    [SAY_DEVICE] = { "device", 6 },
    [SAY_ADDRESS] = { "address", 7 },
    [SAY_TOTAL_SIZE] = { "total_size", 10 },
    [SAY_ALLOCATED_SIZE] = { "allocated_size", 14 },
    [SAY_ACTIVE_SIZE] = { "active_size", 11 },
    [SAY_REQUESTED_SIZE] = { "requested_size", 14 },
    [SAY_STREAM] = { "stream", 6 },
    [SAY_SEGMENT_TYPE] = { "segment_type", 12 },
    [SAY_SMALL] = { "small", 5 },
    [SAY_LARGE] = { "large", 5 },
    [SAY_SEGMENT_POOL_ID] = { "segment_pool_id", 15 },
    [SAY_IS_EXPANDABLE] = { "is_expandable", 13 },
    [SAY_FRAMES] = { "frames", 6 },
    [SAY_FORWARD_FRAMES] = { "forward_frames", 14 },
    [SAY_BLOCKS] = { "blocks", 6 },
    [SAY_SIZE] = { "size", 4 },
    [SAY_STATE] = { "state", 5 },
    [SAY_ACTIVE_ALLOCATED] = { "active_allocated", 16 },
    [SAY_ACTIVE_PENDING_FREE] = { "active_pending_free", 19 },
    [SAY_INACTIVE] = { "inactive", 8 },
    [SAY_HISTORY] = { "history", 7 },
    [SAY_REAL_SIZE] = { "real_size", 9 },
    [SAY_CPP_FRAMES] = { "cpp_frames", 10 },
    [SAY_NAME] = { "name", 4 },
    [SAY_FILENAME] = { "filename", 8 },
    [SAY_LINE] = { "line", 4 },
    [SAY_FX_NODE_OP] = { "fx_node_op", 10 },
    [SAY_FX_NODE_NAME] = { "fx_node_name", 12 },
    [SAY_FX_NODE_TARGET] = { "fx_node_target", 14 },
    [SAY_FX_NODE_INFO] = { "fx_node_info", 12 },
    [SAY_FX_ORIGINAL_TRACE] = { "fx_original_trace", 17 },
    [SAY_ACTION] = { "action", 6 },
    [SAY_ALLOC] = { "alloc", 5 },
    [SAY_FREE_REQUESTED] = { "free_requested", 14 },
    [SAY_FREE_COMPLETED] = { "free_completed", 14 },
    [SAY_FREE] = { "free", 4 },
    [SAY_SEGMENT_ALLOC] = { "segment_alloc", 13 },
    [SAY_SEGMENT_FREE] = { "segment_free", 12 },
    [SAY_SEGMENT_MAP] = { "segment_map", 11 },
    [SAY_SEGMENT_UNMAP] = { "segment_unmap", 13 },
    [SAY_SNAPSHOT] = { "snapshot", 8 },
    [SAY_OOM] = { "oom", 3 },
    [SAY_ANNOTATE] = { "annotate", 8 },
    [SAY_USER_DEFINED] = { "user_defined", 12 },
    [SAY_ADDR] = { "addr", 4 },
    [SAY_DEVICE_FREE] = { "device_free", 11 },
    [SAY_TIME_US] = { "time_us", 7 },
    [SAY_COMPILE_CONTEXT] = { "compile_context", 15 },
    [SAY_N_A] = { "N/A", 3 },
    [SAY_USER_METADATA] = { "user_metadata", 13 },
    [SAY_INTERNAL_METADATA] = { "internal_metadata", 17 },
    [SAY_POOL_ID] = { "pool_id", 7 },
    [SAY_CATEGORY] = { "category", 8 },
    [SAY_STAGE] = { "stage", 5 },
    [SAY_START] = { "START", 5 },
    [SAY_END] = { "END", 3 },
};

str snapshot_word_text(enum snapshot_word word)
{
    return words[word];
}

bool shared_init(struct shared *s, struct out *out, const struct recording *r)
{
    *s = (struct shared){ .r = r };
    arena_init(&s->arena, SIZE_MAX);
    s->string = arena_array(&s->arena, uint32_t, r->code.strings.rows.len);
    s->frame = arena_array(&s->arena, uint32_t, r->code.frames.rows.len);
    s->stack = arena_array(&s->arena, uint32_t, r->code.stacks.rows.len);
    s->lines = arena_array(&s->arena, uint32_t, r->code.stacks.rows.len);
    s->pool = arena_array(&s->arena, uint32_t, r->pools.rows.len);
    if (s->string == NULL || s->frame == NULL || s->stack == NULL || s->lines == NULL ||
        s->pool == NULL) {
        shared_free(s);
        return false;
    }
    pickle_start(&s->p, out);
    return true;
}

void shared_free(struct shared *s)
{
    arena_free(&s->arena);
}

/* Reads it again if it was written. */
static bool again(struct shared *s, uint32_t entry)
{
    if (entry != 0)
        pickle_get(&s->p, entry - 1);
    return entry != 0;
}

void shared_word(struct shared *s, enum snapshot_word word)
{
    if (!again(s, s->word[word]))
        s->word[word] = pickle_str(&s->p, words[word]) + 1;
}

void shared_string(struct shared *s, uint32_t string)
{
    if (!again(s, s->string[string]))
        s->string[string] =
            pickle_str(&s->p, strings_text(&s->r->code.strings, (string_id){ string })) + 1;
}

void shared_pool(struct shared *s, uint32_t pool)
{
    if (!again(s, s->pool[pool]))
        s->pool[pool] = pickle_pair(&s->p, s->r->pools.first[pool], s->r->pools.second[pool]) + 1;
}

static void put_text(struct shared *s, struct pickle_items *dict, enum snapshot_word key,
                     string_id text)
{
    pickle_next(&s->p, dict);
    shared_word(s, key);
    shared_string(s, text.n);
}

static void put_fx(struct shared *s, struct pickle_items *dict, uint32_t row)
{
    const struct fx_nodes *x = &s->r->code.fx_nodes;
    const struct {
        enum snapshot_word key;
        uint32_t text;
    } fields[] = {
        { SAY_FX_NODE_OP, x->op[row] },
        { SAY_FX_NODE_NAME, x->name[row] },
        { SAY_FX_NODE_TARGET, x->target[row] },
        { SAY_FX_NODE_INFO, x->info[row] },
        { SAY_FX_ORIGINAL_TRACE, x->original_trace[row] },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].text != 0)
            put_text(s, dict, fields[i].key, (string_id){ fields[i].text });
}

static void put_frame(struct shared *s, frame_id id)
{
    if (again(s, s->frame[id.n]))
        return;
    struct frame frame = frames_get(&s->r->code.frames, id);
    struct pickle_items dict;
    pickle_dict(&s->p, PICKLE_SEVERAL, &dict);
    s->frame[id.n] = dict.memo + 1;
    put_text(s, &dict, SAY_NAME, frame.name);
    put_text(s, &dict, SAY_FILENAME, frame.file);
    pickle_next(&s->p, &dict);
    shared_word(s, SAY_LINE);
    /* PyTorch's own tools expect the key, and write -1 for a line that is not known. */
    pickle_i64(&s->p, frame.line == NO_LINE ? -1 : (int64_t)frame.line);
    put_fx(s, &dict, frame.fx);
    pickle_close(&s->p, &dict);
}

void shared_stack(struct shared *s, uint32_t stack)
{
    if (again(s, s->stack[stack]))
        return;
    const struct stacks *stacks = &s->r->code.stacks;
    struct pickle_items list;
    pickle_list(&s->p, stacks_depth(stacks, (stack_id){ stack }), &list);
    s->stack[stack] = list.memo + 1;
    for (stack_id at = { stack }; at.n != 0; at = stacks_caller(stacks, at)) {
        pickle_next(&s->p, &list);
        put_frame(s, stacks_frame(stacks, at));
    }
    pickle_close(&s->p, &list);
}

/* All of the stack's frames are a name and nothing else. */
static bool only_lines(const struct recording *r, stack_id stack)
{
    for (stack_id at = stack; at.n != 0; at = stacks_caller(&r->code.stacks, at)) {
        struct frame frame = frames_get(&r->code.frames, stacks_frame(&r->code.stacks, at));
        if (frame.file.n != 0 || frame.line != NO_LINE || frame.fx != 0)
            return false;
    }
    return true;
}

void shared_lines(struct shared *s, uint32_t stack)
{
    if (again(s, s->lines[stack]))
        return;
    const struct stacks *stacks = &s->r->code.stacks;
    if (!only_lines(s->r, (stack_id){ stack })) {
        shared_stack(s, stack); /* as its file had it, where the reader took frames too */
        s->lines[stack] = s->stack[stack];
        return;
    }
    struct pickle_items list;
    pickle_list(&s->p, stacks_depth(stacks, (stack_id){ stack }), &list);
    s->lines[stack] = list.memo + 1;
    for (stack_id at = { stack }; at.n != 0; at = stacks_caller(stacks, at)) {
        pickle_next(&s->p, &list);
        shared_string(s, s->r->code.frames.name[stacks_frame(stacks, at).n]);
    }
    pickle_close(&s->p, &list);
}
