/* picture_parts.h - the parts of a picture's layout: one plot, its axes, its legend. */
#ifndef VRS_RENDER_PICTURE_PICTURE_PARTS_H
#define VRS_RENDER_PICTURE_PICTURE_PARTS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/picture/address_map.h"
#include "render/picture/palette.h"
#include "render/picture/pen.h"
#include "render/picture/picture_layout.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"

/* What the parts share. */
struct text_context {
    const struct scene *scene;
    struct pen *pen;
    const struct palette *palette;
    int32_t u; /* pixels of one unit */
    struct vrs_error *err;
};

enum { CHURN_HEIGHT = 24 }; /* in units */

/* One device on the sheet. */
struct panel {
    const struct scene_device *d;
    struct picture_plot *plot;
    struct pen_box legend; /* w 0: none */
    int32_t axis_x;        /* where the axis of bytes ends */
    int32_t churn_y;       /* of the strip of what was allocated; 0: none */
    int32_t steps_y;       /* of the band of steps; 0: none */
    int32_t phases_y;      /* of that of phases; 0: none */
    int32_t axis_y;        /* of the axis of events; 0: none */
    struct raster_view view;
    const double *parts;  /* of groups in the columns; NULL on a map */
    const double *at;     /* bytes of each group at the cursor */
    struct map_rows rows; /* of a map */
};

/* Frees a text that was drawn; that it failed is a failure of the picture. */
void end_text(const struct text_context *s, struct buf *text);

/* Text that begins at, ends at, or surrounds a place. */
void put_how(const struct text_context *s, const struct pen_text *how, str text);

/* The same of foreign text and words: what does not fit into `width` is left out, with a mark. */
void put_fitting(const struct text_context *s, const struct pen_text *how, str text, int32_t width);

int32_t text_width(const struct text_context *s, str text);

/* Pixels of a state's middle, and of bytes. */
int32_t place_x(const struct picture_plot *plot, double state);
int32_t place_y(const struct picture_plot *plot, double bytes);

void draw_axes(const struct text_context *s, const struct panel *p);
void draw_steps(const struct text_context *s, const struct panel *p);
void draw_phases(const struct text_context *s, const struct panel *p);
enum vrs_status draw_churn(const struct text_context *s, const struct panel *p) MUST_CHECK;
enum vrs_status draw_legend(const struct text_context *s, const struct panel *p) MUST_CHECK;
enum vrs_status draw_names(const struct text_context *s, const struct panel *p) MUST_CHECK;

/* "event 48120", "the start" */
void put_state_name(struct buf *to, uint32_t state);

/* `bytes` as people read them. */
void put_bytes(struct buf *to, double bytes);

#endif
