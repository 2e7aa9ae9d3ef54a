/* chart.c - the public chart into the one that is drawn. */
#include "vramscope/chart.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/file.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/profiler/chart.h"
#include "render/write/out.h"
#include "vramscope/vramscope.h"

enum { SIDE_LEAST = 240, SIDE_MOST = 4000, SERIES_MOST = 4096, ROWS_MOST = 1 << 28 };

static enum vrs_status check_series(const struct vrs_chart *c, const struct vrs_chart_series *s,
                                    size_t number, struct vrs_error *err)
{
    bool grouped = c->kind == VRS_CHART_BARS || c->kind == VRS_CHART_HEAT;
    bool placed = c->kind == VRS_CHART_LINES || c->kind == VRS_CHART_POINTS;
    if (s->count > ROWS_MOST)
        return vrs_fail(err, VRS_LIMIT, "series %zu has more than 2^28 values", number);
    if (s->count > 0 && (s->y == NULL || (grouped && s->group == NULL) || (placed && s->x == NULL)))
        return vrs_fail(err, VRS_USAGE, "series %zu lacks a column that its chart needs", number);
    for (size_t i = 0; grouped && i < s->count; i++)
        if (s->group[i] >= c->groups)
            return vrs_fail(err, VRS_USAGE, "value %zu of series %zu is of group %u of %zu", i,
                            number, (unsigned)s->group[i], c->groups);
    return VRS_OK;
}

static enum vrs_status check(const struct vrs_chart *c, struct vrs_error *err)
{
    if ((unsigned)c->kind >= CHART_KINDS || (unsigned)c->x_unit >= CHART_UNITS ||
        (unsigned)c->y_unit >= CHART_UNITS)
        return vrs_fail(err, VRS_USAGE, "there is no such kind of chart, or no such unit");
    if (c->width < SIDE_LEAST || c->width > SIDE_MOST ||
        (c->height != 0 && (c->height < SIDE_LEAST || c->height > SIDE_MOST)))
        return vrs_fail(err, VRS_USAGE, "a chart is %d to %d pixels wide and high", SIDE_LEAST,
                        SIDE_MOST);
    if (c->series > SERIES_MOST || c->groups > ROWS_MOST || c->marks > SERIES_MOST)
        return vrs_fail(err, VRS_LIMIT, "a chart has at most %d series and marks", SERIES_MOST);
    for (size_t i = 0; i < c->series; i++)
        TRY(check_series(c, &c->one[i], i, err));
    return VRS_OK;
}

/* NULL where there is no memory. */
static const str *texts_of(const char *const *text, size_t count, struct arena *arena)
{
    str *made = arena_array(arena, str, count + 1);
    for (size_t i = 0; made != NULL && i < count; i++)
        made[i] = text_or_empty(text[i]);
    return made;
}

static enum vrs_status take(const struct vrs_chart *c, struct arena *arena, struct chart *ret,
                            struct vrs_error *err)
{
    struct chart_series *series = arena_array(arena, struct chart_series, c->series + 1);
    struct chart_mark *mark = arena_array(arena, struct chart_mark, c->marks + 1);
    const str *group = texts_of(c->group, c->groups, arena);
    if (series == NULL || mark == NULL || group == NULL)
        return vrs_no_memory(err);
    for (size_t i = 0; i < c->series; i++) {
        const struct vrs_chart_series *s = &c->one[i];
        const str *label = s->label == NULL ? NULL : texts_of(s->label, s->count, arena);
        if (s->label != NULL && label == NULL)
            return vrs_no_memory(err);
        series[i] = (struct chart_series){ .name = text_or_empty(s->name),
                                           .unit = (enum chart_unit)s->unit,
                                           .most = s->most,
                                           .filled = s->filled,
                                           .count = (uint32_t)s->count,
                                           .x = s->x,
                                           .y = s->y,
                                           .group = s->group,
                                           .label = label };
    }
    for (size_t i = 0; i < c->marks; i++)
        mark[i] =
            (struct chart_mark){ c->mark[i].x, c->mark[i].y, text_or_empty(c->mark[i].label) };
    *ret = (struct chart){ .kind = (enum chart_kind)c->kind,
                           .title = text_or_empty(c->title),
                           .x = { text_or_empty(c->x_label), (enum chart_unit)c->x_unit },
                           .y = { text_or_empty(c->y_label), (enum chart_unit)c->y_unit },
                           .width = c->width,
                           .height = c->height,
                           .group = group,
                           .groups = (uint32_t)c->groups,
                           .one = series,
                           .series = (uint32_t)c->series,
                           .mark = mark,
                           .marks = (uint32_t)c->marks };
    return VRS_OK;
}

enum vrs_status vrs_chart_svg(const struct vrs_chart *given, const struct vrs_sink *sink,
                              struct vrs_error *err)
{
    struct vrs_chart c = { 0 };
    struct chart chart;
    struct arena arena;
    struct out out = { .write = sink->write, .arg = sink->arg };
    options_take(&c, sizeof c, given);
    TRY(check(&c, err));
    arena_init(&arena, SIZE_MAX / 2);
    buf_init(&out.text, SIZE_MAX / 2);
    enum vrs_status status = take(&c, &arena, &chart, err);
    if (status == VRS_OK)
        status = chart_svg(&out.text, &chart, &arena, err);
    arena_free(&arena);
    return out_finish(&out, status, err);
}
