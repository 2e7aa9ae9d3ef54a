/* site_table.h - the places in the program that a device's allocations come from, numbered. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_SITE_TABLE_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_SITE_TABLE_H

#include <stdint.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"

/* Sites in the order in which the device's allocations first name them.  What has no stack, or
 * nothing left of it under the key, is a site for each size. */
struct site_table {
    uint32_t *of;   /* of each allocation of the device */
    uint32_t *lead; /* of each site: its largest, then earliest allocation */
    uint32_t sites;
};

/* In the study's scratch. */
enum vrs_status site_table_make(const struct study *s, enum site_key key, struct site_table *ret,
                                struct vrs_error *err) MUST_CHECK;

/* The site as answers show it, by its lead. */
enum vrs_status site_table_show(const struct study *s, const struct site_table *t, uint32_t site,
                                struct site_ref *ret, struct vrs_error *err) MUST_CHECK;

#endif
