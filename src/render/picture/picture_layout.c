/* picture_layout.c - a picture from its title down to the last axis. */
#include "render/picture/picture_layout.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/timeline/timeline.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "render/answer/envelope.h"
#include "render/picture/address_map.h"
#include "render/picture/palette.h"
#include "render/picture/picture_parts.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"
#include "render/write/escape.h"
#include "render/write/human.h"

/* In units. */
enum {
    SIDE = 12,  /* between the picture's border and what it holds */
    LEFT = 70,  /* of a plot: what its axis takes */
    GAP = 22,   /* between plot and legend */
    ROW = 16,   /* of text */
    FLAGS = 18, /* the row above a plot that names its peak */
    STEPS = 16, /* the band of steps with its gap */
    CHURN = CHURN_HEIGHT + 6,
    AXIS = 22,  /* of events */
    FIELD = 16, /* where a recording begins or ends in the middle */
    PANEL_LEAST = 84,
    PANEL_AXIS = 130, /* the least height of one of several that has an axis of its own */
    PANEL_ROWS = 260, /* and of one that has phases and churn */
    WIDTH_LEAST = 320,
    HEIGHT_LEAST = 160,
    LEGEND_FROM = 560, /* the width from which on there is one */
};

static const char *const windows[WINDOWS] = {
    [WINDOW_COMPLETE] = "complete",
    [WINDOW_LATE_START] = "starts mid-run",
    [WINDOW_OVERFLOWED] = "overwritten at the start",
    [WINDOW_OVERFLOW_SUSPECTED] = "overwritten at the start (suspected)",
    [WINDOW_STATE_ONLY] = "state only",
    [WINDOW_ONE_EVENT] = "one event",
    [WINDOW_INCOMPLETE] = "cut off",
};

static bool is_empty(const struct scene_device *d)
{
    return d->rows.rows == 0 && d->ranges == 0 && d->requested[0] == 0 && d->rows.states == 1;
}

static uint32_t shown_devices(const struct scene *scene)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < scene->devices; i++)
        shown += !is_empty(&scene->device[i]);
    return shown;
}

struct picture_size picture_usual_size(const struct scene *scene)
{
    uint32_t n = shown_devices(scene), panel = n <= 2 ? 320 : n <= 8 ? 200 : 108;
    uint32_t most = RASTER_SIDE_MOST;
    if (n <= 1)
        return (struct picture_size){ 1200, 480 };
    uint32_t height = n < most / panel ? 64 + n * panel : most;
    return (struct picture_size){ 1200, height };
}

int32_t picture_unit(const struct scene *scene, struct picture_size size)
{
    uint32_t n = shown_devices(scene), across = size.W / 1000;
    uint32_t down = n <= 1 ? size.H / 380 : size.H / n / 130;
    uint32_t unit = across < down ? across : down;
    return (int32_t)(unit > 1 ? unit : 1);
}

enum vrs_status picture_check(const struct scene *scene, struct picture_size size,
                              struct vrs_error *err)
{
    uint32_t n = shown_devices(scene), head = SIDE + 3 * ROW;
    if (n == 0)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "there is nothing to draw: the recording has no events and no memory");
    if (size.W < WIDTH_LEAST || size.H < HEIGHT_LEAST || size.W > RASTER_SIDE_MOST ||
        size.H > RASTER_SIDE_MOST)
        return vrs_fail(err, VRS_USAGE, "a picture has %dx%d to %dx%d pixels, not %ux%u",
                        WIDTH_LEAST, HEIGHT_LEAST, RASTER_SIDE_MOST, RASTER_SIDE_MOST,
                        (unsigned)size.W, (unsigned)size.H);
    if (n > 1 && (size.H - head) / n < PANEL_LEAST)
        return vrs_fail(err, VRS_USAGE,
                        "%u devices need a height of %u pixels; draw them higher, or one alone",
                        (unsigned)n, (unsigned)(head + n * PANEL_LEAST));
    return VRS_OK;
}

static void put_file(struct buf *to, const struct scene *scene)
{
    str name = str_base_name(scene->file.path);
    escape_text(to, name.len > 0 ? name : S("recording"), false);
    if (scene->file.entry.ptr != NULL && scene->file.entry.len > 0) {
        buf_char(to, ' ');
        escape_text(to, scene->file.entry, false);
    }
}

