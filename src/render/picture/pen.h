/* pen.h - the drawing interface of a picture's layout: one pen for pixels, one for SVG.
 *
 * Lengths are in pixels of the picture, y downwards; text stands on its line at y.  Text given to a
 * pen is valid UTF-8 without control characters; the pen escapes what its format needs. */
#ifndef VRS_RENDER_PICTURE_PEN_H
#define VRS_RENDER_PICTURE_PEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/picture/palette.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"

struct pen_box {
    int32_t x, y, w, h;
};

enum pen_anchor { ANCHOR_LEFT, ANCHOR_MIDDLE, ANCHOR_RIGHT };
enum pen_dash { DASH_NONE, DASH_DOTS, DASH_SHORT, DASH_LONG };

struct pen_text {
    int32_t x, y;
    enum pen_anchor anchor;
    uint32_t colour;
    bool bold, upwards; /* upwards: the line runs from bottom to top */
    bool halo;          /* of the ground, so that it reads over a picture */
};

/* Values of columns in a box, as a line of steps. */
struct pen_curve {
    struct pen_box box;
    const double *value; /* box.w of them, one for each pixel column */
    double y0, y1;
    uint32_t colour;
    enum pen_dash dash;
    bool strong;
};

/* The picture itself. */
struct pen_bands {
    struct pen_box box;
    const struct scene *scene;
    const struct scene_device *device;
    struct raster_view view;
    const struct raster_picture *picture; /* its ids */
    bool groups;                          /* ids are groups */
    const double *parts;                  /* sums of the groups that are shown, in each column */
    const struct map_picture *map;        /* instead */
};

struct pen {
    const struct palette *palette;
    int32_t unit;    /* pixels of what is one at the usual size */
    int32_t advance; /* of a letter, about */
    bool areas;      /* groups are areas, in which the rest is one */
    void (*fill)(struct pen *pen, struct pen_box box, uint32_t colour);
    void (*hatch)(struct pen *pen, struct pen_box box);
    void (*line)(struct pen *pen, int32_t x1, int32_t y1, int32_t x2, int32_t y2, uint32_t colour,
                 enum pen_dash dash);
    void (*curve)(struct pen *pen, const struct pen_curve *curve);
    void (*bars)(struct pen *pen, const struct pen_curve *bars);          /* filled, from y0 on */
    void (*flag)(struct pen *pen, int32_t x, int32_t y, uint32_t colour); /* its tip */
    void (*text)(struct pen *pen, const struct pen_text *how, str text);
    void (*swatch)(struct pen *pen, struct pen_box box, const struct scene_group *group);
    enum vrs_status (*bands)(struct pen *pen, const struct pen_bands *bands, struct vrs_error *err);
    struct arena *arena;
    bool failed; /* some text had no memory */
};

#endif
