/* picture_layout.h - what stands where in a picture of a recording: title, plots, axes, legend. */
#ifndef VRS_RENDER_PICTURE_PICTURE_LAYOUT_H
#define VRS_RENDER_PICTURE_PICTURE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "render/picture/pen.h"
#include "render/picture/scene.h"
#include "render/write/out.h"

struct picture_size {
    uint32_t W, H;
};

/* Where a plot stands in the picture, and what its sides mean. */
struct picture_plot {
    struct pen_box box;
    double from, to; /* states */
    double y0, y1;   /* bytes */
};

/* The size that such a scene gets when none is asked for. */
struct picture_size picture_usual_size(const struct scene *scene);

/* Pixels of a unit: large pictures have large letters. */
int32_t picture_unit(const struct scene *scene, struct picture_size size);

/* VRS_USAGE where so many devices do not fit, VRS_UNSUPPORTED where there is nothing to draw. */
enum vrs_status picture_check(const struct scene *scene, struct picture_size size,
                              struct vrs_error *err) MUST_CHECK;

/* Draws all of it.  `plots` has one element for each device, and is filled. */
enum vrs_status picture_draw(const struct scene *scene, struct picture_size size, struct pen *pen,
                             struct picture_plot *plots, struct vrs_error *err) MUST_CHECK;

/* One sentence: what the picture shows, for those who do not see it. */
void picture_describe(struct buf *to, const struct scene *scene);

/* "run.pickle: memory in use" */
void picture_title(struct buf *to, const struct scene *scene);

/* The two formats. */
struct picture_options {
    struct picture_size size; /* W 0: the usual one */
    bool dark;
    bool detail; /* of an SVG: every allocation, as pixels, instead of the groups' areas */
};
enum vrs_status picture_png(struct out *out, const struct scene *scene,
                            const struct picture_options *options,
                            struct vrs_error *err) MUST_CHECK;
enum vrs_status picture_svg(struct out *out, const struct scene *scene,
                            const struct picture_options *options,
                            struct vrs_error *err) MUST_CHECK;

#endif
