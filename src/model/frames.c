/* frames.c - interning of frames and of what torch.fx says of them. */
#include "model/frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

static const struct column frame_columns[] = {
    { "name", offsetof(struct frames, name), COLUMN_U32 },
    { "file", offsetof(struct frames, file), COLUMN_U32 },
    { "line", offsetof(struct frames, line), COLUMN_U32 },
    { "fx", offsetof(struct frames, fx), COLUMN_U32 },
};
const struct table_kind frames_kind = { "frames", frame_columns, 4 };

static const struct column fx_columns[] = {
    { "op", offsetof(struct fx_nodes, op), COLUMN_U32 },
    { "name", offsetof(struct fx_nodes, name), COLUMN_U32 },
    { "target", offsetof(struct fx_nodes, target), COLUMN_U32 },
    { "info", offsetof(struct fx_nodes, info), COLUMN_U32 },
    { "original_trace", offsetof(struct fx_nodes, original_trace), COLUMN_U32 },
};
const struct table_kind fx_nodes_kind = { "fx_nodes", fx_columns, 5 };

static uint64_t frame_hash(struct frame f)
{
    return hash_pair((uint64_t)f.name.n << 32 | f.file.n, (uint64_t)f.fx << 32 | f.line);
}

static bool frame_equal(struct frame a, struct frame b)
{
    return a.name.n == b.name.n && a.file.n == b.file.n && a.line == b.line && a.fx == b.fx;
}

static void frame_store(struct frames *f, uint32_t id, struct frame frame)
{
    f->name[id] = frame.name.n;
    f->file[id] = frame.file.n;
    f->line[id] = frame.line;
    f->fx[id] = frame.fx;
}

bool frames_init(struct frames *f)
{
    *f = (struct frames){ .rows.max = UINT32_MAX - 1 };
    if (!table_reserve(f, &frames_kind, 1))
        return false;
    frame_store(f, 0, (struct frame){ .line = NO_LINE });
    f->rows.len = 1;
    return true;
}

void frames_free(struct frames *f)
{
    table_free(f, &frames_kind);
    idtab_free(&f->index);
}

bool frames_intern(struct frames *f, struct frame frame, frame_id *ret)
{
    if (!idtab_reserve(&f->index))
        return false;
    uint64_t hash = frame_hash(frame);
    for (uint32_t at = idtab_first(&f->index, hash); f->index.slot[at].id != 0;
         at = idtab_next(&f->index, hash, at)) {
        frame_id id = { f->index.slot[at].id };
        if (frame_equal(frames_get(f, id), frame)) {
            *ret = id;
            return true;
        }
    }
    if (!table_reserve(f, &frames_kind, 1))
        return false;
    frame_id id = { f->rows.len++ };
    frame_store(f, id.n, frame);
    idtab_put(&f->index, hash, id.n);
    *ret = id;
    return true;
}

static struct fx_node fx_get(const struct fx_nodes *f, uint32_t id)
{
    return (struct fx_node){
        { f->op[id] },   { f->name[id] },           { f->target[id] },
        { f->info[id] }, { f->original_trace[id] },
    };
}

static uint64_t fx_hash(struct fx_node n)
{
    return hash_pair(
        hash_pair((uint64_t)n.op.n << 32 | n.name.n, (uint64_t)n.target.n << 32 | n.info.n),
        n.original_trace.n);
}

static void fx_store(struct fx_nodes *f, uint32_t id, struct fx_node n)
{
    f->op[id] = n.op.n;
    f->name[id] = n.name.n;
    f->target[id] = n.target.n;
    f->info[id] = n.info.n;
    f->original_trace[id] = n.original_trace.n;
}

bool fx_nodes_init(struct fx_nodes *f)
{
    *f = (struct fx_nodes){ .rows.max = UINT32_MAX - 1 };
    if (!table_reserve(f, &fx_nodes_kind, 1))
        return false;
    fx_store(f, 0, (struct fx_node){ .op.n = 0 });
    f->rows.len = 1;
    return true;
}

void fx_nodes_free(struct fx_nodes *f)
{
    table_free(f, &fx_nodes_kind);
    idtab_free(&f->index);
}

bool fx_nodes_intern(struct fx_nodes *f, struct fx_node node, uint32_t *ret)
{
    if (!idtab_reserve(&f->index))
        return false;
    uint64_t hash = fx_hash(node);
    for (uint32_t at = idtab_first(&f->index, hash); f->index.slot[at].id != 0;
         at = idtab_next(&f->index, hash, at)) {
        uint32_t id = f->index.slot[at].id;
        struct fx_node old = fx_get(f, id);
        if (old.op.n == node.op.n && old.name.n == node.name.n && old.target.n == node.target.n &&
            old.info.n == node.info.n && old.original_trace.n == node.original_trace.n) {
            *ret = id;
            return true;
        }
    }
    if (!table_reserve(f, &fx_nodes_kind, 1))
        return false;
    uint32_t id = f->rows.len++;
    fx_store(f, id, node);
    idtab_put(&f->index, hash, id);
    *ret = id;
    return true;
}
