/* chart.c - draws a chart from the outside in: element, title, legend, then what its kind has. */
#include "render/profiler/chart.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/profiler/chart_frame.h"
#include "render/profiler/chart_numbers.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/markup.h"
#include "render/write/ticks.h"

enum {
    USUAL_HEIGHT = 420,
    ROWS_MOST = 1000, /* that a chart is made high for */
    LEFT = 84,
    RIGHT = 20,
    TITLE = 44,
    LABEL = 16, /* of the y axis, above the plot */
    BOTTOM = 56,
    LEGEND_ROW = 20,
    LEGEND_ROWS = 3,
    LEGEND_LETTERS = 24,
    SAMPLE = 30 /* of a line in the legend, with the room behind it */
};

const static_text chart_colours[CHART_COLOURS] = { "#1f6fb2", "#c2561a", "#2b8a3e", "#8e44ad",
                                                   "#b5179e", "#0b7285", "#7a5c00", "#555f6b" };
const static_text chart_dashes[CHART_DASHES] = { "", "7 3", "2 2", "9 3 2 3" };

double chart_px(const struct chart_frame *f, double x)
{
    return f->left + (x - f->x.low) / (f->x.high - f->x.low) * (f->right - f->left);
}

double chart_py(const struct chart_frame *f, double y)
{
    return f->bottom - (y - f->y.low) / (f->y.high - f->y.low) * (f->bottom - f->top);
}

void chart_number(struct buf *to, const char *name, double value)
{
    buf_format(to, " %s=\"", name);
    buf_fixed(to, value, 1);
    buf_char(to, '"');
}

void chart_cut(struct buf *to, str text, size_t letters)
{
    struct buf whole;
    buf_init(&whole, SIZE_MAX / 2);
    escape_text(&whole, text, false);
    str shown = buf_slice(&whole);
    if (escape_width(shown) > letters && letters > 0) {
        shown.len = escape_fit(shown, letters - 1);
        markup_escaped(to, shown);
        buf_text(to, "\u2026");
    } else {
        markup_escaped(to, shown);
    }
    buf_end(&whole, to);
}

void chart_label(struct buf *to, double x, double y, enum chart_anchor anchor, const char *more,
                 str text, size_t letters)
{
    static const char *const anchors[] = { "", " text-anchor=\"middle\"", " text-anchor=\"end\"" };
    buf_text(to, "<text");
    chart_number(to, "x", x);
    chart_number(to, "y", y);
    buf_format(to, "%s%s>", anchors[anchor], more);
    chart_cut(to, text, letters);
    buf_text(to, "</text>\n");
}

void chart_value(struct buf *to, double value, enum chart_unit unit)
{
    if (!chart_is_known(value))
        buf_text(to, "-");
    else if (unit == CHART_BYTES && fabs(value) < 9e18)
        human_bytes(to, (int64_t)llround(value));
    else if (unit == CHART_SECONDS && value >= 0 && value < 1e12)
        human_duration(to, (uint64_t)llround(value * 1e6));
    else
        buf_real(to, value, 6);
}

static uint32_t ticks_of(struct chart_range range, enum chart_unit unit, double pixels,
                         uint32_t apart, struct tick ticks[TICKS_MOST])
{
    uint32_t most = pixels > 2 * apart ? (uint32_t)(pixels / apart) : 2;
    if (most > TICKS_MOST / 2)
        most = TICKS_MOST / 2;
    if (unit == CHART_SECONDS || fabs(range.low) > 4e18 || fabs(range.high) > 4e18)
        return ticks_real(range.low, range.high, most, ticks);
    return unit == CHART_BYTES ? ticks_bytes(range.low, range.high, most, ticks)
                               : ticks_count(range.low, range.high, most, ticks);
}

static void put_line(struct buf *to, double x1, double y1, double x2, double y2)
{
    buf_text(to, "<line");
    chart_number(to, "x1", x1);
    chart_number(to, "y1", y1);
    chart_number(to, "x2", x2);
    chart_number(to, "y2", y2);
    buf_text(to, "/>\n");
}

void chart_axes(const struct chart_frame *f)
{
    struct tick x[TICKS_MOST], y[TICKS_MOST];
    uint32_t xs = ticks_of(f->x, f->chart->x.unit, f->right - f->left, 90, x);
    uint32_t ys = ticks_of(f->y, f->chart->y.unit, f->bottom - f->top, 45, y);
    buf_text(f->to, "<g stroke=\"" CHART_FAINT "\">\n");
    for (uint32_t i = 0; i < xs; i++)
        put_line(f->to, chart_px(f, x[i].value), f->top, chart_px(f, x[i].value), f->bottom);
    for (uint32_t i = 0; i < ys; i++)
        put_line(f->to, f->left, chart_py(f, y[i].value), f->right, chart_py(f, y[i].value));
    buf_text(f->to, "</g>\n<g stroke=\"#6b7785\">\n");
    put_line(f->to, f->left, f->bottom, f->right, f->bottom);
    buf_text(f->to, "</g>\n");
    for (uint32_t i = 0; i < xs; i++)
        chart_label(f->to, chart_px(f, x[i].value), f->bottom + 16, CHART_MIDDLE, "",
                    str_from(x[i].text), TICK_TEXT);
    for (uint32_t i = 0; i < ys; i++)
        chart_label(f->to, f->left - 6, chart_py(f, y[i].value) + 4, CHART_END, "",
                    str_from(y[i].text), TICK_TEXT);
    chart_label(f->to, (f->left + f->right) / 2, f->bottom + 38, CHART_MIDDLE, "",
                f->chart->x.label, (size_t)((f->right - f->left) / CHART_LETTER));
    chart_label(f->to, f->left - 68, f->top - 8, CHART_START, "", f->chart->y.label,
                (size_t)((f->right - f->left) / CHART_LETTER));
}

