/* address_map.h - where allocations lie, over time: what viewer/core/memory/address.js makes, in C.
 *
 * A lane is a compressed address in units of 512 bytes: gaps that were never mapped are taken out.
 * Rows of the map are stretches of lanes that belong together, end to end. */
#ifndef VRS_RENDER_PICTURE_ADDRESS_MAP_H
#define VRS_RENDER_PICTURE_ADDRESS_MAP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"

/* What the centre of a pixel is. */
enum map_place {
    PLACE_UNMAPPED,
    PLACE_USED,
    PLACE_PENDING,
    PLACE_RETURNABLE,
    PLACE_STRANDED,
    PLACE_HELD,  /* free, of a private pool */
    PLACE_SLACK, /* of a block, beyond its request */
};

struct map_row {
    uint32_t lane;
    uint64_t lanes;
    double top, bytes; /* of the rows above it, and its own */
};

struct map_rows {
    struct map_row *at;
    uint32_t rows;
    uint32_t *row_of;   /* of each range; NO_ROW: its address is not known */
    uint32_t *range_of; /* of each allocation; NO_ROW likewise */
    double bytes;       /* of all rows */
};

/* In `arena`. */
enum vrs_status map_rows_make(const struct scene_device *d, struct arena *arena,
                              struct map_rows *ret, struct vrs_error *err) MUST_CHECK;

struct map_picture {
    int32_t *ids;         /* the allocation over each pixel's centre; RASTER_NONE */
    uint8_t *places;      /* enum map_place */
    float *used, *mapped; /* fractions of its bytes */
};

/* y0 and y1 of the view are bytes of the rows end to end, pixel row 0 on top; in `arena`. */
enum vrs_status map_picture_make(const struct scene_device *d, const struct map_rows *rows,
                                 const struct raster_view *view, struct arena *arena,
                                 struct map_picture *ret, struct vrs_error *err) MUST_CHECK;

#endif