static void put_step(struct buf *to, const struct scene_device *d, uint32_t state)
{
    for (uint32_t i = 0; i < d->steps; i++)
        if (d->step[i].first <= state && state <= d->step[i].last)
            buf_format(to, ", step %u", (unsigned)(i + 1));
}

/* "peak 62.31 GiB in use at event 48120 (12.0 s), step 3, 71.02 GiB reserved" */
static void put_headline(struct buf *to, const struct scene_device *d)
{
    const char *peak = d->trust->cut ? "peak of the part read " : "peak ";
    bool whole = d->from == 0 && d->to == d->rows.states;
    if (!d->traced)
        peak = "";
    else if (!whole)
        peak = "peak of the events shown ";
    buf_text(to, peak);
    if (!d->start_known)
        buf_text(to, "≥ ");
    put_bytes(to, d->requested[d->peak]);
    buf_text(to, " in use at ");
    if (!d->traced) {
        buf_text(to, "the end");
    } else {
        put_state_name(to, d->peak);
        if (d->cursor == d->peak && d->peak > 0 && d->cursor_us != UNKNOWN_U64) {
            buf_text(to, " (");
            human_duration(to, d->cursor_us);
            buf_char(to, ')');
        }
        put_step(to, d, d->peak);
    }
    if (d->reserved != NULL) {
        buf_text(to, ", ");
        put_bytes(to, d->reserved[d->peak]);
        buf_text(to, " reserved");
    }
    if (d->ooms > 0)
        buf_format(to, "; ran out of memory%s", d->ooms > 1 ? " " : "");
    if (d->ooms > 1)
        buf_format(to, "%u times", (unsigned)d->ooms);
}

static bool is_sound(const struct trust *trust)
{
    return trust->grade == 'A' && trust->window == WINDOW_COMPLETE;
}

static void put_grade(struct buf *to, const struct trust *trust)
{
    buf_format(to, "grade %c", trust->grade);
    if (trust->window != WINDOW_COMPLETE)
        buf_format(to, ", %s", windows[trust->window]);
}

static uint32_t grade_colour(const struct palette *p, const struct trust *trust)
{
    return trust->grade == 'D' || trust->window == WINDOW_INCOMPLETE ? p->problem : p->advice;
}

/* The right end of a line of titles; what is left for the left end. */
static int32_t draw_grade(const struct text_context *s, const struct scene_device *d, int32_t right,
                          int32_t y)
{
    struct buf text;
    int32_t width = 0;
    if (is_sound(d->trust))
        return right;
    buf_init(&text, SIZE_MAX / 2);
    put_grade(&text, d->trust);
    struct pen_text how = { .x = right,
                            .y = y,
                            .anchor = ANCHOR_RIGHT,
                            .colour = grade_colour(s->palette, d->trust),
                            .bold = true };
    put_how(s, &how, buf_slice(&text));
    width = text_width(s, buf_slice(&text)) * 7 / 6 + 2 * s->pen->advance;
    end_text(s, &text);
    return right - width;
}

/* What the bands are: the grouping, and of what. */
static void put_what(struct buf *to, const struct scene *scene)
{
    static const char *const views[SCENE_VIEWS] = {
        [SCENE_GROUPS] = "bytes in use by ",
        [SCENE_STACK] = "every allocation in use, by ",
        [SCENE_MAP] = "addresses over time: allocations by ",
    };
    buf_format(to, "%s%s", views[scene->asked.view], scene_by_names[scene->asked.by]);
    if (scene->asked.view == SCENE_MAP)
        buf_text(to, "; hatched: free beside others, dotted: free and returnable, pale: slack");
}

