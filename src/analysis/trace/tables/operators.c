/* operators.c - trees of host events, equal only children absorbed, added up by name. */
#include "analysis/trace/tables/operators.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/study/names.h"
#include "analysis/trace/tables/memory_sums.h"
#include "base/bytes.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

/* What a host event is in the tree whose equal only children are absorbed. */
struct merging {
    const struct trace_study *study;
    const struct forest *trees;
    uint32_t *children;   /* of each span in the tree as it was */
    int64_t *children_ns; /* their durations */
    struct memory_sum *bytes, *children_bytes; /* of each span; of its children */
    uint32_t *top;        /* who has absorbed it, or itself */
    uint32_t *deepest;    /* of a top: the last that it has absorbed, or itself */
    int64_t *self_device_ns, *device_total_ns; /* the second: of tops */
};

static bool merging_init(struct merging *m, const struct trace_study *s,
                         const struct forest *trees, struct arena *arena)
{
    uint32_t spans = s->trace->spans.rows.len;
    *m = (struct merging){
        .study = s,
        .trees = trees,
        .children = arena_array(arena, uint32_t, spans),
        .children_ns = arena_array(arena, int64_t, spans),
        .bytes = arena_array(arena, struct memory_sum, spans),
        .children_bytes = arena_array(arena, struct memory_sum, spans),
        .top = arena_array(arena, uint32_t, spans),
        .deepest = arena_array(arena, uint32_t, spans),
        .self_device_ns = arena_array(arena, int64_t, spans),
        .device_total_ns = arena_array(arena, int64_t, spans),
    };
    return m->children != NULL && m->children_ns != NULL && m->bytes != NULL &&
           m->children_bytes != NULL && m->top != NULL && m->deepest != NULL && m->self_device_ns != NULL && m->device_total_ns != NULL;
}

static void count_bytes(struct merging *m, const struct memory_sums *sums)
{
    const struct forest *f = m->trees;
    const struct spans *spans = &m->study->trace->spans;
    uint32_t place = 0;
    for (uint32_t i = 0; i < f->first[f->threads] && sums->events > 0; i++) {
        uint32_t row = f->row[i];
        m->bytes[row] = memory_sums_between(sums, &place, spans->start[row], span_end(spans, row));
    }
}

static void count_children(struct merging *m)
{
    const struct trace_study *s = m->study;
    const struct spans *spans = &s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t parent = m->trees->parent[row], owner = s->links.owner[row];
        if (parent != NO_ROW) {
            m->children[parent]++;
            m->children_ns[parent] = i64_plus(m->children_ns[parent], spans->duration[row]);
            memory_sum_add(&m->children_bytes[parent], m->bytes[row]);
        }
        if (owner != NO_ROW)
            m->self_device_ns[owner] = i64_plus(m->self_device_ns[owner], spans->duration[row]);
    }
}

/* Parents stand before their children in the rows of a forest. */
static uint64_t merge(struct merging *m)
{
    const struct forest *f = m->trees;
    const uint32_t *name = m->study->trace->spans.name;
    uint64_t merged = 0;
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row];
        bool is_absorbed =
            parent != NO_ROW && m->children[parent] == 1 && name[parent] == name[row];
        m->top[row] = is_absorbed ? m->top[parent] : row;
        m->deepest[m->top[row]] = row;
        merged += is_absorbed;
    }
    return merged;
}

/* Children stand behind their parents, so that going back a total is whole when it is given on. */
static void add_device_totals(struct merging *m)
{
    const struct forest *f = m->trees;
    for (uint32_t i = f->first[f->threads]; i > 0; i--) {
        uint32_t row = f->row[i - 1], parent = f->parent[row];
        if (m->top[row] != row)
            continue;
        m->device_total_ns[row] = i64_plus(m->device_total_ns[row], m->self_device_ns[m->deepest[row]]);
        if (parent != NO_ROW)
            m->device_total_ns[m->top[parent]] = i64_plus(m->device_total_ns[m->top[parent]], m->device_total_ns[row]);
    }
}

/* Rows by name. */

struct by_name {
    uint32_t *of; /* of each string: row plus 1 */
    uint32_t steps; /* row of the steps, plus 1 */
    struct tables *tables;
};

