/* chart_frame.h - what all charts share: texts, colours, values as words, axes around a plot. */
#ifndef VRS_RENDER_PROFILER_CHART_FRAME_H
#define VRS_RENDER_PROFILER_CHART_FRAME_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/profiler/chart.h"
#include "render/profiler/chart_numbers.h"

enum chart_anchor { CHART_START, CHART_MIDDLE, CHART_END };

/* Colours of series, which differ in their dashes too where there are more of them. */
enum { CHART_COLOURS = 8, CHART_DASHES = 4 };
extern const static_text chart_colours[CHART_COLOURS], chart_dashes[CHART_DASHES];
#define CHART_INK "#1b2530"
#define CHART_FAINT "#d8dee6"
#define CHART_MARKED "#b00020"

/* Where a plot stands, in pixels, and what its sides mean. */
struct chart_frame {
    struct buf *to;
    const struct chart *chart;
    struct arena *scratch;
    double left, top, right, bottom;
    struct chart_range x, y;
};

/* Pixels of a value; outside the range they lie outside the plot. */
double chart_px(const struct chart_frame *f, double x);
double chart_py(const struct chart_frame *f, double y);

/* Letters are about so wide; rows of bars and of a heat map so high, and the heads of its columns.
 */
enum { CHART_LETTER = 7, CHART_ROW = 26, CHART_HEAD = 20 };

/* ` name="12.5"` */
void chart_number(struct buf *to, const char *name, double value);
/* A foreign text that is cut where it is wider than so many letters. */
void chart_cut(struct buf *to, str text, size_t letters);
/* An element `text`; `more` are further attributes, which may be "". */
void chart_label(struct buf *to, double x, double y, enum chart_anchor anchor, const char *more,
                 str text, size_t letters);
/* "1.00 GiB", "850 us", "3" */
void chart_value(struct buf *to, double value, enum chart_unit unit);

/* Ticks, the lines across the plot, and both labels. */
void chart_axes(const struct chart_frame *f);

/* chart_plots.c, chart_rows.c: what stands inside the frame. */
enum vrs_status chart_lines(struct chart_frame *f, struct vrs_error *err) MUST_CHECK;
enum vrs_status chart_points(struct chart_frame *f, struct vrs_error *err) MUST_CHECK;
enum vrs_status chart_histogram(struct chart_frame *f, struct vrs_error *err) MUST_CHECK;
enum vrs_status chart_bars(struct chart_frame *f, struct vrs_error *err) MUST_CHECK;
enum vrs_status chart_heat(struct chart_frame *f, struct vrs_error *err) MUST_CHECK;

#endif
