/* calls.c - gives every span its path, then adds up what each path cost. */
#include "analysis/trace/calls/calls.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/trace.h"

/* Paths. */

struct path_key {
    uint32_t parent, name, root, track, depth;
    uint8_t kind;
};

struct path_keys {
    VEC(struct path_key) at;
    struct idtab index; /* paths plus 1 */
};

static bool root_add(struct path_keys *k, uint32_t track, uint32_t *ret)
{
    *ret = k->at.len;
    return vec_push(&k->at, (struct path_key){ NO_ROW, 0, *ret, track, 0, SPAN_KINDS });
}

/* Host code and device work of one name are two paths. */
static bool key_equal(const struct path_key *a, const struct path_key *b)
{
    return a->parent == b->parent && a->name == b->name &&
           span_is_work(a->kind) == span_is_work(b->kind);
}

/* The path of a span below another path, old or new. */
static bool path_of(struct path_keys *k, const struct spans *s, uint32_t row, uint32_t parent,
                    uint32_t *ret)
{
    const struct path_key *above = &k->at.at[parent];
    struct path_key wanted = { parent,       s->name[row],     above->root,
                               above->track, above->depth + 1, s->kind[row] };
    uint64_t hash = hash_pair(hash_pair(parent, wanted.name), span_is_work(wanted.kind));
    if (!idtab_reserve(&k->index))
        return false;
    for (uint32_t at = idtab_first(&k->index, hash); k->index.slot[at].id != 0;
         at = idtab_next(&k->index, hash, at)) {
        *ret = k->index.slot[at].id - 1;
        if (key_equal(&k->at.at[*ret], &wanted))
            return true;
    }
    *ret = k->at.len;
    if (!vec_push(&k->at, wanted))
        return false;
    idtab_put(&k->index, hash, *ret + 1);
    return true;
}

static bool host_paths(const struct trace_study *s, struct path_keys *k, struct call_paths *c)
{
    const struct forest *f = &c->forest;
    for (uint32_t thread = 0; thread < f->threads; thread++) {
        uint32_t root = 0;
        if (f->first[thread] < f->first[thread + 1] && !root_add(k, thread, &root))
            return false;
        for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
            uint32_t row = f->row[i], parent = f->parent[row];
            if (!path_of(k, &s->trace->spans, row, parent == NO_ROW ? root : c->of[parent],
                         &c->of[row]))
                return false;
        }
    }
    return true;
}

/* The path of the host code that it came from; NO_ROW where there is none. */
static uint32_t launcher_of(const struct trace_study *s, const struct call_paths *c, uint32_t row)
{
    uint32_t by = links_host(&s->links, row);
    return by == NO_ROW ? NO_ROW : c->of[by];
}

static bool device_paths(const struct trace_study *s, struct path_keys *k, struct call_paths *c)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t unlinked = NO_ROW;
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = s->sorted[i];
        if (!span_is_work(spans->kind[row]))
            continue;
        uint32_t parent = launcher_of(s, c, row);
        if (parent == NO_ROW && unlinked == NO_ROW && !root_add(k, NO_ROW, &unlinked))
            return false;
        if (!path_of(k, spans, row, parent == NO_ROW ? unlinked : parent, &c->of[row]))
            return false;
    }
    return true;
}

static bool has_several_processes(const struct trace *t, const struct call_paths *c)
{
    uint32_t first = NO_ROW;
    for (uint32_t i = 0; i < c->len; i++) {
        if (c->at[i].parent != NO_ROW || c->at[i].track == NO_ROW)
            continue;
        uint32_t process = t->tracks.process[c->at[i].track];
        if (first != NO_ROW && process != first)
            return true;
        first = process;
    }
    return false;
}

static bool paths_keep(const struct path_keys *k, struct arena *arena, struct call_paths *c)
{
    c->at = arena_array(arena, struct call_path, k->at.len);
    c->len = k->at.len;
    if (c->at == NULL)
        return false;
    for (uint32_t i = 0; i < c->len; i++) {
        const struct path_key *from = &k->at.at[i];
        c->at[i] = (struct call_path){ .parent = from->parent, .name = from->name,
                                       .root = from->root,     .track = from->track,
                                       .depth = from->depth,   .kind = from->kind };
        c->roots += from->parent == NO_ROW;
    }
    return true;
}