/* File and device, what is shown, and of one device its figures; the first line beneath. */
static int32_t draw_head(const struct text_context *s, struct picture_size size)
{
    const struct scene *scene = s->scene;
    bool one = shown_devices(scene) == 1;
    const struct scene_device *d = &scene->device[0];
    while (one && is_empty(d))
        d++;
    int32_t u = s->u, left = SIDE * u, right = (int32_t)size.W - SIDE * u, y = (SIDE + 10) * u;
    int32_t room = one ? draw_grade(s, d, right, y) : right;
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    put_file(&text, scene);
    if (one) {
        buf_text(&text, "  ");
        envelope_device_name(&text, d->name);
    } else {
        buf_format(&text, "  %u devices on one scale", (unsigned)shown_devices(scene));
    }
    struct pen_text how = { .x = left, .y = y, .colour = s->palette->text, .bold = true };
    put_fitting(s, &how, buf_slice(&text), room - left);
    y += ROW * u;
    how.y = y;
    how.bold = false;
    text.len = 0;
    put_what(&text, scene);
    int32_t beside = one ? text_width(s, buf_slice(&text)) + 3 * s->pen->advance : 0;
    struct pen_text what = how;
    what.colour = s->palette->muted;
    what.x = one ? right : left;
    what.anchor = one ? ANCHOR_RIGHT : ANCHOR_LEFT;
    struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    if (one)
        put_headline(&line, d);
    bool fits = text_width(s, buf_slice(&line)) + beside <= right - left;
    if (fits || !one)
        put_fitting(s, &what, buf_slice(&text), right - left);
    put_fitting(s, &how, buf_slice(&line), right - left);
    if (one && !is_sound(d->trust) && d->trust->items > 0 && size.H / (uint32_t)u >= 280) {
        y += ROW * u;
        how.y = y;
        how.colour = s->palette->muted;
        line.len = 0;
        escape_text(&line, d->trust->item[0].text, false);
        put_fitting(s, &how, buf_slice(&line), right - left);
    }
    end_text(s, &line);
    end_text(s, &text);
    return y + (one ? 8 : 14) * u;
}

/* The largest and the least of what any device has in its columns. */
static void find_range(const struct panel *p, double *low, double *high)
{
    const struct scene_device *d = p->d;
    for (uint32_t c = 0; c < p->view.W; c++) {
        uint32_t state = p->view.shown[c];
        double values[] = { d->requested[state], d->active[state],
                            d->reserved != NULL ? d->reserved[state] : 0 };
        for (uint32_t i = 0; i < 3; i++) {
            *high = values[i] > *high ? values[i] : *high;
            *low = i == 0 && values[i] < *low ? values[i] : *low;
        }
    }
    *low = d->rows.adjust < *low ? d->rows.adjust : *low;
}

/* A capacity that somebody asked about is drawn whatever it does to the scale. */
static double with_capacity(const struct scene *scene, double high)
{
    double top = high;
    bool asked = scene->asked.capacity > 0;
    for (uint32_t i = 0; i < scene->devices; i++)
        if (scene->device[i].capacity > top && (asked || scene->device[i].capacity < high * 3))
            top = scene->device[i].capacity;
    return top * 1.04;
}

static bool begins_in_the_middle(const struct scene_device *d)
{
    return d->traced && d->from == 0 &&
           (d->trust->window == WINDOW_LATE_START || d->trust->window == WINDOW_OVERFLOWED ||
            d->trust->window == WINDOW_OVERFLOW_SUSPECTED || !d->start_known);
}

static bool ends_in_the_middle(const struct scene_device *d)
{
    return d->trust->cut && d->to == d->rows.states;
}

/* The rows between a plot and its axis, which ends at `bottom`: churn, steps, phases.  Where the
 * first begins. */
static int32_t place_rows(const struct text_context *s, struct panel *p, struct pen_box box,
                          int32_t bottom)
{
    int32_t u = s->u;
    bool roomy = box.h >= PANEL_ROWS * u;
    if (p->d->phases > 0 && roomy) {
        p->phases_y = bottom - (STEPS - 2) * u;
        bottom -= STEPS * u;
    }
    if (p->d->steps > 0) {
        p->steps_y = bottom - (STEPS - 2) * u;
        bottom -= STEPS * u;
    }
    if (p->d->traced && roomy && s->scene->asked.view != SCENE_MAP) {
        p->churn_y = bottom - (CHURN - 3) * u;
        bottom -= CHURN * u;
    }
    return bottom;
}

