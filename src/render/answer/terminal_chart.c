/* terminal_chart.c - an area chart of memory over time, drawn with characters. */
#include "render/answer/terminal_chart.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/escape.h"

enum { LABEL = 12, LEVELS = 8, PLOT_MOST = 400, PLOT_LEAST = 20 };

static const char *const utf8_levels[LEVELS + 1] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii_levels[LEVELS + 1] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };

static int64_t max_of(const int64_t *value, uint32_t spans, uint32_t column, uint32_t columns)
{
    uint32_t first = (uint32_t)((uint64_t)column * spans / columns);
    uint32_t end = (uint32_t)((uint64_t)(column + 1) * spans / columns);
    int64_t most = value[first];
    for (uint32_t i = first + 1; i < end; i++)
        most = value[i] > most ? value[i] : most;
    return most;
}

static int64_t requested_top(const struct terminal_chart *p)
{
    int64_t top = 0;
    for (uint32_t i = 0; i < p->spans; i++)
        top = p->requested[i] > top ? p->requested[i] : top;
    return top;
}

static int64_t top_of(const struct terminal_chart *p)
{
    int64_t top = requested_top(p);
    for (uint32_t i = 0; i < p->spans; i++)
        top = p->reserved[i] > top ? p->reserved[i] : top;
    return top;
}

bool chart_area_is_empty(const struct terminal_chart *chart)
{
    return top_of(chart) == 0;
}

bool chart_line_is_empty(const struct terminal_chart *chart)
{
    return requested_top(chart) == 0;
}

/* Height in eighths of `rows` rows; rounded up, so that little is not nothing. */
static uint32_t height(int64_t value, int64_t top, uint32_t rows)
{
    if (value <= 0 || top <= 0)
        return 0;
    double levels = (double)value / (double)top * (double)(rows * LEVELS);
    uint32_t whole = (uint32_t)levels;
    whole += (double)whole < levels;
    return whole > rows * LEVELS ? rows * LEVELS : whole;
}

/* The character column of the state after an event. */
static uint32_t column_of(const struct terminal_chart *p, int64_t event, uint32_t columns)
{
    uint64_t state = (uint64_t)(event + 1);
    uint64_t span = (state * p->spans + p->spans - 1) / p->states;
    /* The one column that span is in; where there are fewer spans, the first of several. */
    uint64_t column = p->spans < columns ? (span * columns + p->spans - 1) / p->spans
                                         : (span * columns + columns - 1) / p->spans;
    return column >= columns ? columns - 1 : (uint32_t)column;
}

struct flag {
    const char *text;
    uint32_t column;
    enum paint paint;
};

/* Flags on one line where they fit; returns how many were put, the others need another line. */
static uint32_t put_flags(struct buf *to, const struct style *style, const struct flag *flag,
                          uint32_t flags, uint32_t columns)
{
    const char *mark = style->ascii ? "v" : "▼";
    size_t at = 0;
    uint32_t put = 0;
    buf_repeat(to, S(" "), LABEL + 1);
    for (; put < flags; put++) {
        size_t words = escape_width(str_from(flag[put].text)) + 1;
        /* Words stand on the side that has room. */
        bool left = flag[put].column + 1 + words > columns;
        size_t start =
            left && flag[put].column >= words ? flag[put].column - words : flag[put].column;
        if (put > 0 && start < at + 1)
            break;
        buf_repeat(to, S(" "), start - at);
        paint_on(to, style, flag[put].paint);
        if (left)
            buf_format(to, "%s %s", flag[put].text, mark);
        else
            buf_format(to, "%s %s", mark, flag[put].text);
        paint_off(to, style);
        at = start + words + 1;
    }
    buf_char(to, '\n');
    return put;
}

static void put_all_flags(struct buf *to, const struct style *style, const struct terminal_chart *p,
                          uint32_t columns)
{
    struct flag flag[2] = { { "peak", column_of(p, p->peak_event, columns), PAINT_BOLD } };
    uint32_t flags = 1;
    if (p->ooms > 0) {
        uint32_t column = column_of(p, p->oom_event[p->ooms - 1], columns);
        struct flag oom = { "OOM", column, PAINT_BAD };
        flag[1] = oom;
        flags = 2;
        if (column < flag[0].column) {
            flag[1] = flag[0];
            flag[0] = oom;
        }
    }
    for (uint32_t put = 0; put < flags;)
        put += put_flags(to, style, flag + put, flags - put, columns);
}

