/* waste_parts.h - the parts of waste.h, each in a file of its own. */
#ifndef VRS_ANALYSIS_SNAPSHOT_ADVISE_WASTE_PARTS_H
#define VRS_ANALYSIS_SNAPSHOT_ADVISE_WASTE_PARTS_H

#include <stdint.h>

#include "analysis/snapshot/advise/waste.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"

/* What the parts work with. */
struct wasting {
    const struct proven_study *proven;
    const struct study *s;   /* its study */
    struct site_table sites; /* K1 */
    int64_t peak_event;      /* of the requested curve */
    uint64_t peak_bytes;
    uint64_t floor_bytes; /* 1 % of the peak: what is less is not worth a line */
    struct waste *w;
    struct vrs_error *err;
};

enum vrs_status waste_find_churn(struct wasting *g) MUST_CHECK;
enum vrs_status waste_find_long(struct wasting *g) MUST_CHECK;
enum vrs_status waste_find_held(struct wasting *g) MUST_CHECK;

/* Bytes, or whatever a row is ranked by, of each site. */
struct site_sum {
    uint32_t site;
    uint64_t sum, count, other;
};

/* Sorts larger sums first, then lower sites; drops those of 0; their number. */
uint32_t site_sums_rank(struct site_sum *sum, uint32_t sites);

#endif