/* Where a device's plot, legend and axes stand in its part of the sheet. */
static void place(const struct text_context *s, struct panel *p, struct pen_box box, bool one)
{
    int32_t u = s->u, left = SIDE * u + LEFT * u - 8 * u, right = box.w - SIDE * u;
    int32_t wide = box.w * (s->scene->asked.by == SCENE_CATEGORY ? 24 : 32) / 100;
    int32_t least = 40 * s->pen->advance, most = 62 * s->pen->advance;
    int32_t legend = box.w < LEGEND_FROM * u ? 0 : wide < least ? least : wide > most ? most : wide;
    int32_t flags = FLAGS * u * (p->d->ooms > 0 ? 2 : 1);
    int32_t top = box.y + (one ? 0 : ROW * u) + flags, bottom = box.y + box.h - 6 * u;
    if (!one && p->d->ooms > 0 && box.h < PANEL_AXIS * u)
        top -= FLAGS * u;
    if (one || box.h >= PANEL_AXIS * u) {
        p->axis_y = bottom - AXIS * u;
        bottom = place_rows(s, p, box, p->axis_y);
    }
    if (legend > 0)
        p->legend = (struct pen_box){ right - legend, top - 10 * u, legend, box.y + box.h - top };
    right -= legend > 0 ? legend + GAP * u : 0;
    p->axis_x = left;
    left += begins_in_the_middle(p->d) ? FIELD * u : 0;
    right -= ends_in_the_middle(p->d) ? FIELD * u : 0;
    p->plot->box = (struct pen_box){ left, top, right - left, bottom - top };
    p->plot->from = p->d->from;
    p->plot->to = p->d->to;
}

static enum vrs_status look(const struct text_context *s, struct panel *p)
{
    struct arena *arena = s->pen->arena;
    uint32_t W = (uint32_t)p->plot->box.w, *shown = arena_array(arena, uint32_t, W);
    double *parts = NULL, *at = scene_group_bytes(p->d, &p->d->shown, p->d->cursor, arena);
    if (shown == NULL || at == NULL)
        return vrs_no_memory(s->err);
    raster_shown(p->d->requested, p->d->rows.states, p->plot->from, p->plot->to, W, shown);
    p->view = (struct raster_view){ .shown = shown, .W = W, .H = (uint32_t)p->plot->box.h };
    p->at = at;
    if (s->scene->asked.view == SCENE_MAP)
        return map_rows_make(p->d, arena, &p->rows, s->err);
    TRY(raster_group_sums(&p->d->rows, &p->d->shown, &p->view, arena, &parts, s->err));
    p->parts = parts;
    return VRS_OK;
}

/* Sums of many groups would be many; their picture is that of their rows. */
static enum vrs_status groups_picture(const struct text_context *s, struct panel *p,
                                      struct raster_picture *ret)
{
    enum { FEW = 256 };
    const struct raster_groups *groups = &p->d->groups;
    struct raster_view view = p->view;
    if (groups->groups <= FEW)
        return raster_groups_picture(&p->d->rows, groups, &view, s->pen->arena, ret, s->err);
    view.order = p->d->order;
    TRY(raster_picture(&p->d->rows, &view, s->pen->arena, ret, s->err));
    for (size_t i = 0; i < (size_t)view.W * view.H; i++)
        if (ret->ids[i] >= 0)
            ret->ids[i] = (int32_t)groups->of[ret->ids[i]];
    return VRS_OK;
}

static enum vrs_status draw_bands(const struct text_context *s, struct panel *p)
{
    struct arena *arena = s->pen->arena;
    struct pen_bands bands = { .box = p->plot->box, .scene = s->scene, .device = p->d };
    struct raster_picture picture;
    struct map_picture map;
    p->view.y0 = p->plot->y0;
    p->view.y1 = p->plot->y1;
    if (s->scene->asked.view == SCENE_MAP) {
        TRY(map_picture_make(p->d, &p->rows, &p->view, arena, &map, s->err));
        bands.map = &map;
    } else if (s->scene->asked.view == SCENE_STACK) {
        p->view.order = p->d->order;
        TRY(raster_picture(&p->d->rows, &p->view, arena, &picture, s->err));
        bands.picture = &picture;
    } else {
        TRY(groups_picture(s, p, &picture));
        bands.picture = &picture;
        bands.groups = true;
    }
    bands.parts = p->parts;
    bands.view = p->view;
    TRY(s->pen->bands(s->pen, &bands, s->err));
    /* What is less than nothing the axis shows: the bands begin below zero. */
    double adjust = p->d->rows.adjust > 0 ? p->d->rows.adjust : 0;
    int32_t top = place_y(p->plot, adjust), bottom = place_y(p->plot, 0);
    if (s->scene->asked.view != SCENE_MAP && bottom > top)
        s->pen->hatch(s->pen,
                      (struct pen_box){ p->plot->box.x, top, p->plot->box.w, bottom - top });
    return VRS_OK;
}

