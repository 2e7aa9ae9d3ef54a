/* copy_interned.c - interns every row again, in its order, which gives it the same id. */
#include "model/copy_interned.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/table.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"

static bool copy_strings(struct recording *to, const struct recording *from)
{
    for (uint32_t i = 1; i < from->code.strings.rows.len; i++) {
        string_id id;
        if (!strings_intern(&to->code.strings, strings_text(&from->code.strings, (string_id){ i }),
                            &id))
            return false;
        assert(id.n == i);
    }
    return true;
}

static bool copy_frames(struct recording *to, const struct recording *from)
{
    const struct fx_nodes *x = &from->code.fx_nodes;
    for (uint32_t i = 1; i < x->rows.len; i++) {
        struct fx_node node = {
            { x->op[i] }, { x->name[i] }, { x->target[i] }, { x->info[i] }, { x->original_trace[i] }
        };
        uint32_t id;
        if (!fx_nodes_intern(&to->code.fx_nodes, node, &id))
            return false;
        assert(id == i);
    }
    for (uint32_t i = 1; i < from->code.frames.rows.len; i++) {
        frame_id id;
        if (!frames_intern(&to->code.frames, frames_get(&from->code.frames, (frame_id){ i }), &id))
            return false;
        assert(id.n == i);
    }
    return true;
}

static bool copy_stacks(struct recording *to, const struct recording *from)
{
    for (uint32_t i = 1; i < from->code.stacks.rows.len; i++) {
        stack_id id;
        if (!stacks_push(&to->code.stacks, (stack_id){ from->code.stacks.caller[i] },
                         (frame_id){ from->code.stacks.frame[i] }, &id))
            return false;
        assert(id.n == i);
    }
    return true;
}

static bool copy_contexts(struct recording *to, const struct recording *from)
{
    const struct contexts *c = &from->contexts;
    for (uint32_t i = 1; i < from->pools.rows.len; i++) {
        pool_id id;
        if (!pools_intern(&to->pools, from->pools.first[i], from->pools.second[i], &id))
            return false;
        assert(id.n == i);
    }
    for (uint32_t i = 0; i < from->streams.rows.len; i++) {
        uint16_t row;
        if (!streams_intern(&to->streams, from->streams.handle[i], &row))
            return false;
        assert(row == i);
    }
    for (uint32_t i = 1; i < c->rows.len; i++) {
        struct context context = {
            { c->compile_context[i] }, { c->user_metadata[i] }, { c->internal_metadata[i] },
            { c->category[i] },        { c->action[i] },        { c->pool[i] },
            { c->forward_stack[i] },
        };
        context_id id;
        if (!contexts_intern(&to->contexts, context, &id))
            return false;
        assert(id.n == i);
    }
    return true;
}

/* All rows of a table without an index. */
static bool copy_table(void *to, const void *from, const struct table_kind *kind)
{
    const struct table *rows = from;
    struct table *copy = to;
    if (!table_reserve(to, kind, rows->len))
        return false;
    for (uint32_t i = 0; rows->len > 0 && i < kind->columns; i++) {
        const struct column *c = &kind->column[i];
        void *const *source = (void *const *)(const void *)((const char *)from + c->offset);
        void **target = (void **)(void *)((char *)to + c->offset);
        memcpy(*target, *source, rows->len * column_width(c->type));
    }
    copy->len = rows->len;
    return true;
}

bool recording_copy_interned(struct recording *to, const struct recording *from)
{
    return copy_strings(to, from) && copy_frames(to, from) && copy_stacks(to, from) &&
           copy_contexts(to, from) && copy_table(&to->marks, &from->marks, &marks_kind) &&
           copy_table(&to->settings, &from->settings, &settings_kind);
}
