/* chart_plots.c - charts with two axes of numbers: lines, points, a histogram. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "render/profiler/chart.h"
#include "render/profiler/chart_frame.h"
#include "render/profiler/chart_numbers.h"

/* More points than this have no texts of their own. */
enum { POINTS_MOST = 400 };

/* Y of all series, with 0, and room above. */
static struct chart_range range_of_y(const struct chart *c)
{
    struct chart_range y = { 0, 0 };
    for (uint32_t i = 0; i < c->series; i++)
        chart_range_take(&y, c->one[i].y, c->one[i].count);
    y.high += (y.high - y.low) * 0.05;
    chart_range_widen(&y);
    return y;
}

static bool is_known(const struct chart_series *s, uint32_t i)
{
    return chart_is_known(s->x[i]) && chart_is_known(s->y[i]);
}

/* A line being drawn, or the area below it. */
struct path {
    struct buf *to;
    bool open, area;
    double first, last, base;
};

static void path_point(struct path *p, double x, double y)
{
    buf_char(p->to, p->open ? 'L' : 'M');
    buf_fixed(p->to, x, 1);
    buf_char(p->to, ' ');
    buf_fixed(p->to, y, 1);
    if (!p->open)
        p->first = x;
    p->open = true;
    p->last = x;
}

static void path_break(struct path *p)
{
    if (p->open && p->area) {
        double last = p->last, first = p->first;
        path_point(p, last, p->base);
        path_point(p, first, p->base);
        buf_char(p->to, 'Z');
    }
    p->open = false;
}

/* Points that fall into one column of pixels: the lowest and the highest are enough. */
struct column {
    double x, low, high, last;
    uint32_t count;
};

static void column_end(struct path *p, struct column *col)
{
    if (col->count > 2) {
        path_point(p, col->x, col->low);
        path_point(p, col->x, col->high);
    }
    if (col->count > 1)
        path_point(p, col->x, col->last);
    col->count = 0;
}

/* Many points: of each column of pixels the first, those at its ends, and the last. */
static void put_path(const struct chart_frame *f, struct path *p, const struct chart_series *s,
                     const uint32_t *order, double from)
{
    bool thin = s->count > 2 * (f->right - f->left);
    struct column col = { .count = 0 };
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t at = order[i];
        if (!is_known(s, at)) {
            column_end(p, &col);
            path_break(p);
            continue;
        }
        double x = chart_px(f, s->x[at] - from), y = chart_py(f, s->y[at]);
        if (!thin || col.count == 0 || floor(x) > floor(col.x)) {
            column_end(p, &col);
            path_point(p, x, y);
            col = (struct column){ x, y, y, y, thin };
            continue;
        }
        col.x = x;
        col.low = y < col.low ? y : col.low;
        col.high = y > col.high ? y : col.high;
        col.last = y;
        col.count++;
    }
    column_end(p, &col);
    path_break(p);
}

static void put_point(const struct chart_frame *f, const struct chart_series *s, uint32_t at,
                      double from, double radius)
{
    struct buf *to = f->to;
    buf_text(to, "<circle");
    chart_number(to, "cx", chart_px(f, s->x[at] - from));
    chart_number(to, "cy", chart_py(f, s->y[at]));
    chart_number(to, "r", radius);
    buf_text(to, "><title>");
    chart_cut(to, s->label != NULL ? s->label[at] : s->name, 200);
    buf_text(to, ": ");
    chart_value(to, s->y[at], f->chart->y.unit);
    buf_text(to, ", ");
    chart_value(to, s->x[at] - from, f->chart->x.unit);
    buf_text(to, "</title></circle>\n");
}

static void put_series(const struct chart_frame *f, uint32_t number, const uint32_t *order,
                       double from)
{
    const struct chart_series *s = &f->chart->one[number];
    struct buf *to = f->to;
    struct path line = { .to = to }, area = { .to = to, .area = true, .base = f->bottom };
    const char *colour = chart_colours[number % CHART_COLOURS];
    buf_format(to, "<g fill=\"%s\">\n<title>", colour);
    chart_cut(to, s->name, 200);
    buf_text(to, "</title>\n");
    if (s->filled) {
        buf_text(to, "<path fill-opacity=\"0.15\" d=\"");
        put_path(f, &area, s, order, from);
        buf_text(to, "\"/>\n");
    }
    buf_format(to,
               "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\" "
               "stroke-linecap=\"round\" stroke-dasharray=\"%s\" d=\"",
               colour, chart_dashes[number / CHART_COLOURS % CHART_DASHES]);
    put_path(f, &line, s, order, from);
    buf_text(to, "\"/>\n");
    for (uint32_t i = 0; i < s->count && s->count <= POINTS_MOST; i++)
        if (is_known(s, order[i]))
            put_point(f, s, order[i], from, 2.5);
    buf_text(to, "</g>\n");
}

