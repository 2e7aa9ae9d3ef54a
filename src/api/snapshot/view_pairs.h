/* view_pairs.h - which devices of a page are compared with which. */
#ifndef VRS_API_SNAPSHOT_VIEW_PAIRS_H
#define VRS_API_SNAPSHOT_VIEW_PAIRS_H

#include <stdint.h>

#include "api/file.h"
#include "base/arena.h"
#include "base/fail.h"
#include "render/page/column.h"
#include "render/page/page.h"
#include "vramscope/snapshot.h"

/* A device of the page that holds memory. */
struct page_unit {
    const struct vrs_recording *recording;
    uint32_t row;          /* of its table devices */
    uint32_t file, device; /* places in the head */
    const struct page_device *shown;
};

enum {
    PAGE_UNITS_ALL = 4, /* of so many every two are paired; of more each with the first */
    PAGE_PAIRS_MOST = 64
};

/* Packs the pairs behind what `chunks` holds; they live in `keep`.  The recordings are proven. */
enum vrs_status view_pairs_make(const struct page_unit *unit, uint32_t units,
                                const struct vrs_view_options *o, struct page_chunks *chunks,
                                struct arena *keep, struct page_pair **ret, uint32_t *ret_count,
                                struct vrs_error *err) MUST_CHECK;

#endif
