/* paint.h - a picture of ids turned into pixels, as viewer/ui/draw/paint.js and views/map.js do. */
#ifndef VRS_RENDER_PICTURE_PAINT_H
#define VRS_RENDER_PICTURE_PAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/picture/palette.h"
#include "render/picture/scene.h"

/* Where pixels go: 0xRRGGBB, `stride` of them in a row. */
struct pixels {
    uint32_t *at;
    size_t stride;
    uint32_t W, H;
};

/* Paints the bands; a pixel without one stays as it is.  `groups`: ids are groups, not rows.  The
 * top row of a band eight or more rows high is paler: that edge separates neighbours. */
void paint_bands(const struct pixels *to, const int32_t *ids, bool groups,
                 const struct scene_device *d, const struct palette *palette);

struct map_picture;
/* Each pixel is shaded by the fraction of its bytes in use, never by a majority. */
void paint_map(const struct pixels *to, const struct map_picture *map, const struct scene_device *d,
               const struct palette *palette);

#endif
