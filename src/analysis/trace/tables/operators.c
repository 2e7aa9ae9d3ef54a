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

/* Rows by name, or by what tells more apart. */

struct by_key {
    const struct operator_keys *keys; /* NULL: names are the keys */
    uint32_t *of;   /* of each key: row plus 1 */
    uint32_t steps; /* row of the steps where names are the keys, plus 1 */
    struct tables *tables;
};

static struct operator_row *row_of(struct by_key *b, const struct trace_study *s, uint32_t span)
{
    uint32_t name = s->trace->spans.name[span];
    bool is_step = (s->names.traits[name] & NAME_STEP) != 0;
    uint32_t *at = b->keys != NULL ? &b->of[b->keys->of[span]]
                   : is_step       ? &b->steps
                                   : &b->of[name];
    if (*at == 0) {
        *at = ++b->tables->ops;
        b->tables->op[*at - 1] = (struct operator_row){
            .name = is_step ? S("ProfilerStep*") : trace_text(s->trace, name),
            .key = b->keys != NULL ? b->keys->of[span] : 0,
        };
    }
    return &b->tables->op[*at - 1];
}

/* Trees are walked with a stack of the spans that are open.  An only child with its parent's name is
 * absorbed: what the parent has of its own is then what the child has.  Whether a child is an only
 * one shows when its parent ends, so the last child of each that is open waits. */

struct node {
    uint32_t row;
    uint32_t children;
    int64_t duration, children_ns;
    int64_t self_device_ns, device_total_ns;
    struct memory_sum bytes, children_bytes;
};

/* One that is open, with the child that waits. */
struct open_node {
    struct node node, child;
};

struct walk {
    const struct trace_study *study;
    const int64_t *owned_ns; /* of each span: the device time that is owed to it */
    const struct memory_sums *sums;
    uint32_t place; /* of the last event of memory before a span */
    struct by_key *rows;
    struct tables *tables;
    struct open_node *open;
    uint32_t depth;
};

static void add_row(struct walk *w, const struct node *node)
{
    const struct trace_study *s = w->study;
    const struct spans *spans = &s->trace->spans;
    struct tables *tables = w->tables;
    uint32_t name = spans->name[node->row];
    int64_t self = i64_minus(node->duration, node->children_ns);
    tables->self_cpu_ns = i64_plus(tables->self_cpu_ns, self);
    if (spans->kind[node->row] == SPAN_PYTHON || (s->names.traits[name] & NAME_UNLISTED) != 0)
        return;
    struct operator_row *r = row_of(w->rows, s, node->row);
    r->calls++;
    r->cpu_total_ns = i64_plus(r->cpu_total_ns, node->duration);
    r->self_cpu_ns = i64_plus(r->self_cpu_ns, self);
    r->device_total_ns = i64_plus(r->device_total_ns, node->device_total_ns);
    r->self_device_ns = i64_plus(r->self_device_ns, node->self_device_ns);
    memory_sum_add(&r->bytes, node->bytes);
    memory_sum_add(&r->self_bytes, memory_sum_without(node->bytes, node->children_bytes));
}

static void begin_node(struct walk *w, uint32_t row)
{
    const struct spans *spans = &w->study->trace->spans;
    int64_t owned = w->owned_ns[row];
    struct node *node = &w->open[w->depth++].node;
    *node = (struct node){ .row = row,
                           .duration = spans->duration[row],
                           .self_device_ns = owned,
                           .device_total_ns = owned };
    if (w->sums->events > 0)
        node->bytes = memory_sums_between(w->sums, &w->place, spans->start[row], span_end(spans, row));
}

static void absorb(struct node *node, const struct node *child)
{
    node->children_ns = child->children_ns;
    node->children_bytes = child->children_bytes;
    node->self_device_ns = child->self_device_ns;
    node->device_total_ns = child->device_total_ns;
}

/* Ends the innermost one that is open: it waits in its parent, or is added at once. */
static void end_node(struct walk *w)
{
    const uint32_t *name = w->study->trace->spans.name;
    struct open_node *ended = &w->open[--w->depth];
    struct node *node = &ended->node, *child = &ended->child;
    if (node->children == 1 && name[child->row] == name[node->row]) {
        absorb(node, child);
        w->tables->merged++;
    } else if (node->children > 0) {
        add_row(w, child);
    }
    if (w->depth == 0) {
        add_row(w, node);
        return;
    }
    struct open_node *around = &w->open[w->depth - 1];
    if (around->node.children++ > 0)
        add_row(w, &around->child);
    around->node.children_ns = i64_plus(around->node.children_ns, node->duration);
    around->node.device_total_ns = i64_plus(around->node.device_total_ns, node->device_total_ns);
    memory_sum_add(&around->node.children_bytes, node->bytes);
    around->child = *node;
}

static void walk_trees(struct walk *w, const struct forest *f)
{
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row];
        while (w->depth > 0 && w->open[w->depth - 1].node.row != parent)
            end_node(w);
        begin_node(w, row);
    }
    while (w->depth > 0)
        end_node(w);
}

/* Device time by the span that it is owed to. */
static int64_t *owned_make(const struct trace_study *s, struct arena *arena)
{
    const struct spans *spans = &s->trace->spans;
    int64_t *ns = arena_array(arena, int64_t, spans->rows.len);
    for (uint32_t row = 0; row < spans->rows.len && ns != NULL; row++) {
        uint32_t owner = s->links.owner[row];
        if (owner != NO_ROW)
            ns[owner] = i64_plus(ns[owner], spans->duration[row]);
    }
    return ns;
}

/* Memory events in no span of the trees, as a row of their own. */
static void add_loose(const struct trace_study *s, const bool *is_host,
                      const struct memory_sums *sums, struct operator_row *ret)
{
    const struct spans *spans = &s->trace->spans;
    const uint32_t *sorted = s->sorted;
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

bool operators_make(const struct trace_study *s, const struct forest *trees,
                    const struct operator_keys *by, struct arena *arena, struct tables *ret)
{
    uint32_t keys = by != NULL ? by->keys : s->trace->strings.rows.len;
    ret->op = arena_array(arena, struct operator_row, (size_t)keys + 1);
    struct arena_mark mark = arena_mark(arena);
    struct by_key b = { by, arena_array(arena, uint32_t, keys), 0, ret };
    struct memory_sums sums;
    bool *is_host = arena_array(arena, bool, s->trace->spans.rows.len);
    struct walk w = { .study = s, .sums = &sums, .rows = &b, .tables = ret };
    w.owned_ns = owned_make(s, arena);
    w.open = arena_array(arena, struct open_node, trees->max_depth);
    if (ret->op == NULL || b.of == NULL || is_host == NULL || w.owned_ns == NULL ||
        w.open == NULL || !memory_sums_make(s->trace, arena, &sums))
        return false;
    for (uint32_t i = 0; i < trees->first[trees->threads]; i++)
        is_host[trees->row[i]] = true;
    add_loose(s, is_host, &sums, &ret->loose);
    walk_trees(&w, trees);
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