/* Where the next name of the legend stands. */
struct legend {
    double x;
    uint32_t row;
};

static bool legend_place(struct legend *l, double wide, double width)
{
    if (l->x > LEFT && l->x + wide > width - RIGHT) {
        l->x = LEFT;
        l->row++;
    }
    return l->row < LEGEND_ROWS;
}

static double legend_wide(str name)
{
    size_t letters = name.len < LEGEND_LETTERS ? name.len : LEGEND_LETTERS;
    return SAMPLE + (double)(letters * CHART_LETTER) + 16;
}

/* Names of series behind a sample of their lines, in a few rows; the height of them.  `to` NULL:
 * only that. */
static double put_legend(struct buf *to, const struct chart *c)
{
    struct legend l = { LEFT, 0 };
    if (c->kind != CHART_LINES || c->series < 2)
        return 0;
    for (uint32_t i = 0; i < c->series; i++) {
        double wide = legend_wide(c->one[i].name), y = TITLE + l.row * LEGEND_ROW;
        if (!legend_place(&l, wide + (i + 1 < c->series && l.row + 1 == LEGEND_ROWS ? 120 : 0),
                          c->width)) {
            struct buf rest;
            buf_init(&rest, SIZE_MAX / 2);
            buf_format(&rest, "and %u more", (unsigned)(c->series - i));
            if (to != NULL)
                chart_label(to, c->width - RIGHT, y, CHART_END, "", buf_slice(&rest), 20);
            if (to != NULL)
                buf_end(&rest, to);
            else
                buf_free(&rest);
            l.row = LEGEND_ROWS - 1;
            break;
        }
        y = TITLE + l.row * LEGEND_ROW;
        if (to != NULL) {
            buf_format(to,
                       "<path d=\"M%d %dh22\" fill=\"none\" stroke-width=\"2.5\" stroke=\"%s\" "
                       "stroke-dasharray=\"%s\"/>\n",
                       (int)l.x, (int)y - 4, chart_colours[i % CHART_COLOURS],
                       chart_dashes[i / CHART_COLOURS % CHART_DASHES]);
            chart_label(to, l.x + SAMPLE, y, CHART_START, "", c->one[i].name, LEGEND_LETTERS);
        }
        l.x += wide;
    }
    return (l.row + 1) * LEGEND_ROW;
}

/* Pixels below the plot. */
static uint32_t bottom_of(const struct chart *c)
{
    if (c->kind == CHART_BARS)
        return CHART_ROW;
    return c->kind == CHART_HEAT ? CHART_ROW + CHART_HEAD : BOTTOM;
}

static uint32_t height_of(const struct chart *c)
{
    if (c->height != 0)
        return c->height;
    if (c->kind != CHART_BARS && c->kind != CHART_HEAT)
        return USUAL_HEIGHT;
    uint32_t rows = c->groups < ROWS_MOST ? c->groups : ROWS_MOST;
    return TITLE + LABEL + CHART_ROW * (rows > 0 ? rows : 1) + bottom_of(c) +
           (c->kind == CHART_HEAT ? CHART_HEAD : 0);
}

static bool is_empty(const struct chart *c)
{
    for (uint32_t i = 0; i < c->series; i++)
        if (c->one[i].count > 0)
            return false;
    return true;
}

enum vrs_status chart_svg(struct buf *to, const struct chart *chart, struct arena *scratch,
                          struct vrs_error *err)
{
    static enum vrs_status (*const draw[CHART_KINDS])(struct chart_frame *,
                                                      struct vrs_error *) = {
        [CHART_LINES] = chart_lines,
        [CHART_POINTS] = chart_points,
        [CHART_BARS] = chart_bars,
        [CHART_HISTOGRAM] = chart_histogram,
        [CHART_HEAT] = chart_heat,
    };
    uint32_t width = chart->width, height = height_of(chart);
    struct arena_mark mark = arena_mark(scratch);
    struct chart_frame f = { .to = to, .chart = chart, .scratch = scratch };
    enum vrs_status status = VRS_OK;
    buf_format(to,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" "
               "height=\"%u\" role=\"img\" font-family=\"system-ui,sans-serif\" "
               "font-size=\"12\" fill=\"" CHART_INK "\">\n<title>",
               (unsigned)width, (unsigned)height, (unsigned)width, (unsigned)height);
    chart_cut(to, chart->title, 200);
    buf_text(to, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    chart_label(to, 16, 24, CHART_START, " font-size=\"15\" font-weight=\"600\"", chart->title,
                (width - 32) / 8);
    f.left = LEFT;
    f.right = width - RIGHT;
    f.top = TITLE + put_legend(to, chart) + LABEL;
    f.bottom = height - bottom_of(chart);
    if (is_empty(chart))
        chart_label(to, width / 2.0, height / 2.0, CHART_MIDDLE, "", S("no data"), 20);
    else
        status = draw[chart->kind](&f, err);
    buf_text(to, "</svg>\n");
    arena_release(scratch, mark);
    if (status == VRS_OK && to->failed)
        status = vrs_no_memory(err);
    return status;
}
