/* leak_places.h - what is alive at moments, by the place that made it.
 *
 * A place is a line of the program, or its function where too few moments see the line; scalars of
 * it are a place of their own, since a loss that is kept stands where what it keeps is made. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_PLACES_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_PLACES_H

#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/leaks/leak_moments.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/radix_sort.h"

/* A number of at most so many bytes is a scalar. */
enum { LEAK_SCALAR_BYTES = 8 };

/* Stays of one place: [first, first + count) of them all. */
struct leak_place {
    uint64_t end_bytes, largest_bytes; /* alive at the last moment; of one allocation */
    uint32_t first, count;
};

/* `stay` has each allocation that is alive at some moment: its row of lifetimes as `id`, the first
 * and the last moment; those of a place together, in the order of their first moment. */
struct leak_places {
    struct radix_row *stay;
    uint32_t stays;
    struct leak_place *place;       /* most bytes at the last moment first */
    uint32_t places, folded;        /* smaller ones are left out */
    int64_t first_step[CATEGORIES]; /* what moment 1 has more than moment 0 */
    int64_t first_step_bytes;
};

/* In the study's scratch. */
enum vrs_status leak_places_find(const struct study *s, const struct leak_moments *moments,
                                 struct leak_places *ret, struct vrs_error *err) MUST_CHECK;

#endif
