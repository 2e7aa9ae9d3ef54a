/* cycles.h - reference cycles among garbage, and the tensors that they kept alive. */
#ifndef VRS_ANALYSIS_CYCLES_H
#define VRS_ANALYSIS_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/objects/reference_graph.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

struct garbage_object {
    str type;
    bool tensor;
    uint64_t storage, bytes; /* of a tensor */
};

/* Objects that refer to each other, with the tensors that they reach without another cycle in
 * between. */
struct cycle_row {
    uint64_t bytes; /* each storage once */
    uint32_t tensors, objects;
    str *loop; /* types along the shortest cycle through the first of `way`, which ends it too */
    uint32_t loops;
    str *way; /* types from an object of the cycle to the largest tensor */
    uint32_t ways;
};

struct cycles {
    uint64_t bytes;
    struct cycle_row *row; /* the one that holds most first */
    uint32_t rows;
};
extern const struct row_type cycles_row_type;
extern const struct row_type cycle_row_type;

/* Cycles that hold tensors of `least_bytes` at least. */
enum vrs_status cycles_compute(const struct garbage_object *object, uint32_t objects,
                               const struct reference *reference, uint32_t references,
                               uint64_t least_bytes, struct arena *keep, struct cycles *ret,
                               struct vrs_error *err) MUST_CHECK;

#endif
