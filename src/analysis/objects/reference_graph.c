/* reference_graph.c - counting sort of the references, then one search in depth. */
#include "analysis/objects/reference_graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"

/* A search in depth: objects on the way, and those whose component is still open. */
struct search {
    struct reference_graph *graph;
    uint32_t *order; /* in which objects were met, plus 1; 0: not yet */
    uint32_t *low;   /* the earliest open one that an object reaches */
    uint32_t *next;  /* the reference to follow */
    bool *open;
    uint32_t *way, ways;
    uint32_t *stack, stacked;
    uint32_t met;
};

static void enter(struct search *s, uint32_t object)
{
    s->order[object] = s->low[object] = ++s->met;
    s->next[object] = s->graph->first[object];
    s->open[object] = true;
    s->way[s->ways++] = object;
    s->stack[s->stacked++] = object;
}

/* The objects behind `object` on the stack are its component. */
static void close_component(struct search *s, uint32_t object)
{
    struct reference_graph *g = s->graph;
    uint32_t closed, count = 0;
    do {
        closed = s->stack[--s->stacked];
        s->open[closed] = false;
        g->component[closed] = g->components;
        count++;
    } while (closed != object);
    g->cyclic[g->components] = count > 1;
    for (uint32_t i = g->first[object]; i < g->first[object + 1]; i++)
        if (g->to[i] == object)
            g->cyclic[g->components] = true;
    g->components++;
}

/* One step from the last object on the way. */
static void step(struct search *s)
{
    uint32_t object = s->way[s->ways - 1];
    if (s->next[object] < s->graph->first[object + 1]) {
        uint32_t to = s->graph->to[s->next[object]++];
        if (s->order[to] == 0)
            enter(s, to);
        else if (s->open[to] && s->order[to] < s->low[object])
            s->low[object] = s->order[to];
        return;
    }
    s->ways--;
    if (s->low[object] == s->order[object])
        close_component(s, object);
    if (s->ways > 0 && s->low[object] < s->low[s->way[s->ways - 1]])
        s->low[s->way[s->ways - 1]] = s->low[object];
}

static enum vrs_status find_components(struct reference_graph *g, struct arena *keep,
                                       struct vrs_error *err)
{
    struct search s = { .graph = g };
    s.order = arena_array(keep, uint32_t, g->objects);
    s.low = arena_array(keep, uint32_t, g->objects);
    s.next = arena_array(keep, uint32_t, g->objects);
    s.open = arena_array(keep, bool, g->objects);
    s.way = arena_array(keep, uint32_t, g->objects);
    s.stack = arena_array(keep, uint32_t, g->objects);
    if (s.order == NULL || s.low == NULL || s.next == NULL || s.open == NULL || s.way == NULL ||
        s.stack == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < g->objects; i++) {
        if (s.order[i] == 0)
            enter(&s, i);
        while (s.ways > 0)
            step(&s);
    }
    return VRS_OK;
}

enum vrs_status reference_graph_make(uint32_t objects, const struct reference *reference,
                                     uint32_t references, struct arena *keep,
                                     struct reference_graph *ret, struct vrs_error *err)
{
    struct reference_graph g = { .objects = objects };
    g.first = arena_array(keep, uint32_t, (size_t)objects + 1);
    g.to = arena_array(keep, uint32_t, references);
    g.component = arena_array(keep, uint32_t, objects);
    g.cyclic = arena_array(keep, bool, objects);
    if (g.first == NULL || g.to == NULL || g.component == NULL || g.cyclic == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < references; i++)
        g.first[reference[i].from]++;
    for (uint32_t i = 0; i < objects; i++)
        g.first[i + 1] += g.first[i];
    /* From the last to the first, so that each list ends where it began. */
    for (uint32_t i = references; i-- > 0;)
        g.to[--g.first[reference[i].from]] = reference[i].to;
    TRY(find_components(&g, keep, err));
    *ret = g;
    return VRS_OK;
}
