/* modules.c - paths of the call tree added up by the modules that they lie in. */
#include "analysis/trace/modules/modules.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/modules/backward.h"
#include "analysis/trace/study/names.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/trace.h"

/* What was spent in a module: by it alone, and with the modules inside. */
struct spent {
    uint64_t calls;
    int64_t host_ns, self_host_ns, device_ns, self_device_ns;
    struct memory_sum bytes;
};

/* A module inside another one. */
struct module {
    uint32_t parent, name, depth;
    struct spent forward, backward;
};

struct module_tree {
    const struct trace_study *s;
    const struct call_paths *calls;
    VEC(struct module) at; /* a module after those around it */
    struct idtab index;    /* modules plus 1 */
    uint32_t *of;          /* of each path of calls: its innermost module, or NO_ROW */
};

static bool is_module_frame(const struct trace_study *s, const struct call_path *p)
{
    return p->kind == SPAN_PYTHON && (s->names.traits[p->name] & NAME_MODULE) != 0;
}

static bool module_of(struct module_tree *t, uint32_t parent, uint32_t name, uint32_t *ret)
{
    uint64_t hash = hash_pair(parent, name);
    if (!idtab_reserve(&t->index))
        return false;
    for (uint32_t at = idtab_first(&t->index, hash); t->index.slot[at].id != 0;
         at = idtab_next(&t->index, hash, at)) {
        *ret = t->index.slot[at].id - 1;
        if (t->at.at[*ret].parent == parent && t->at.at[*ret].name == name)
            return true;
    }
    *ret = t->at.len;
    uint32_t depth = parent == NO_ROW ? 0 : t->at.at[parent].depth + 1;
    if (!vec_push(&t->at, (struct module){ parent, name, depth, { 0 }, { 0 } }))
        return false;
    idtab_put(&t->index, hash, *ret + 1);
    return true;
}

/* Forward: paths of the tree by the module that they lie in. */
static bool add_forward(struct module_tree *t)
{
    const struct call_paths *c = t->calls;
    for (uint32_t i = 0; i < c->len; i++) {
        const struct call_path *p = &c->at[i];
        uint32_t around = p->parent == NO_ROW ? NO_ROW : t->of[p->parent];
        t->of[i] = around;
        bool is_frame = p->parent != NO_ROW && is_module_frame(t->s, p);
        if (is_frame && !module_of(t, around, p->name, &t->of[i]))
            return false;
        if (t->of[i] == NO_ROW)
            continue;
        struct spent *m = &t->at.at[t->of[i]].forward;
        m->calls += is_frame ? p->calls : 0;
        m->host_ns = i64_plus(m->host_ns, is_frame ? p->host_ns : 0);
        m->self_host_ns = i64_plus(m->self_host_ns, p->self_host_ns);
        m->self_device_ns = i64_plus(m->self_device_ns, p->self_device_ns);
        memory_sum_add(&m->bytes, p->self_bytes);
    }
    return true;
}

/* Backward: of spans that a forward operator leads to, the outermost ones, each with all below. */
struct passes {
    uint32_t *forward; /* of spans: see backward_find */
    uint32_t *module;  /* of spans: the module whose backward pass they are, or NO_ROW */
};

static bool passes_find(const struct module_tree *t, struct arena *arena, struct passes *ret)
{
    const struct forest *f = &t->calls->forest;
    ret->module = arena_array(arena, uint32_t, t->s->trace->spans.rows.len);
    if (ret->module == NULL || !backward_find(t->s, f, arena, &ret->forward))
        return false;
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row], from = ret->forward[row];
        uint32_t around = parent == NO_ROW ? NO_ROW : ret->module[parent];
        uint32_t own = from == NO_ROW ? NO_ROW : t->of[t->calls->of[from]];
        ret->module[row] = around != NO_ROW ? around : own;
    }
    return true;
}

static void add_passes(struct module_tree *t, const struct passes *p)
{
    const struct spans *spans = &t->s->trace->spans;
    const struct forest *f = &t->calls->forest;
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row];
        if (p->module[row] == NO_ROW || (parent != NO_ROW && p->module[parent] != NO_ROW))
            continue;
        struct spent *m = &t->at.at[p->module[row]].backward;
        m->calls++;
        m->self_host_ns = i64_plus(m->self_host_ns, spans->duration[row]);
    }
}