static enum vrs_status draw_curves(const struct text_context *s, const struct panel *p)
{
    const struct palette *c = s->palette;
    const struct {
        const double *of;
        uint32_t colour;
        enum pen_dash dash;
        bool strong;
    } lines[] = {
        { p->d->reserved, c->muted, DASH_DOTS, false },
        { p->d->active, c->muted, DASH_SHORT, false },
        { p->d->requested, c->text, DASH_NONE, true },
    };
    double *value = arena_array(s->pen->arena, double, p->view.W);
    if (value == NULL)
        return vrs_no_memory(s->err);
    for (uint32_t i = 0; i < 3; i++) {
        if (lines[i].of == NULL)
            continue;
        for (uint32_t x = 0; x < p->view.W; x++)
            value[x] = lines[i].of[p->view.shown[x]];
        struct pen_curve curve = { p->plot->box,    value,         p->plot->y0,    p->plot->y1,
                                   lines[i].colour, lines[i].dash, lines[i].strong };
        s->pen->curve(s->pen, &curve);
    }
    return VRS_OK;
}

/* "capacity 24.00 GiB, 1.79 GiB free at the peak" */
static void put_capacity(struct buf *to, const struct scene *scene, const struct scene_device *d)
{
    double room = d->capacity - d->requested[d->peak];
    if (scene->asked.capacity <= 0) {
        buf_text(to, "capacity ≥ ");
        put_bytes(to, d->capacity);
        buf_text(to, ", from the OOM");
        return;
    }
    buf_text(to, "capacity ");
    put_bytes(to, d->capacity);
    buf_text(to, ", ");
    if (room >= 0 && !d->start_known)
        buf_text(to, "at most ");
    else if (room < 0 && !d->start_known)
        buf_text(to, "at least ");
    put_bytes(to, room >= 0 ? room : -room);
    buf_text(to, room >= 0 ? " free " : " too little ");
    buf_text(to, d->traced ? "at the peak" : "at the end");
}

static void draw_capacity(const struct text_context *s, const struct panel *p)
{
    const struct pen_box *b = &p->plot->box;
    struct buf text;
    if (p->d->capacity <= 0 || p->d->capacity > p->plot->y1)
        return;
    int32_t y = place_y(p->plot, p->d->capacity);
    s->pen->line(s->pen, b->x, y, b->x + b->w, y, s->palette->text, DASH_LONG);
    buf_init(&text, SIZE_MAX / 2);
    put_capacity(&text, s->scene, p->d);
    struct pen_text how = {
        .x = b->x + 6 * s->u, .y = y + 12 * s->u, .colour = s->palette->text, .halo = true
    };
    put_how(s, &how, buf_slice(&text));
    end_text(s, &text);
}

/* A name beside a flag, on the side where there is room. */
static void draw_flag_name(const struct text_context *s, const struct panel *p, int32_t x,
                           int32_t y, uint32_t colour, str name)
{
    int32_t right = p->plot->box.x + p->plot->box.w, width = text_width(s, name) * 7 / 6;
    bool before = x + 9 * s->u + width > right && x - 9 * s->u - width > p->plot->box.x;
    struct pen_text how = { .x = before ? x - 9 * s->u : x + 9 * s->u,
                            .y = y,
                            .anchor = before ? ANCHOR_RIGHT : ANCHOR_LEFT,
                            .colour = colour,
                            .bold = true };
    put_fitting(s, &how, name, right - p->plot->box.x);
}

static void draw_peak(const struct text_context *s, const struct panel *p, struct buf *text)
{
    const struct pen_box *b = &p->plot->box;
    const struct scene_device *d = p->d;
    int32_t x = place_x(p->plot, d->peak + 0.5), y = b->y - 5 * s->u;
    s->pen->flag(s->pen, x, b->y, s->palette->text);
    text->len = 0;
    buf_text(text, d->trust->cut ? "peak of the part read " : d->traced ? "peak " : "in use ");
    if (!d->start_known)
        buf_text(text, "≥ ");
    put_bytes(text, d->requested[d->peak]);
    draw_flag_name(s, p, x, y, s->palette->text, buf_slice(text));
}

