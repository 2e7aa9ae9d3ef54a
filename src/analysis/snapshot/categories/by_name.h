/* by_name.h - categories that the recorded process itself said, and what follows from them. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_BY_NAME_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_BY_NAME_H

#include <stdint.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/recording.h"

/* How a category is known. */
enum by_name {
    BY_NAME_NOT,  /* not by a name */
    BY_NAME_SAID, /* measured: memory in use at the end that is named so */
    BY_NAME_LIKE, /* freed before, and of the site and size of such memory */
    BY_NAMES
};

/* The rules of the two, as answers show them. */
extern const char *const by_name_rules[BY_NAMES];

/* Of each allocation. */
struct named_categories {
    uint8_t *how; /* enum by_name; NULL: nothing is named */
    uint8_t *of;  /* enum category */
};

/* In `scratch`; plain tensors have no category by their name. */
enum vrs_status named_categories_find(const struct recording *r, const struct lifetimes *lifetimes,
                                      int64_t events, struct arena *scratch,
                                      struct named_categories *ret,
                                      struct vrs_error *err) MUST_CHECK;

#endif
