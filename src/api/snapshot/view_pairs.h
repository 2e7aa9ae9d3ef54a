/* view_pairs.h - which devices of a page are compared with which. */
#ifndef VRS_API_SNAPSHOT_VIEW_PAIRS_H
#define VRS_API_SNAPSHOT_VIEW_PAIRS_H

#include "api/result.h"
#include "render/page/view.h"

/* A device of the page that holds memory. */
struct view_unit {
    const struct vrs_recording *recording;
    uint32_t row;          /* of its table devices */
    uint32_t file, device; /* places in the head */
    const struct view_device *shown;
};

enum {
    VIEW_UNITS_ALL = 4, /* of so many every two are paired; of more each with the first */
    VIEW_PAIRS_MOST = 64
};

/* Packs the pairs behind what `blocks` holds; they live in `keep`.  The recordings are proven. */
enum vrs_status view_pairs_make(const struct view_unit *unit, uint32_t units,
                                const struct vrs_view_options *o, struct view_blocks *blocks,
                                struct arena *keep, struct view_pair **ret, uint32_t *ret_count,
                                struct vrs_error *err) MUST_CHECK;

#endif
