/* chart.h - measurements drawn as SVG: lines, points, bars of groups, a histogram, a heat map.
 *
 * Texts may be any bytes; they are escaped where they are drawn.  A value that is NaN is not known:
 * a line has a gap there, and no sum has it in. */
#ifndef VRS_RENDER_PROFILER_CHART_H
#define VRS_RENDER_PROFILER_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

enum chart_kind {
    CHART_LINES,     /* y over x, which begins at 0 with the smallest of all series */
    CHART_POINTS,    /* y at x */
    CHART_BARS,      /* one value for each group, the largest first */
    CHART_HISTOGRAM, /* how often y is how large */
    CHART_HEAT,      /* a row for each group, a column for each series */
    CHART_KINDS
};

enum chart_unit { CHART_COUNT, CHART_BYTES, CHART_SECONDS, CHART_UNITS };

struct chart_axis {
    str label;
    enum chart_unit unit;
};

struct chart_series {
    str name;
    enum chart_unit unit; /* of a heat map's column */
    bool most;            /* the value of a group is the largest of it, else the mean */
    bool filled;          /* the area below a line */
    uint32_t count;
    const double *x, *y;   /* x NULL: there is none */
    const uint32_t *group; /* of each y, below the chart's groups; NULL: there are none */
    const str *label;      /* of each point; NULL: none */
};

/* A place that is pointed out; y NaN: all that is at x. */
struct chart_mark {
    double x, y;
    str label;
};

struct chart {
    enum chart_kind kind;
    str title;
    struct chart_axis x, y;
    uint32_t width, height; /* height 0: as many rows as there are groups, else the usual one */
    const str *group;
    uint32_t groups;
    const struct chart_series *one;
    uint32_t series;
    const struct chart_mark *mark;
    uint32_t marks;
};

/* Appends all of it as one element `svg`: no script, nothing from elsewhere. */
enum vrs_status chart_svg(struct buf *to, const struct chart *chart, struct arena *scratch,
                          struct vrs_error *err) MUST_CHECK;

#endif