static bool paths_find(const struct trace_study *s, struct arena *arena, struct call_paths *c)
{
    struct path_keys k = { .at.max = UINT32_MAX - 1 };
    bool ok = host_paths(s, &k, c) && device_paths(s, &k, c) && paths_keep(&k, arena, c);
    vec_free(&k.at);
    idtab_free(&k.index);
    return ok;
}

/* What it cost. */

/* A span that runs, and until when children of its were seen. */
struct open_call {
    uint32_t row;
    int64_t until;
};

/* The time of each span while no child of its ran; of children that overlap, the time of both is
 * taken once. */
static bool self_times(const struct trace_study *s, const struct forest *f, struct arena *arena,
                       int64_t **ret)
{
    const struct spans *spans = &s->trace->spans;
    int64_t *self = arena_array(arena, int64_t, spans->rows.len);
    struct arena_mark mark = arena_mark(arena);
    struct open_call *open = arena_array(arena, struct open_call, f->max_depth);
    uint32_t depth = 0;
    if (self == NULL || open == NULL)
        return false;
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row];
        int64_t from = spans->start[row], end = span_end(spans, row);
        self[row] = spans->duration[row];
        while (depth > 0 && open[depth - 1].row != parent)
            depth--;
        struct open_call *around = depth > 0 ? &open[depth - 1] : NULL;
        open[depth++] = (struct open_call){ row, from };
        if (around == NULL)
            continue;
        from = from < around->until ? around->until : from;
        if (end > from) {
            self[parent] -= end - from;
            around->until = end;
        }
    }
    arena_release(arena, mark);
    *ret = self;
    return true;
}

static void add_host(const struct trace_study *s, struct call_paths *c)
{
    const struct forest *f = &c->forest;
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i];
        struct call_path *p = &c->at[c->of[row]];
        p->calls++;
        p->host_ns = i64_plus(p->host_ns, s->trace->spans.duration[row]);
        p->self_host_ns = i64_plus(p->self_host_ns, c->self_ns[row]);
    }
}

static void add_device(const struct trace_study *s, struct call_paths *c)
{
    const struct spans *spans = &s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        if (!span_is_work(spans->kind[row]))
            continue;
        struct call_path *p = &c->at[c->of[row]];
        p->calls++;
        p->self_device_ns = i64_plus(p->self_device_ns, spans->duration[row]);
    }
}

/* Memory that was given out, by thread and time. */
struct given_out {
    int64_t time;
    uint32_t track, row;
};