/* The axis, with a label or without. */
static void put_label(struct buf *to, const struct style *style, int64_t bytes, bool shown)
{
    struct buf label;
    buf_init(&label, 1024);
    if (shown)
        human_bytes(&label, bytes);
    buf_repeat(to, S(" "), label.len + 1 < LABEL ? LABEL - 1 - label.len : 0);
    buf_str(to, buf_slice(&label));
    buf_end(&label, to);
    buf_text(to, style->ascii ? " |" : shown && bytes == 0 ? " ┼" : " ┤");
}

/* One row of the area; `used` and `held` are heights in eighths from the ground. */
static void put_cells(struct buf *to, const struct style *style, const uint32_t *used,
                      const uint32_t *held, uint32_t columns, uint32_t row)
{
    const char *const *levels = style->ascii ? ascii_levels : utf8_levels;
    const char *shade = style->ascii ? "'" : "░";
    bool painted = false;
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t ground = row * LEVELS;
        uint32_t fill = used[c] <= ground ? 0 : used[c] - ground;
        bool wants = fill > 0;
        if (wants && !painted)
            paint_on(to, style, PAINT_USED);
        else if (!wants && painted)
            paint_off(to, style);
        painted = wants;
        if (wants)
            buf_text(to, levels[fill > LEVELS ? LEVELS : fill]);
        else
            buf_text(to, held[c] > ground ? shade : " ");
    }
    if (painted)
        paint_off(to, style);
    buf_char(to, '\n');
}

static void put_time_axis(struct buf *to, const struct style *style, const struct terminal_chart *p,
                          uint32_t columns)
{
    struct buf right;
    buf_init(&right, 1024);
    buf_format(&right, "%llu", (unsigned long long)(p->states - 2)); /* there is one */
    if (p->duration_us != UINT64_MAX) {
        buf_text(&right, ", after ");
        human_duration(&right, p->duration_us);
    }
    buf_repeat(to, S(" "), LABEL + 1);
    paint_on(to, style, PAINT_DIM);
    str left = S("event 0");
    buf_str(to, left);
    size_t used = left.len + right.len;
    buf_repeat(to, S(" "), used + 1 < columns ? columns - used : 1);
    buf_str(to, buf_slice(&right));
    paint_off(to, style);
    buf_char(to, '\n');
    buf_end(&right, to);
}

void chart_area(struct buf *to, const struct style *style, const struct terminal_chart *chart)
{
    uint32_t used[PLOT_MOST], held[PLOT_MOST];
    uint32_t columns =
        style->width > LABEL + 1 + PLOT_LEAST ? style->width - LABEL - 1 : PLOT_LEAST;
    columns = columns > PLOT_MOST ? PLOT_MOST : columns;
    int64_t top = top_of(chart);
    for (uint32_t c = 0; c < columns; c++) {
        int64_t requested = max_of(chart->requested, chart->spans, c, columns);
        int64_t reserved = max_of(chart->reserved, chart->spans, c, columns);
        used[c] = height(requested, top, CHART_ROWS);
        held[c] = height(reserved, top, CHART_ROWS);
    }
    put_all_flags(to, style, chart, columns);
    for (uint32_t row = CHART_ROWS; row-- > 0;) {
        bool top_row = row + 1 == CHART_ROWS, middle = row + 1 == CHART_ROWS / 2;
        int64_t label = top_row ? top : middle ? top / 2 : 0;
        put_label(to, style, label, top_row || middle || row == 0);
        put_cells(to, style, used, held, columns, row);
    }
    put_time_axis(to, style, chart, columns);
}

void chart_line(struct buf *to, const struct style *style, const struct terminal_chart *chart,
                uint32_t columns)
{
    const char *const *levels = style->ascii ? ascii_levels : utf8_levels;
    int64_t top = requested_top(chart);
    for (uint32_t c = 0; c < columns; c++)
        buf_text(to, levels[height(max_of(chart->requested, chart->spans, c, columns), top, 1)]);
}
