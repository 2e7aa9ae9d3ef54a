/* chart_rows.c - charts with a row for each group: bars, a heat map. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/profiler/chart.h"
#include "render/profiler/chart_frame.h"
#include "render/profiler/chart_numbers.h"

enum {
    VALUE = 84,     /* room for the value behind a bar */
    NAME_MOST = 44, /* letters */
    NAME_LEAST = 8
};

/* Letters of the longest of the first names, within bounds. */
static size_t name_letters(const struct chart_frame *f)
{
    size_t most = NAME_LEAST;
    for (uint32_t g = 0; g < f->chart->groups; g++)
        most = f->chart->group[g].len > most ? f->chart->group[g].len : most;
    size_t fits = (size_t)((f->right - 16) * 0.4 / CHART_LETTER);
    size_t bound = NAME_MOST < fits ? NAME_MOST : fits;
    return most < bound ? most : bound;
}

static uint32_t rows_that_fit(const struct chart_frame *f)
{
    double fits = floor((f->bottom - f->top) / CHART_ROW);
    return fits < 1 ? 1 : fits < f->chart->groups ? (uint32_t)fits : f->chart->groups;
}

static void put_title(struct buf *to, str name, double value, enum chart_unit unit)
{
    buf_text(to, "<title>");
    chart_cut(to, name, 400);
    buf_text(to, ": ");
    chart_value(to, value, unit);
    buf_text(to, "</title>");
}

static void put_value(struct buf *to, double x, double y, enum chart_anchor anchor,
                      const char *more, double value, enum chart_unit unit)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    chart_value(&text, value, unit);
    chart_label(to, x, y, anchor, more, buf_slice(&text), 20);
    buf_end(&text, to);
}

static void put_rest(const struct chart_frame *f, double y, uint32_t rest)
{
    struct buf text;
    if (rest == 0)
        return;
    buf_init(&text, SIZE_MAX / 2);
    buf_format(&text, "and %u more", (unsigned)rest);
    chart_label(f->to, f->left, y, CHART_START, " font-style=\"italic\"", buf_slice(&text), 40);
    buf_end(&text, f->to);
}

enum vrs_status chart_bars(struct chart_frame *f, struct vrs_error *err)
{
    const struct chart *c = f->chart;
    const double *value = chart_reduce(c->one, c->groups, f->scratch);
    const uint32_t *order =
        value == NULL ? NULL : chart_descending(value, c->groups, f->scratch);
    if (order == NULL)
        return vrs_no_memory(err);
    size_t letters = name_letters(f);
    uint32_t rows = rows_that_fit(f);
    f->left = 16 + (double)(letters * CHART_LETTER) + 8;
    f->x = (struct chart_range){ 0, 0 };
    chart_range_take(&f->x, value, c->groups);
    f->x.low = 0;
    chart_range_widen(&f->x);
    f->right -= VALUE;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t g = order[i];
        double y = f->top + i * CHART_ROW;
        double wide = value[g] > 0 ? chart_px(f, value[g]) - f->left : 0;
        chart_label(f->to, f->left - 8, y + 17, CHART_END, "", c->group[g], letters);
        buf_format(f->to, "<rect fill=\"%s\" height=\"18\"", chart_colours[0]);
        chart_number(f->to, "x", f->left);
        chart_number(f->to, "y", y + 4);
        chart_number(f->to, "width", wide);
        buf_char(f->to, '>');
        put_title(f->to, c->group[g], value[g], c->y.unit);
        buf_text(f->to, "</rect>\n");
        put_value(f->to, f->left + wide + 6, y + 17, CHART_START, "", value[g], c->y.unit);
    }
    put_rest(f, f->top + rows * CHART_ROW + 16, c->groups - rows);
    chart_label(f->to, 16, f->top - 8, CHART_START, "", c->y.label,
                (size_t)(f->right / CHART_LETTER));
    return VRS_OK;
}

/* From nearly white to dark, by a share of 0 to 1. */
static void put_shade(struct buf *to, double share)
{
    static const double pale[] = { 255, 245, 228 }, dark[] = { 179, 38, 18 };
    unsigned part[3];
    for (int i = 0; i < 3; i++)
        part[i] = (unsigned)lround(pale[i] + (dark[i] - pale[i]) * share);
    buf_format(to, " fill=\"#%02x%02x%02x\"", part[0], part[1], part[2]);
}

static void put_cell(const struct chart_frame *f, uint32_t column, double wide, uint32_t row,
                     double value, double most)
{
    const struct chart_series *s = &f->chart->one[column];
    double x = f->left + column * wide, y = f->top + row * CHART_ROW;
    double share = chart_is_known(value) && most > 0 && value > 0 ? value / most : 0;
    buf_text(f->to, "<rect");
    put_shade(f->to, share);
    chart_number(f->to, "x", x);
    chart_number(f->to, "y", y);
    chart_number(f->to, "width", wide - 1);
    chart_number(f->to, "height", CHART_ROW - 1);
    buf_char(f->to, '>');
    put_title(f->to, f->chart->group[row], value, s->unit);
    buf_text(f->to, "</rect>\n");
    put_value(f->to, x + wide / 2, y + 17, CHART_MIDDLE, share > 0.55 ? " fill=\"#ffffff\"" : "",
              value, s->unit);
}

enum vrs_status chart_heat(struct chart_frame *f, struct vrs_error *err)
{
    const struct chart *c = f->chart;
    size_t letters = name_letters(f);
    f->left = 16 + (double)(letters * CHART_LETTER) + 8;
    f->top += CHART_HEAD;
    uint32_t rows = rows_that_fit(f);
    double wide = (f->right - f->left) / c->series;
    for (uint32_t g = 0; g < rows; g++)
        chart_label(f->to, f->left - 8, f->top + g * CHART_ROW + 17, CHART_END, "", c->group[g],
                    letters);
    for (uint32_t k = 0; k < c->series; k++) {
        struct chart_range range = chart_range_empty();
        const double *value = chart_reduce(&c->one[k], c->groups, f->scratch);
        if (value == NULL)
            return vrs_no_memory(err);
        chart_range_take(&range, value, c->groups);
        chart_label(f->to, f->left + (k + 0.5) * wide, f->top - 6, CHART_MIDDLE, "",
                    c->one[k].name, (size_t)(wide / CHART_LETTER));
        for (uint32_t g = 0; g < rows; g++)
            put_cell(f, k, wide, g, value[g], range.high);
    }
    put_rest(f, f->top + rows * CHART_ROW + 16, c->groups - rows);
    chart_label(f->to, 16, f->bottom + CHART_ROW + 14, CHART_START, "", c->y.label,
                (size_t)(f->right / CHART_LETTER));
    return VRS_OK;
}