static struct operator_row *row_of(struct by_name *b, const struct trace_study *s, uint32_t name)
{
    bool is_step = (s->names.traits[name] & NAME_STEP) != 0;
    uint32_t *at = is_step ? &b->steps : &b->of[name];
    if (*at == 0) {
        *at = ++b->tables->ops;
        b->tables->op[*at - 1] = (struct operator_row){
            .name = is_step ? S("ProfilerStep*") : trace_text(s->trace, name)
        };
    }
    return &b->tables->op[*at - 1];
}

static void add_up(const struct merging *m, struct by_name *b)
{
    const struct trace_study *s = m->study;
    const struct forest *f = m->trees;
    const struct spans *spans = &s->trace->spans;
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], deepest = m->deepest[row], name = spans->name[row];
        if (m->top[row] != row)
            continue;
        int64_t self = i64_minus(spans->duration[row], m->children_ns[deepest]);
        b->tables->self_cpu_ns = i64_plus(b->tables->self_cpu_ns, self);
        if (spans->kind[row] == SPAN_PYTHON || (s->names.traits[name] & NAME_UNLISTED) != 0)
            continue;
        struct operator_row *r = row_of(b, s, name);
        r->calls++;
        r->cpu_total_ns = i64_plus(r->cpu_total_ns, spans->duration[row]);
        r->self_cpu_ns = i64_plus(r->self_cpu_ns, self);
        r->device_total_ns = i64_plus(r->device_total_ns, m->device_total_ns[row]);
        r->self_device_ns = i64_plus(r->self_device_ns, m->self_device_ns[deepest]);
        memory_sum_add(&r->bytes, m->bytes[row]);
        memory_sum_add(&r->self_bytes, memory_sum_without(m->bytes[row], m->children_bytes[deepest]));
    }
}

/* Memory events in no span of the trees, as a row of their own. */
static void add_loose(const struct merging *m, const bool *is_host, const struct memory_sums *sums,
                      struct operator_row *ret)
{
    const struct spans *spans = &m->study->trace->spans;
    const uint32_t *sorted = m->study->sorted;
    int64_t open_until = INT64_MIN;
    uint32_t next = 0;
    *ret = (struct operator_row){ .name = S("[memory]") };
    for (uint32_t e = 0; e < sums->events; e++) {
        for (; next < spans->rows.len && spans->start[sorted[next]] <= sums->time[e]; next++) {
            uint32_t row = sorted[next];
            if (is_host[row] && span_end(spans, row) > open_until)
                open_until = span_end(spans, row);
        }
        if (open_until >= sums->time[e])
            continue;
        ret->calls++;
        memory_sum_add(&ret->bytes, memory_sum_without(sums->before[e + 1], sums->before[e]));
    }
    ret->self_bytes = ret->bytes;
}

static int by_self_cpu(const void *a, const void *b)
{
    const struct operator_row *x = a, *y = b;
    if (x->self_cpu_ns != y->self_cpu_ns)
        return x->self_cpu_ns > y->self_cpu_ns ? -1 : 1;
    return str_compare(x->name, y->name);
}

bool operators_make(const struct trace_study *s, const struct forest *trees, struct arena *arena,
                    struct tables *ret)
{
    uint32_t strings = s->trace->strings.rows.len;
    ret->op = arena_array(arena, struct operator_row, (size_t)strings + 1);
    struct arena_mark mark = arena_mark(arena);
    struct by_name b = { .of = arena_array(arena, uint32_t, strings), .tables = ret };
    struct merging m;
    struct memory_sums sums;
    bool *is_host = arena_array(arena, bool, s->trace->spans.rows.len);
    if (ret->op == NULL || b.of == NULL || is_host == NULL ||
        !merging_init(&m, s, trees, arena) || !memory_sums_make(s->trace, arena, &sums))
        return false;
    for (uint32_t i = 0; i < trees->first[trees->threads]; i++)
        is_host[trees->row[i]] = true;
    count_bytes(&m, &sums);
    add_loose(&m, is_host, &sums, &ret->loose);
    count_children(&m);
    ret->merged = merge(&m);
    add_device_totals(&m);
    add_up(&m, &b);
    qsort(ret->op, ret->ops, sizeof *ret->op, by_self_cpu);
    arena_release(arena, mark);
    return true;
}

bool framework_trees(const struct trace_study *s, struct arena *arena, struct forest *ret)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t *track = arena_array(arena, uint32_t, spans->rows.len);
    if (track == NULL)
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        track[row] = spans->kind[row] == SPAN_PYTHON ? spans->track[row] : s->home[row];
    return forest_make(s->trace, s->sorted, track, arena, ret);
}
