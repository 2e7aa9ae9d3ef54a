/* chart.h - measurements drawn as SVG: lines, points, bars of groups, a histogram, a heat map.
 *
 * What is drawn is read during the call alone.  Texts are UTF-8 and may be anybody's: they are
 * escaped.  A value that is NaN is not known: a line has a gap there, and no mean has it in.
 * Errors and options are as in vramscope.h. */
#ifndef VRAMSCOPE_CHART_H
#define VRAMSCOPE_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

enum vrs_chart_kind {
    VRS_CHART_LINES,     /* y over x, which begins at 0 with the smallest of all series */
    VRS_CHART_POINTS,    /* y at x */
    VRS_CHART_BARS,      /* one value for each group, the largest first */
    VRS_CHART_HISTOGRAM, /* how often y of the first series is how large */
    VRS_CHART_HEAT       /* a row for each group, a column for each series */
};

enum vrs_chart_unit { VRS_CHART_COUNT, VRS_CHART_BYTES, VRS_CHART_SECONDS };

struct vrs_chart_series {
    const char *name;
    enum vrs_chart_unit unit; /* of a column of a heat map */
    bool most;                /* a group's value is the largest of it, else the mean */
    bool filled;              /* the area below a line */
    size_t count;
    const double *x, *y;      /* x of lines and points alone */
    const uint32_t *group;    /* of each y of bars and heat maps: below `groups` */
    const char *const *label; /* of each point; NULL: none */
};

/* A place that is pointed out on lines and points; y NaN: all that is at x. */
struct vrs_chart_mark {
    double x, y;
    const char *label;
};

struct vrs_chart {
    size_t size;
    enum vrs_chart_kind kind;
    const char *title, *x_label, *y_label;
    enum vrs_chart_unit x_unit, y_unit;
    uint32_t width, height; /* pixels, 240 to 4,000; height 0: what it needs */
    const char *const *group;
    size_t groups;
    const struct vrs_chart_series *one;
    size_t series;
    const struct vrs_chart_mark *mark;
    size_t marks;
};

/* Writes it as one element `svg`, without scripts and without anything from elsewhere. */
VRS_API enum vrs_status vrs_chart_svg(const struct vrs_chart *chart, const struct vrs_sink *sink,
                                      struct vrs_error *err);

#ifdef __cplusplus
}
#endif
#endif
