/* lists.h - whole parameter lists that no rule knows: weights made by hand, a moving average.
 *
 * What one line of the user's makes and keeps, as often of each size as the parameters are, is a
 * list of them.  Where the parameters are known it is a copy, else it is the parameters. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_LISTS_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"

struct lists_input {
    const struct lifetimes *lifetimes;
    struct naming *naming;
    int64_t events;
    const uint8_t *category;           /* of each, so far; enum category */
    const struct size_count *multiset; /* of the gradients, ascending */
    uint32_t sizes;
};

/* The category that a list gives to each; CATEGORY_UNKNOWN: none.  *ret_any: some have one. */
enum vrs_status lists_find(const struct lists_input *in, struct arena *scratch, uint8_t **ret,
                           bool *ret_any, struct vrs_error *err) MUST_CHECK;

#endif