static void add_passes_work(struct module_tree *t, const struct passes *p)
{
    const struct spans *spans = &t->s->trace->spans;
    const struct memory_events *memory = &t->s->trace->memory;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t by = links_host(&t->s->links, row);
        if (by == NO_ROW || t->calls->of[by] == NO_ROW || p->module[by] == NO_ROW)
            continue;
        struct spent *m = &t->at.at[p->module[by]].backward;
        m->self_device_ns = i64_plus(m->self_device_ns, spans->duration[row]);
    }
    for (uint32_t e = 0; e < memory->rows.len; e++) {
        uint32_t by = t->calls->giver[e];
        if (by != NO_ROW && p->module[by] != NO_ROW)
            memory_sum_add(&t->at.at[p->module[by]].backward.bytes, given_out(t->s->trace, e));
    }
}

/* Modules stand before those inside them. */

static void hand_up(const struct spent *from, struct spent *to, bool calls)
{
    to->device_ns = i64_plus(to->device_ns, from->device_ns);
    memory_sum_add(&to->bytes, from->bytes);
    if (calls) { /* a backward pass has no frame of its own that it lasts as long as */
        to->calls += from->calls;
        to->host_ns = i64_plus(to->host_ns, from->host_ns);
    }
}

static void add_totals(struct module_tree *t)
{
    for (uint32_t i = t->at.len; i > 0; i--) {
        struct module *m = &t->at.at[i - 1];
        m->forward.device_ns = i64_plus(m->forward.device_ns, m->forward.self_device_ns);
        m->backward.device_ns = i64_plus(m->backward.device_ns, m->backward.self_device_ns);
        m->backward.host_ns = i64_plus(m->backward.host_ns, m->backward.self_host_ns);
        if (m->parent == NO_ROW)
            continue;
        hand_up(&m->forward, &t->at.at[m->parent].forward, false);
        hand_up(&m->backward, &t->at.at[m->parent].backward, true);
    }
}

/* Rows. */

struct placed {
    uint32_t parent, module;
    int64_t device_ns, host_ns;
};

static int by_parent_and_time(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->device_ns != y->device_ns)
        return x->device_ns > y->device_ns ? -1 : 1;
    if (x->host_ns != y->host_ns)
        return x->host_ns > y->host_ns ? -1 : 1;
    return x->module < y->module ? -1 : x->module > y->module;
}

static str class_of(const struct module_tree *t, uint32_t module)
{
    const str begin = S("nn.Module: ");
    str name = trace_text(t->s->trace, t->at.at[module].name);
    return (str){ name.ptr + begin.len, name.len - begin.len };
}

/* "A_0.B_1"; of modules deeper than PATH_MODULES only so many of the innermost are named. */
static bool path_text(const struct module_tree *t, uint32_t module, bool backward,
                      struct arena *arena, str *ret)
{
    enum { PATH_MODULES = 64 };
    uint32_t around[PATH_MODULES], count = 0, at = module;
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    for (; at != NO_ROW && count < PATH_MODULES; at = t->at.at[at].parent)
        around[count++] = at;
    if (at != NO_ROW)
        buf_text(&text, "(…).");
    for (uint32_t i = count; i > 0; i--) {
        buf_str(&text, class_of(t, around[i - 1]));
        buf_text(&text, i > 1 ? "." : backward ? ".backward" : "");
    }
    *ret = text.failed ? (str){ NULL, 0 } : arena_copy(arena, buf_slice(&text));
    buf_free(&text);
    return ret->ptr != NULL;
}

static bool put_row(const struct module_tree *t, uint32_t module, bool backward,
                    struct arena *arena, struct modules *to)
{
    const struct module *m = &t->at.at[module];
    const struct spent *spent = backward ? &m->backward : &m->forward;
    struct module_row *row = &to->row[to->rows++];
    *row = (struct module_row){ .depth = m->depth,
                                .backward = backward,
                                .calls = spent->calls,
                                .host_ns = spent->host_ns,
                                .self_host_ns = spent->self_host_ns,
                                .device_ns = spent->device_ns,
                                .self_device_ns = spent->self_device_ns,
                                .bytes = spent->bytes };
    row->name = arena_copy(arena, class_of(t, module));
    return row->name.ptr != NULL && path_text(t, module, backward, arena, &row->path);
}

