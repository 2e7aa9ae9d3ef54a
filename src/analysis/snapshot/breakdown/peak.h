/* peak.h - the allocations alive at one event, in groups (by line, site, category, size, …).
 *
 * What has neither a stack nor a category is "(no stack)" (peak_keys.h), with its sizes. */
#ifndef VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_PEAK_H
#define VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_PEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/attribution/naming.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/study/held_names.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"

enum { PEAK_SIZES = 8, PEAK_OWNERS = 5 };

/* What a row holds by the lines of one owner. */
struct peak_owner {
    str name;
    uint64_t bytes, count;
};

struct peak_row {
    str name;   /* the row's value in the chosen grouping, as printed */
    bool named; /* by name or path: the recorded process said it, it is no word of ours */
    uint64_t bytes;
    uint64_t count;
    double share_ratio; /* of the live set */
    uint64_t largest_bytes;
    int64_t oldest_event;           /* -1: older than the recording */
    double median_age_events;       /* of the traced allocations; negative: none is traced */
    uint64_t slack_bytes;           /* of blocks beyond requests; UNKNOWN_U64: of some not known */
    str culprit, owner;             /* ptr NULL where the row's allocations differ */
    str category, confidence, rule; /* the same; also where they were not asked for */
    stack_id stack; /* that with most of the row's bytes, then of the earliest allocation */
    uint64_t stack_bytes;
    uint32_t distinct_stacks;
    /* Of memory that has neither a stack nor a category: its sizes, the heaviest in all first. */
    struct size_count *size;
    uint32_t sizes, distinct_sizes;
    /* Of a culprit that hides several: its owners, the heaviest first. */
    struct peak_owner *owner_rows;
    uint32_t owners, distinct_owners;
    struct held_names names; /* of what has one */
};

struct peak {
    enum peak_by by;
    enum site_key key;
    int64_t at_event;
    int64_t total_bytes;  /* the requested curve there */
    int64_t adjust_bytes; /* total less the live set */
    uint64_t live_bytes, live_count;
    struct held_names names;
    struct peak_row *row; /* larger bytes first, then lower event, then name */
    uint32_t rows;
};

struct peak_options {
    enum peak_by by;
    enum site_key key;
    int64_t at_event;
    /* Of the device; NULL: rows have none, and memory without a stack is not split. */
    const struct categories *categories;
    /* Of the recording; NULL: no row has its slack. */
    const struct block_sizes *sizes;
};

/* Groups the live set after event `at_event`; everything in `*ret` lives in `arena`. */
enum vrs_status peak_compute(const struct recording *r, uint32_t device,
                             const struct peak_options *options, struct naming *naming,
                             struct arena *arena, struct peak *ret,
                             struct vrs_error *err) MUST_CHECK;

#endif
