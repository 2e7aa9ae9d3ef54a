/* reference_graph.h - objects and their references as adjacency lists, and their strongly connected
 * components. */
#ifndef VRS_ANALYSIS_REFERENCE_GRAPH_H
#define VRS_ANALYSIS_REFERENCE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"

struct reference {
    uint32_t from, to;
};

struct reference_graph {
    uint32_t objects;
    uint32_t *first; /* of each object in `to`; objects + 1 of them */
    uint32_t *to;
    uint32_t *component; /* of each object */
    uint32_t components;
    bool *cyclic; /* of each component: its objects refer to each other, or one to itself */
};

/* Tarjan's algorithm, in time linear in objects and references, without recursion.  The lists live
 * in `keep`. */
enum vrs_status reference_graph_make(uint32_t objects, const struct reference *reference,
                                     uint32_t references, struct arena *keep,
                                     struct reference_graph *ret, struct vrs_error *err) MUST_CHECK;

#endif