/* Depth first, the module with the most device time first, then by host time. */
static bool rows_make(const struct module_tree *t, struct arena *scratch, struct arena *arena,
                      struct modules *to)
{
    uint32_t count = t->at.len, open = 0;
    struct placed *placed = arena_array(scratch, struct placed, count);
    uint32_t *first = arena_array(scratch, uint32_t, (size_t)count + 2);
    uint32_t *stack = arena_array(scratch, uint32_t, count);
    to->row = arena_array(arena, struct module_row, (size_t)count * 2);
    if (placed == NULL || first == NULL || stack == NULL || to->row == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct module *m = &t->at.at[i];
        uint32_t parent = m->parent == NO_ROW ? count : m->parent;
        placed[i] = (struct placed){ parent, i,
                                     i64_plus(m->forward.device_ns, m->backward.device_ns),
                                     i64_plus(m->forward.host_ns, m->backward.host_ns) };
        first[parent + 1]++;
    }
    for (uint32_t i = 0; i <= count; i++)
        first[i + 1] += first[i];
    qsort(placed, count, sizeof *placed, by_parent_and_time);
    for (uint32_t at = count, more = count > 0; more;) {
        for (uint32_t i = first[at + 1]; i > first[at]; i--)
            stack[open++] = placed[i - 1].module;
        more = open > 0;
        if (!more)
            break;
        at = stack[--open];
        if (!put_row(t, at, false, arena, to))
            return false;
        if (t->at.at[at].backward.calls > 0 && !put_row(t, at, true, arena, to))
            return false;
    }
    to->modules = count;
    return true;
}

static bool has_module_frames(const struct trace_study *s)
{
    const struct spans *spans = &s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        if (spans->kind[row] == SPAN_PYTHON &&
            (s->names.traits[spans->name[row]] & NAME_MODULE) != 0)
            return true;
    return false;
}

static bool tree_make(struct module_tree *t, struct arena *scratch, struct arena *arena,
                      struct modules *ret)
{
    struct passes passes;
    t->of = arena_array(scratch, uint32_t, t->calls->len);
    if (t->of == NULL || !add_forward(t) || !passes_find(t, scratch, &passes))
        return false;
    add_passes(t, &passes);
    add_passes_work(t, &passes);
    add_totals(t);
    return rows_make(t, scratch, arena, ret);
}

/* Of each span its module, and the text of each. */
static bool spans_make(struct module_tree *t, struct arena *scratch, struct arena *arena,
                       struct span_modules *ret)
{
    struct passes passes;
    uint32_t spans = t->s->trace->spans.rows.len;
    t->of = arena_array(scratch, uint32_t, t->calls->len);
    if (t->of == NULL || !add_forward(t) || !passes_find(t, scratch, &passes))
        return false;
    ret->path = arena_array(arena, str, (size_t)t->at.len * 2);
    ret->of = arena_array(arena, uint32_t, spans);
    if (ret->path == NULL || ret->of == NULL)
        return false;
    for (uint32_t i = 0; i < t->at.len * 2; i++)
        if (!path_text(t, i / 2, i % 2 == 1, arena, &ret->path[i]))
            return false;
    for (uint32_t row = 0; row < spans; row++) {
        uint32_t path = t->calls->of[row], forward = path == NO_ROW ? NO_ROW : t->of[path];
        ret->of[row] = NO_ROW;
        if (path != NO_ROW && passes.module[row] != NO_ROW)
            ret->of[row] = passes.module[row] * 2 + 1;
        else if (forward != NO_ROW)
            ret->of[row] = forward * 2;
    }
    return true;
}

enum vrs_status trace_modules_of_spans(const struct trace_study *s, struct arena *scratch,
                                       struct arena *arena, struct span_modules *ret,
                                       struct vrs_error *err)
{
    struct call_paths calls;
    struct module_tree t = { .s = s, .calls = &calls, .at.max = UINT32_MAX / 2 };
    struct arena_mark mark = arena_mark(scratch);
    *ret = (struct span_modules){ .of = NULL };
    if (!has_module_frames(s))
        return VRS_OK;
    TRY(call_paths_make(s, scratch, &calls, err));
    bool ok = spans_make(&t, scratch, arena, ret);
    vec_free(&t.at);
    idtab_free(&t.index);
    arena_release(scratch, mark);
    return ok ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status trace_modules_make(const struct trace_study *s, struct arena *scratch,
                             struct arena *arena, struct modules *ret, struct vrs_error *err)
{
    struct call_paths calls;
    struct module_tree t = { .s = s, .calls = &calls, .at.max = UINT32_MAX - 1 };
    struct arena_mark mark = arena_mark(scratch);
    *ret = (struct modules){ .rows = 0 };
    if (!has_module_frames(s))
        return VRS_OK;
    TRY(call_paths_make(s, scratch, &calls, err));
    bool ok = tree_make(&t, scratch, arena, ret);
    vec_free(&t.at);
    idtab_free(&t.index);
    arena_release(scratch, mark);
    return ok ? VRS_OK : vrs_no_memory(err);
}