/* Moments and points that are pointed out. */
static void put_marks(const struct chart_frame *f, double from)
{
    buf_text(f->to, "<g stroke=\"" CHART_MARKED "\" stroke-width=\"1.5\" fill=\"none\">\n");
    for (uint32_t i = 0; i < f->chart->marks; i++) {
        const struct chart_mark *m = &f->chart->mark[i];
        if (!chart_is_known(m->x))
            continue;
        double x = chart_px(f, m->x - from);
        bool moment = !chart_is_known(m->y), leftwards = x > (f->left + f->right) / 2;
        double y = moment ? f->top + 12 : chart_py(f, m->y) - 8;
        if (moment) {
            buf_text(f->to, "<line stroke-dasharray=\"5 4\"");
            chart_number(f->to, "x1", x);
            chart_number(f->to, "x2", x);
            chart_number(f->to, "y1", f->top);
            chart_number(f->to, "y2", f->bottom);
        } else {
            buf_text(f->to, "<circle r=\"6\"");
            chart_number(f->to, "cx", x);
            chart_number(f->to, "cy", chart_py(f, m->y));
        }
        buf_text(f->to, "/>\n");
        chart_label(f->to, x + (leftwards ? -8 : 8), y, leftwards ? CHART_END : CHART_START,
                    " stroke=\"none\" fill=\"" CHART_MARKED "\"", m->label, 48);
    }
    buf_text(f->to, "</g>\n");
}

enum vrs_status chart_lines(struct chart_frame *f, struct vrs_error *err)
{
    const struct chart *c = f->chart;
    struct chart_range x = chart_range_empty();
    for (uint32_t i = 0; i < c->series; i++)
        chart_range_take(&x, c->one[i].x, c->one[i].count);
    double from = x.low <= x.high ? x.low : 0;
    f->x = x.low <= x.high ? (struct chart_range){ 0, x.high - x.low } : x;
    chart_range_widen(&f->x);
    f->y = range_of_y(c);
    chart_axes(f);
    for (uint32_t i = 0; i < c->series; i++) {
        const uint32_t *order = chart_by_x(&c->one[i], f->scratch);
        if (order == NULL)
            return vrs_no_memory(err);
        put_series(f, i, order, from);
    }
    put_marks(f, from);
    return VRS_OK;
}

enum vrs_status chart_points(struct chart_frame *f, struct vrs_error *err)
{
    const struct chart *c = f->chart;
    (void)err;
    f->x = (struct chart_range){ 0, 0 };
    for (uint32_t i = 0; i < c->series; i++)
        chart_range_take(&f->x, c->one[i].x, c->one[i].count);
    f->x.high += (f->x.high - f->x.low) * 0.05;
    chart_range_widen(&f->x);
    f->y = range_of_y(c);
    chart_axes(f);
    for (uint32_t i = 0; i < c->series; i++) {
        const struct chart_series *s = &c->one[i];
        buf_format(f->to, "<g fill=\"%s\" fill-opacity=\"0.7\" stroke=\"%s\">\n",
                   chart_colours[i % CHART_COLOURS], chart_colours[i % CHART_COLOURS]);
        /* Very many are drawn as dots without texts. */
        bool dots = s->count > 10 * POINTS_MOST;
        if (dots)
            buf_text(f->to, "<path stroke-width=\"3\" stroke-linecap=\"round\" d=\"");
        for (uint32_t k = 0; k < s->count; k++) {
            if (!is_known(s, k))
                continue;
            struct path dot = { .to = f->to };
            if (dots)
                path_point(&dot, chart_px(f, s->x[k]), chart_py(f, s->y[k]));
            if (dots)
                buf_text(f->to, "h0");
            else
                put_point(f, s, k, 0, 4);
        }
        buf_text(f->to, dots ? "\"/>\n</g>\n" : "</g>\n");
    }
    put_marks(f, 0);
    return VRS_OK;
}

enum vrs_status chart_histogram(struct chart_frame *f, struct vrs_error *err)
{
    const struct chart_series *s = f->chart->one;
    struct chart_bins b = chart_bins_of(s->y, s->count);
    (void)err;
    f->x = (struct chart_range){ b.low, b.low + b.width * b.bins };
    chart_range_widen(&f->x);
    f->y = (struct chart_range){ 0, b.highest * 1.05 };
    chart_range_widen(&f->y);
    chart_axes(f);
    buf_format(f->to, "<g fill=\"%s\">\n", chart_colours[0]);
    for (uint32_t i = 0; i < b.bins; i++) {
        double left = chart_px(f, b.low + i * b.width);
        double right = chart_px(f, b.low + (i + 1) * b.width);
        buf_text(f->to, "<rect");
        chart_number(f->to, "x", left + 0.5);
        chart_number(f->to, "y", chart_py(f, b.in[i]));
        chart_number(f->to, "width", right - left > 2 ? right - left - 1 : 1);
        chart_number(f->to, "height", f->bottom - chart_py(f, b.in[i]));
        buf_text(f->to, "><title>");
        chart_value(f->to, b.low + i * b.width, f->chart->x.unit);
        buf_text(f->to, " to ");
        chart_value(f->to, b.low + (i + 1) * b.width, f->chart->x.unit);
        buf_format(f->to, ": %u</title></rect>\n", (unsigned)b.in[i]);
    }
    buf_text(f->to, "</g>\n");
    return VRS_OK;
}