static int by_track_and_time(const void *a, const void *b)
{
    const struct given_out *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool given_out_find(const struct trace *t, struct arena *arena, struct given_out **ret,
                           uint32_t *ret_len)
{
    const struct memory_events *m = &t->memory;
    uint32_t len = 0;
    *ret = arena_array(arena, struct given_out, m->rows.len);
    if (*ret == NULL)
        return false;
    for (uint32_t i = 0; i < m->rows.len; i++)
        if (m->bytes[i] != TRACE_UNKNOWN && m->bytes[i] > 0)
            (*ret)[len++] = (struct given_out){ m->time[i], m->track[i], i };
    qsort(*ret, len, sizeof **ret, by_track_and_time);
    *ret_len = len;
    return true;
}

struct memory_sum given_out(const struct trace *t, uint32_t event)
{
    enum { TYPE_CPU = 0 };
    const struct memory_events *m = &t->memory;
    int64_t bytes = m->bytes[event] == TRACE_UNKNOWN || m->bytes[event] < 0 ? 0 : m->bytes[event];
    bool is_cpu = m->device_type[event] == TYPE_CPU;
    return (struct memory_sum){ is_cpu ? bytes : 0, is_cpu ? 0 : bytes };
}

/* The root of each thread that has one. */
static bool roots_find(const struct trace_study *s, const struct call_paths *c,
                       struct arena *arena, uint32_t **ret)
{
    uint32_t tracks = s->trace->tracks.rows.len;
    *ret = arena_array(arena, uint32_t, tracks);
    if (*ret == NULL)
        return false;
    for (uint32_t i = 0; i < tracks; i++)
        (*ret)[i] = NO_ROW;
    for (uint32_t i = 0; i < c->len; i++)
        if (c->at[i].parent == NO_ROW && c->at[i].track != NO_ROW)
            (*ret)[c->at[i].track] = i;
    return true;
}

/* To the innermost span that its thread was in; to the thread where it was in none. */
static bool add_memory(const struct trace_study *s, struct arena *arena, struct call_paths *c)
{
    const struct spans *spans = &s->trace->spans;
    const struct forest *f = &c->forest;
    struct given_out *event;
    uint32_t *root, events, track = NO_ROW, next = 0, current = NO_ROW;
    c->giver = arena_array(arena, uint32_t, s->trace->memory.rows.len);
    if (c->giver == NULL || !given_out_find(s->trace, arena, &event, &events) ||
        !roots_find(s, c, arena, &root))
        return false;
    for (uint32_t i = 0; i < s->trace->memory.rows.len; i++)
        c->giver[i] = NO_ROW;
    for (uint32_t i = 0; i < events; i++) {
        const struct given_out *e = &event[i];
        if (e->track != track) {
            track = e->track;
            next = f->first[track];
            current = NO_ROW;
        }
        while (next < f->first[track + 1] && spans->start[f->row[next]] <= e->time)
            current = f->row[next++];
        while (current != NO_ROW && span_end(spans, current) <= e->time)
            current = f->parent[current];
        c->giver[e->row] = current;
        uint32_t path = current != NO_ROW ? c->of[current] : root[track];
        if (path != NO_ROW)
            memory_sum_add(&c->at[path].self_bytes, given_out(s->trace, e->row));
    }
    return true;
}

/* Parents stand before their children. */
static void add_totals(struct call_paths *c)
{
    for (uint32_t i = c->len; i > 0; i--) {
        struct call_path *p = &c->at[i - 1];
        p->device_ns = i64_plus(p->device_ns, p->self_device_ns);
        memory_sum_add(&p->bytes, p->self_bytes);
        if (p->parent == NO_ROW)
            continue;
        struct call_path *up = &c->at[p->parent];
        up->device_ns = i64_plus(up->device_ns, p->device_ns);
        memory_sum_add(&up->bytes, p->bytes);
        if (up->parent == NO_ROW) {
            up->host_ns = i64_plus(up->host_ns, p->host_ns);
            up->calls += p->calls;
        }
    }
}

static bool tree_make(const struct trace_study *s, struct arena *arena, struct call_paths *c)
{
    const struct spans *spans = &s->trace->spans;
    c->of = arena_array(arena, uint32_t, spans->rows.len);
    if (c->of == NULL)
        return false;
    /* The tracks of calls, until their trees are made, then their paths: memory is short here. */
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint8_t kind = spans->kind[row];
        bool is_call = kind == SPAN_OP || kind == SPAN_PYTHON || span_is_call(kind) ||
                       (s->is_foreign && kind == SPAN_OTHER);
        c->of[row] = is_call ? spans->track[row] : NO_ROW;
    }
    if (!forest_make(s->trace, s->sorted, c->of, arena, &c->forest))
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        c->of[row] = NO_ROW;
    if (!paths_find(s, arena, c))
        return false;
    c->several_processes = has_several_processes(s->trace, c);
    return true;
}

enum vrs_status call_paths_make(const struct trace_study *s, struct arena *arena,
                                struct call_paths *ret, struct vrs_error *err)
{
    *ret = (struct call_paths){ .len = 0 };
    if (!tree_make(s, arena, ret) || !self_times(s, &ret->forest, arena, &ret->self_ns))
        return vrs_no_memory(err);
    add_host(s, ret);
    add_device(s, ret);
    if (!add_memory(s, arena, ret))
        return vrs_no_memory(err);
    add_totals(ret);
    return VRS_OK;
}

/* Frames. */

bool frame_name_read(str name, struct frame_name *ret)
{
    enum { LINE_MOST = 100000000 };
    size_t colon = str_find(name, S("): "));
    size_t open = colon;
    uint32_t line = 0;
    if (colon == name.len)
        return false;
    while (open > 0 && is_digit(name.ptr[open - 1]))
        open--;
    if (open == colon || open < 2 || name.ptr[open - 1] != '(')
        return false;
    for (size_t i = open; i < colon; i++) {
        line = line * 10 + (uint32_t)(name.ptr[i] - '0');
        if (line > LINE_MOST)
            return false;
    }
    *ret = (struct frame_name){ { name.ptr, open - 1 },
                                { name.ptr + colon + 3, name.len - colon - 3 }, line };
    return ret->function.len > 0;
}
