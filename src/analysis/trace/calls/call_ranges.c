/* call_ranges.c - the ranges that hold the beginning of each call, as paths of ranges. */
#include "analysis/trace/calls/call_ranges.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/study/names.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/trace.h"

struct range_keys {
    VEC(struct range_path) at;
    struct idtab index; /* paths plus 1 */
};

static bool range_of(struct range_keys *k, struct range_path wanted, uint32_t *ret)
{
    uint32_t name = wanted.is_step ? 0 : wanted.name; /* a step is like any other */
    uint64_t hash = hash_pair(hash_pair(wanted.parent, name), wanted.is_step);
    if (!idtab_reserve(&k->index))
        return false;
    for (uint32_t at = idtab_first(&k->index, hash); k->index.slot[at].id != 0;
         at = idtab_next(&k->index, hash, at)) {
        *ret = k->index.slot[at].id - 1;
        const struct range_path *there = &k->at.at[*ret];
        if (there->parent == wanted.parent && there->is_step == wanted.is_step &&
            (there->is_step || there->name == wanted.name))
            return true;
    }
    *ret = k->at.len;
    if (!vec_push(&k->at, wanted))
        return false;
    idtab_put(&k->index, hash, *ret + 1);
    return true;
}

/* The path of every range. */
static bool ranges_find(const struct trace_study *s, const struct forest *f, struct range_keys *k,
                        uint32_t *of)
{
    const struct spans *spans = &s->trace->spans;
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row], name = spans->name[row];
        struct range_path wanted = { parent == NO_ROW ? NO_ROW : of[parent], name,
                                     (s->names.traits[name] & NAME_STEP) != 0 };
        if (!range_of(k, wanted, &of[row]))
            return false;
    }
    return true;
}

static int by_path_and_range(const void *a, const void *b)
{
    const struct call_range *x = a, *y = b;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    return x->range < y->range ? -1 : x->range > y->range;
}

/* Rows of one path and one range become one. */
static uint32_t join_equal(struct call_range *row, uint32_t rows)
{
    uint32_t kept = 0;
    qsort(row, rows, sizeof *row, by_path_and_range);
    for (uint32_t i = 0; i < rows; i++) {
        if (kept > 0 && by_path_and_range(&row[kept - 1], &row[i]) == 0) {
            row[kept - 1].calls += row[i].calls;
            row[kept - 1].self_host_ns = i64_plus(row[kept - 1].self_host_ns, row[i].self_host_ns);
        } else {
            row[kept++] = row[i];
        }
    }
    return kept;
}

/* The innermost range that holds the beginning of each call of a thread. */
static void thread_overlay(const struct trace_study *s, const struct forest *ranges,
                           const uint32_t *of, uint32_t thread, struct call_paths *c)
{
    const struct spans *spans = &s->trace->spans;
    const struct forest *f = &c->forest;
    uint32_t next = ranges->first[thread], current = NO_ROW;
    for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
        uint32_t row = f->row[i];
        int64_t moment = spans->start[row];
        while (next < ranges->first[thread + 1] && spans->start[ranges->row[next]] <= moment)
            current = ranges->row[next++];
        while (current != NO_ROW && span_end(spans, current) <= moment)
            current = ranges->parent[current];
        if (current != NO_ROW)
            c->in_range[c->in_ranges++] =
                (struct call_range){ c->of[row], of[current], 1, c->self_ns[row] };
    }
}

static bool overlay_make(const struct trace_study *s, const struct forest *ranges,
                         const uint32_t *of, struct arena *arena, struct call_paths *c)
{
    const struct forest *f = &c->forest;
    uint32_t room = 0;
    for (uint32_t t = 0; t < f->threads; t++)
        if (ranges->first[t] < ranges->first[t + 1])
            room += f->first[t + 1] - f->first[t];
    c->in_range = arena_array(arena, struct call_range, room);
    if (c->in_range == NULL)
        return false;
    for (uint32_t t = 0; t < f->threads; t++)
        if (ranges->first[t] < ranges->first[t + 1])
            thread_overlay(s, ranges, of, t, c);
    c->in_ranges = join_equal(c->in_range, c->in_ranges);
    return true;
}

static bool ranges_keep(const struct range_keys *k, struct arena *arena, struct call_paths *c)
{
    c->range = arena_array(arena, struct range_path, k->at.len);
    c->ranges = k->at.len;
    for (uint32_t i = 0; i < c->ranges && c->range != NULL; i++)
        c->range[i] = k->at.at[i];
    return c->range != NULL;
}

bool call_ranges_make(const struct trace_study *s, struct arena *arena, struct call_paths *ret)
{
    const struct spans *spans = &s->trace->spans;
    struct forest ranges;
    struct range_keys k = { .at.max = UINT32_MAX - 1 };
    uint32_t *track = arena_array(arena, uint32_t, spans->rows.len);
    uint32_t *of = arena_array(arena, uint32_t, spans->rows.len);
    if (track == NULL || of == NULL)
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        track[row] = spans->kind[row] == SPAN_ANNOTATION ? spans->track[row] : NO_ROW;
    bool ok = forest_make(s->trace, s->sorted, track, arena, &ranges) &&
              ranges_find(s, &ranges, &k, of) && ranges_keep(&k, arena, ret) &&
              overlay_make(s, &ranges, of, arena, ret);
    vec_free(&k.at);
    idtab_free(&k.index);
    return ok;
}