/* Requests that failed; the last of them that is shown has a name. */
static void draw_ooms(const struct text_context *s, const struct panel *p, bool named,
                      struct buf *text)
{
    enum { MOST = 512 };
    const struct pen_box *b = &p->plot->box;
    const struct scene_flag *last = NULL;
    uint32_t skip = p->d->ooms > MOST ? p->d->ooms - MOST : 0;
    for (uint32_t i = skip; i < p->d->ooms; i++) {
        const struct scene_flag *f = &p->d->oom[i];
        if (f->state < p->plot->from || f->state >= p->plot->to)
            continue;
        s->pen->flag(s->pen, place_x(p->plot, f->state + 0.5), b->y, s->palette->problem);
        last = f;
    }
    if (last == NULL || !named)
        return;
    int32_t x = place_x(p->plot, last->state + 0.5), y = b->y - (FLAGS + 5) * s->u;
    s->pen->line(s->pen, x, y - 8 * s->u, x, b->y - 8 * s->u, s->palette->problem, DASH_NONE);
    text->len = 0;
    buf_text(text, "OOM");
    if (last->bytes != UNKNOWN_U64) {
        buf_text(text, ": asked ");
        human_known_bytes(text, last->bytes);
    }
    draw_flag_name(s, p, x - 3 * s->u, y, s->palette->problem, buf_slice(text));
}

static void draw_cursor(const struct text_context *s, const struct panel *p, struct buf *text)
{
    const struct pen_box *b = &p->plot->box;
    if (p->d->at_peak || !p->d->traced)
        return;
    int32_t x = place_x(p->plot, p->d->cursor + 0.5);
    s->pen->line(s->pen, x, b->y, x, b->y + b->h, s->palette->focus, DASH_SHORT);
    text->len = 0;
    put_state_name(text, p->d->cursor);
    bool before = x + 4 * s->u + text_width(s, buf_slice(text)) > b->x + b->w;
    struct pen_text how = { .x = before ? x - 4 * s->u : x + 4 * s->u,
                            .y = b->y + b->h - 6 * s->u,
                            .anchor = before ? ANCHOR_RIGHT : ANCHOR_LEFT,
                            .colour = s->palette->text,
                            .halo = true };
    put_how(s, &how, buf_slice(text));
}

static void draw_field(const struct text_context *s, const struct panel *p, bool left, str name)
{
    const struct pen_box *b = &p->plot->box;
    struct pen_box field = { left ? b->x - FIELD * s->u : b->x + b->w, b->y, FIELD * s->u, b->h };
    s->pen->hatch(s->pen, field);
    struct pen_text how = { .x = field.x + field.w / 2 + 4 * s->u,
                            .y = field.y + field.h / 2,
                            .anchor = ANCHOR_MIDDLE,
                            .colour = s->palette->text,
                            .upwards = true,
                            .halo = true };
    if (text_width(s, name) <= b->h)
        put_how(s, &how, name);
}

static void draw_fields(const struct text_context *s, const struct panel *p, struct buf *text)
{
    if (begins_in_the_middle(p->d))
        draw_field(s, p, true, p->d->start_known ? S("before recording") : S("start unknown"));
    if (!ends_in_the_middle(p->d))
        return;
    text->len = 0;
    buf_text(text, "file ends here");
    if (!s->scene->file.origin.complete)
        buf_format(text, ", byte %llu", (unsigned long long)s->scene->file.origin.cut_offset);
    draw_field(s, p, false, buf_slice(text));
}

static void draw_panel_title(const struct text_context *s, const struct panel *p,
                             struct pen_box box)
{
    struct buf text;
    int32_t left = SIDE * s->u, y = box.y + 10 * s->u;
    int32_t right = draw_grade(s, p->d, box.w - SIDE * s->u, y);
    buf_init(&text, SIZE_MAX / 2);
    envelope_device_name(&text, p->d->name);
    struct pen_text how = { .x = left, .y = y, .colour = s->palette->text, .bold = true };
    put_how(s, &how, buf_slice(&text));
    how.x = left + text_width(s, buf_slice(&text)) + 2 * s->pen->advance;
    how.bold = false;
    text.len = 0;
    put_headline(&text, p->d);
    put_fitting(s, &how, buf_slice(&text), right - how.x);
    end_text(s, &text);
}

