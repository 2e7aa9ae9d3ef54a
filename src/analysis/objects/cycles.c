/* cycles.c - a search in breadth from each component that is a cycle. */
#include "analysis/objects/cycles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/objects/storages.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

struct walk {
    const struct garbage_object *object;
    struct reference_graph graph;
    uint32_t *storage; /* of each tensor, the first one on its storage */
    uint32_t *counted; /* of that one, the search that counted it; see `seen` */
    uint32_t *seen;    /* of each object, the number of the last search that met it */
    uint32_t *before;  /* where that search came from */
    uint32_t *queue;
    uint32_t searches;
    uint32_t *member, *first_member; /* objects by component */
    struct arena *keep;
};

/* Begins a search; `queued` objects are in the queue. */
static uint32_t begin(struct walk *w)
{
    return ++w->searches;
}

static void meet(struct walk *w, uint32_t object, uint32_t from, uint32_t *queued)
{
    w->seen[object] = w->searches;
    w->before[object] = from;
    w->queue[(*queued)++] = object;
}

/* The types from where the search began to an object; false: no memory. */
static bool take_way(struct walk *w, uint32_t to, uint32_t more, str **ret, uint32_t *ret_count)
{
    uint32_t count = 1;
    for (uint32_t i = to; w->before[i] != i; i = w->before[i])
        count++;
    str *way = arena_array(w->keep, str, (size_t)count + more);
    if (way == NULL)
        return false;
    uint32_t at = count;
    for (uint32_t i = to;; i = w->before[i]) {
        way[--at] = w->object[i].type;
        if (w->before[i] == i)
            break;
    }
    *ret = way;
    *ret_count = count + more;
    return true;
}

/* The shortest way from an object back to itself, inside its component. */
static bool find_loop(struct walk *w, uint32_t object, struct cycle_row *row)
{
    const struct reference_graph *g = &w->graph;
    uint32_t queued = 0;
    begin(w);
    meet(w, object, object, &queued);
    for (uint32_t next = 0; next < queued; next++) {
        uint32_t from = w->queue[next];
        for (uint32_t i = g->first[from]; i < g->first[from + 1]; i++) {
            uint32_t to = g->to[i];
            if (to == object) {
                if (!take_way(w, from, 1, &row->loop, &row->loops))
                    return false;
                row->loop[row->loops - 1] = w->object[object].type;
                return true;
            }
            if (w->seen[to] != w->searches && g->component[to] == g->component[object])
                meet(w, to, from, &queued);
        }
    }
    return true;
}

/* Counts a tensor that a search met; says which is the largest. */
static void count_tensor(struct walk *w, uint32_t object, struct cycle_row *row, uint32_t *largest)
{
    const struct garbage_object *o = &w->object[object];
    uint32_t first = w->storage[object];
    row->tensors++;
    if (w->counted[first] != w->searches)
        row->bytes += o->bytes;
    w->counted[first] = w->searches;
    if (*largest == UINT32_MAX || o->bytes > w->object[*largest].bytes)
        *largest = object;
}

/* What a component holds; false: no memory. */
static bool search_component(struct walk *w, uint32_t component, uint64_t least_bytes,
                             struct cycle_row *row)
{
    const struct reference_graph *g = &w->graph;
    uint32_t queued = 0, largest = UINT32_MAX;
    begin(w);
    for (uint32_t i = w->first_member[component]; i < w->first_member[component + 1]; i++)
        meet(w, w->member[i], w->member[i], &queued);
    *row = (struct cycle_row){ .objects = queued };
    for (uint32_t next = 0; next < queued; next++) {
        uint32_t from = w->queue[next];
        if (w->object[from].tensor)
            count_tensor(w, from, row, &largest);
        for (uint32_t i = g->first[from]; i < g->first[from + 1]; i++) {
            uint32_t to = g->to[i];
            bool another = g->component[to] != component && g->cyclic[g->component[to]];
            if (w->seen[to] != w->searches && !another)
                meet(w, to, from, &queued);
        }
    }
    if (largest == UINT32_MAX || row->bytes < least_bytes)
        return true;
    uint32_t root = largest;
    while (w->before[root] != root)
        root = w->before[root];
    return take_way(w, largest, 0, &row->way, &row->ways) && find_loop(w, root, row);
}

/* Members of each component, by counting. */
static bool sort_members(struct walk *w)
{
    const struct reference_graph *g = &w->graph;
    w->first_member = arena_array(w->keep, uint32_t, (size_t)g->components + 1);
    w->member = arena_array(w->keep, uint32_t, g->objects);
    if (w->first_member == NULL || w->member == NULL)
        return false;
    for (uint32_t i = 0; i < g->objects; i++)
        w->first_member[g->component[i]]++;
    for (uint32_t i = 0; i < g->components; i++)
        w->first_member[i + 1] += w->first_member[i];
    for (uint32_t i = g->objects; i-- > 0;)
        w->member[--w->first_member[g->component[i]]] = i;
    return true;
}

static enum vrs_status prepare(struct walk *w, struct vrs_error *err)
{
    uint32_t objects = w->graph.objects;
    struct tensor_place *place = arena_array(w->keep, struct tensor_place, objects);
    w->storage = arena_array(w->keep, uint32_t, objects);
    w->counted = arena_array(w->keep, uint32_t, objects);
    w->seen = arena_array(w->keep, uint32_t, objects);
    w->before = arena_array(w->keep, uint32_t, objects);
    w->queue = arena_array(w->keep, uint32_t, objects);
    if (place == NULL || w->storage == NULL || w->counted == NULL || w->seen == NULL ||
        w->before == NULL || w->queue == NULL || !sort_members(w))
        return vrs_no_memory(err);
    /* What is no tensor stands on nothing that another one does. */
    for (uint32_t i = 0; i < objects; i++)
        place[i] = w->object[i].tensor ? (struct tensor_place){ .storage = w->object[i].storage }
                                       : (struct tensor_place){ .storage = i, .bytes = 1 };
    return storages_find(place, objects, w->storage, err);
}

static int by_bytes(const void *a, const void *b)
{
    const struct cycle_row *left = a, *right = b;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? 1 : -1;
    return left->objects < right->objects ? -1 : left->objects > right->objects;
}

enum vrs_status cycles_compute(const struct garbage_object *object, uint32_t objects,
                               const struct reference *reference, uint32_t references,
                               uint64_t least_bytes, struct arena *keep, struct cycles *ret,
                               struct vrs_error *err)
{
    struct walk w = { .object = object, .keep = keep };
    struct cycles cycles = { 0 };
    TRY(reference_graph_make(objects, reference, references, keep, &w.graph, err));
    TRY(prepare(&w, err));
    cycles.row = arena_array(keep, struct cycle_row, w.graph.components);
    if (cycles.row == NULL)
        return vrs_no_memory(err);
    for (uint32_t c = 0; c < w.graph.components; c++) {
        struct cycle_row *row = &cycles.row[cycles.rows];
        if (!w.graph.cyclic[c])
            continue;
        if (!search_component(&w, c, least_bytes, row))
            return vrs_no_memory(err);
        if (row->ways == 0)
            continue;
        cycles.bytes += row->bytes;
        cycles.rows++;
    }
    if (cycles.rows > 0)
        qsort(cycles.row, cycles.rows, sizeof *cycles.row, by_bytes);
    *ret = cycles;
    return VRS_OK;
}
