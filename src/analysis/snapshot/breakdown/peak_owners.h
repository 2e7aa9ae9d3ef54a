/* peak_owners.h - whose lines stand under one line of the user's code. */
#ifndef VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_PEAK_OWNERS_H
#define VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_PEAK_OWNERS_H

#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/breakdown/peak.h"
#include "analysis/snapshot/curves/live.h"
#include "base/arena.h"
#include "base/fail.h"

/* The heaviest owners of a row's members, the larger first, and how many there are in all. */
enum vrs_status peak_owners_find(struct naming *naming, const struct live *member, uint32_t members,
                                 struct arena *arena, struct arena *scratch, struct peak_row *row,
                                 struct vrs_error *err) MUST_CHECK;

#endif