static enum vrs_status draw_panel(const struct text_context *s, struct panel *p, struct pen_box box,
                                  bool one)
{
    bool mapped = s->scene->asked.view == SCENE_MAP;
    struct buf text;
    if (!one)
        draw_panel_title(s, p, box);
    draw_axes(s, p);
    TRY(draw_bands(s, p));
    if (!mapped) {
        TRY(draw_curves(s, p));
        TRY(draw_names(s, p));
        draw_capacity(s, p);
    }
    const struct pen_box *b = &p->plot->box;
    s->pen->line(s->pen, p->axis_x - 1, b->y, p->axis_x - 1, b->y + b->h, s->palette->control,
                 DASH_NONE);
    s->pen->line(s->pen, b->x, b->y + b->h, b->x + b->w, b->y + b->h, s->palette->control,
                 DASH_NONE);
    buf_init(&text, SIZE_MAX / 2);
    draw_fields(s, p, &text);
    draw_cursor(s, p, &text);
    draw_peak(s, p, &text);
    draw_ooms(s, p, one || box.h >= PANEL_AXIS * s->u, &text);
    end_text(s, &text);
    TRY(draw_churn(s, p));
    draw_steps(s, p);
    draw_phases(s, p);
    return draw_legend(s, p);
}

enum vrs_status picture_draw(const struct scene *scene, struct picture_size size, struct pen *pen,
                             struct picture_plot *plots, struct vrs_error *err)
{
    struct text_context s = { scene, pen, pen->palette, pen->unit, err };
    struct panel *panel = arena_array(pen->arena, struct panel, scene->devices);
    uint32_t n = shown_devices(scene), at = 0;
    double low = 0, high = 1;
    assert(n > 0);
    if (panel == NULL)
        return vrs_no_memory(err);
    pen->fill(pen, (struct pen_box){ 0, 0, (int32_t)size.W, (int32_t)size.H }, s.palette->ground);
    int32_t top = draw_head(&s, size), each = ((int32_t)size.H - top) / (int32_t)n;
    for (uint32_t i = 0; i < scene->devices; i++) {
        if (is_empty(&scene->device[i]))
            continue;
        struct panel *p = &panel[i];
        p->d = &scene->device[i];
        p->plot = &plots[i];
        place(&s, p, (struct pen_box){ 0, top + (int32_t)at++ * each, (int32_t)size.W, each },
              n == 1);
        TRY(look(&s, p));
        find_range(p, &low, &high);
    }
    at = 0;
    for (uint32_t i = 0; i < scene->devices; i++) {
        struct panel *p = &panel[i];
        if (p->d == NULL)
            continue;
        struct arena_mark mark = arena_mark(pen->arena);
        bool mapped = scene->asked.view == SCENE_MAP;
        p->plot->y0 = mapped ? 0 : low;
        p->plot->y1 = !mapped ? with_capacity(scene, high) : p->rows.bytes > 0 ? p->rows.bytes : 1;
        TRY(draw_panel(&s, p,
                       (struct pen_box){ 0, top + (int32_t)at++ * each, (int32_t)size.W, each },
                       n == 1));
        arena_release(pen->arena, mark);
    }
    return pen->failed ? vrs_no_memory(err) : VRS_OK;
}

void picture_title(struct buf *to, const struct scene *scene)
{
    put_file(to, scene);
    buf_text(to, ": ");
    put_what(to, scene);
}

void picture_describe(struct buf *to, const struct scene *scene)
{
    for (uint32_t i = 0; i < scene->devices; i++) {
        const struct scene_device *d = &scene->device[i];
        if (is_empty(d))
            continue;
        envelope_device_name(to, d->name);
        buf_text(to, ": ");
        put_headline(to, d);
        if (d->capacity > 0) {
            buf_text(to, "; ");
            put_capacity(to, scene, d);
        }
        if (!is_sound(d->trust)) {
            buf_text(to, "; ");
            put_grade(to, d->trust);
        }
        buf_text(to, ". ");
    }
}
