/* picture_png.c - a picture as pixels: lines, letters and bands on a canvas, then a PNG. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/timeline/timeline.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/generator_mark.h"
#include "base/str.h"
#include "base/utf8.h"
#include "render/answer/envelope.h"
#include "render/picture/paint.h"
#include "render/picture/palette.h"
#include "render/picture/pen.h"
#include "render/picture/picture_layout.h"
#include "render/picture/scene.h"
#include "render/write/font.h"
#include "render/write/out.h"
#include "render/write/png.h"

struct canvas {
    struct pen pen; /* the first member: pens are canvases */
    uint32_t *pixels;
    int32_t W, H;
};

static void dot(struct canvas *c, int32_t x, int32_t y, uint32_t colour)
{
    if (x >= 0 && y >= 0 && x < c->W && y < c->H)
        c->pixels[(size_t)y * (size_t)c->W + (size_t)x] = colour;
}

static void fill(struct pen *pen, struct pen_box box, uint32_t colour)
{
    struct canvas *c = (struct canvas *)pen;
    for (int32_t y = box.y; y < box.y + box.h; y++)
        for (int32_t x = box.x; x < box.x + box.w; x++)
            dot(c, x, y, colour);
}

static void hatch(struct pen *pen, struct pen_box box)
{
    struct canvas *c = (struct canvas *)pen;
    int32_t gap = 6 * pen->unit;
    for (int32_t y = box.y; y < box.y + box.h; y++)
        for (int32_t x = box.x; x < box.x + box.w; x++)
            dot(c, x, y, (x + y) % gap < pen->unit ? pen->palette->hatch : pen->palette->free);
}

static bool is_on(int32_t at, enum pen_dash dash, int32_t u)
{
    static const int32_t on[] = { 1, 1, 6, 12 }, period[] = { 1, 4, 10, 18 };
    return at / u % period[dash] < on[dash];
}

/* Lines of a picture run along its sides. */
static void line(struct pen *pen, int32_t x1, int32_t y1, int32_t x2, int32_t y2, uint32_t colour,
                 enum pen_dash dash)
{
    struct canvas *c = (struct canvas *)pen;
    int32_t u = pen->unit, length = x2 - x1 > y2 - y1 ? x2 - x1 : y2 - y1;
    for (int32_t i = 0; i <= length; i++)
        for (int32_t k = 0; k < u && is_on(i, dash, u); k++)
            dot(c, x2 > x1 ? x1 + i : x1 + k, x2 > x1 ? y1 + k : y1 + i, colour);
}

static int32_t curve_y(const struct pen_curve *v, int32_t x)
{
    double y = (v->value[x] - v->y0) * v->box.h / (v->y1 - v->y0) + 0.5, most = v->box.h;
    return v->box.y + v->box.h - (int32_t)(y < 0 ? 0 : y > most ? most : y);
}

static void curve(struct pen *pen, const struct pen_curve *v)
{
    struct canvas *c = (struct canvas *)pen;
    int32_t u = pen->unit, before = 0;
    for (int32_t x = 0; x < v->box.w; x++) {
        int32_t y = curve_y(v, x), from = x == 0 ? y : before;
        int32_t low = from < y ? from : y, high = from < y ? y : from;
        before = y;
        /* What rises and falls between two columns stays whole, whatever the dashes. */
        if (!is_on(x, v->dash, u) && high - low < u)
            continue;
        for (int32_t at = low; at < high + u; at++)
            if (is_on(at, v->dash, u) || (at >= y && at < y + u && is_on(x, v->dash, u)))
                dot(c, v->box.x + x, at - u / 2, v->colour);
    }
}

/* A bar of little is not none. */
static void bars(struct pen *pen, const struct pen_curve *v)
{
    for (int32_t x = 0; x < v->box.w; x++) {
        int32_t y = curve_y(v, x), bottom = v->box.y + v->box.h;
        y = v->value[x] > v->y0 && y >= bottom ? bottom - 1 : y;
        fill(pen, (struct pen_box){ v->box.x + x, y, 1, bottom - y }, v->colour);
    }
}

static void flag(struct pen *pen, int32_t x, int32_t y, uint32_t colour)
{
    struct canvas *c = (struct canvas *)pen;
    int32_t u = pen->unit;
    for (int32_t row = 0; row < 8 * u; row++)
        for (int32_t i = -row * 5 / 8; i <= row * 5 / 8; i++)
            dot(c, x + i, y - 1 - row, colour);
}

/* A dot of a letter, `u` pixels wide, along the line or up it. */
static void letter_dot(struct canvas *c, const struct pen_text *how, int32_t along, int32_t down,
                       uint32_t colour, int32_t more)
{
    int32_t u = c->pen.unit;
    for (int32_t i = -more; i < u + more; i++)
        for (int32_t k = -more; k < u + more; k++)
            if (how->upwards)
                dot(c, how->x + down * u + k, how->y - along * u - i, colour);
            else
                dot(c, how->x + along * u + i, how->y + down * u + k, colour);
}

static void letters(struct canvas *c, const struct pen_text *how, str text, uint32_t colour,
                    int32_t more)
{
    uint32_t point;
    for (int32_t at = 0; text.len > 0; at += FONT_ADVANCE + how->bold) {
        size_t len = utf8_decode(text, &point);
        text = (str){ text.ptr + len, text.len - len };
        for (uint32_t y = 0; y < FONT_HEIGHT; y++)
            for (uint32_t x = 0; x <= FONT_WIDTH; x++)
                if (font_dot(point, x, y) || (how->bold && x > 0 && font_dot(point, x - 1, y)))
                    letter_dot(c, how, at + (int32_t)x, (int32_t)y - FONT_ASCENT, colour, more);
    }
}

static int32_t width_of(const struct pen *pen, str text, bool bold)
{
    return (int32_t)utf8_count(text) * (FONT_ADVANCE + bold) * pen->unit;
}

static void text(struct pen *pen, const struct pen_text *how, str words)
{
    struct canvas *c = (struct canvas *)pen;
    struct pen_text at = *how;
    int32_t width = width_of(pen, words, how->bold);
    int32_t back = how->anchor == ANCHOR_LEFT ? 0 : how->anchor == ANCHOR_RIGHT ? width : width / 2;
    at.x -= how->upwards ? 0 : back;
    at.y += how->upwards ? back : 0;
    if (how->halo)
        letters(c, &at, words, pen->palette->ground, 2 * pen->unit - 1);
    letters(c, &at, words, how->colour, 0);
}

static void swatch(struct pen *pen, struct pen_box box, const struct scene_group *group)
{
    fill(pen, box, group->colour.rgb[pen->palette->dark]);
}

static enum vrs_status bands(struct pen *pen, const struct pen_bands *b, struct vrs_error *err)
{
    struct canvas *c = (struct canvas *)pen;
    struct pixels to = {
        .at = c->pixels + (size_t)b->box.y * (size_t)c->W + (size_t)b->box.x,
        .stride = (size_t)c->W,
        .W = b->view.W,
        .H = b->view.H,
    };
    (void)err;
    if (b->map != NULL)
        paint_map(&to, b->map, b->device, pen->palette);
    else
        paint_bands(&to, b->picture->ids, b->groups, b->device, pen->palette);
    return VRS_OK;
}

/* Where the plots stand and what they show, for programs that read the picture. */
static void put_plots(struct buf *to, const struct scene *scene, const struct picture_plot *plots)
{
    buf_format(to, "[");
    for (uint32_t i = 0; i < scene->devices; i++) {
        const struct picture_plot *p = &plots[i];
        if (p->box.w == 0)
            continue;
        buf_format(to, "%s{\"device\":\"", to->at[to->len - 1] == '}' ? "," : "");
        envelope_device_name(to, scene->device[i].name);
        buf_format(to, "\",\"x\":%d,\"y\":%d,\"w\":%d,\"h\":%d,", (int)p->box.x, (int)p->box.y,
                   (int)p->box.w, (int)p->box.h);
        buf_format(to, "\"from_state\":%.0f,\"to_state\":%.0f,", p->from, p->to);
        buf_text(to, "\"low_bytes\":");
        buf_real(to, p->y0, 17);
        buf_text(to, ",\"high_bytes\":");
        buf_real(to, p->y1, 17);
        buf_char(to, '}');
    }
    buf_text(to, "]");
}

static enum vrs_status write_file(struct out *out, const struct scene *scene,
                                  const struct canvas *c, const struct picture_plot *plots,
                                  struct vrs_error *err)
{
    struct buf title, words, json, tool;
    buf_init(&title, SIZE_MAX / 2);
    buf_init(&words, SIZE_MAX / 2);
    buf_init(&json, SIZE_MAX / 2);
    buf_init(&tool, SIZE_MAX / 2);
    picture_title(&title, scene);
    picture_describe(&words, scene);
    buf_char(&json, ' ');
    if (!json.failed)
        put_plots(&json, scene, plots);
    buf_format(&tool, "vramscope %s", scene->tool);
    bool failed = title.failed || words.failed || json.failed || tool.failed;
    const struct png_text texts[] = {
        { "Title", buf_slice(&title) },
        { "Description", buf_slice(&words) },
        { "Software", buf_slice(&tool) },
        { GENERATOR_MARK_PNG, buf_slice(&json) },
    };
    struct png png = { (uint32_t)c->W, (uint32_t)c->H, c->pixels, texts, 4 };
    enum vrs_status status = failed ? vrs_no_memory(err) : png_write(out, &png, err);
    buf_free(&title);
    buf_free(&words);
    buf_free(&json);
    buf_free(&tool);
    return status;
}

static enum vrs_status draw(struct out *out, const struct scene *scene, struct picture_size size,
                            struct canvas *c, struct vrs_error *err)
{
    struct picture_plot *plots = arena_array(c->pen.arena, struct picture_plot, scene->devices);
    c->pixels = arena_array(c->pen.arena, uint32_t, (size_t)size.W * size.H);
    if (plots == NULL || c->pixels == NULL)
        return vrs_no_memory(err);
    TRY(picture_draw(scene, size, &c->pen, plots, err));
    return write_file(out, scene, c, plots, err);
}

enum vrs_status picture_png(struct out *out, const struct scene *scene,
                            const struct picture_options *options, struct vrs_error *err)
{
    struct picture_size size = options->size.W > 0 ? options->size : picture_usual_size(scene);
    struct arena arena;
    TRY(picture_check(scene, size, err));
    arena_init(&arena, SIZE_MAX / 2);
    int32_t unit = picture_unit(scene, size);
    struct canvas c = {
        .pen = { .palette = palette_of(options->dark),
                 .unit = unit,
                 .advance = FONT_ADVANCE * unit,
                 .fill = fill,
                 .hatch = hatch,
                 .line = line,
                 .curve = curve,
                 .bars = bars,
                 .flag = flag,
                 .text = text,
                 .swatch = swatch,
                 .bands = bands,
                 .arena = &arena },
        .W = (int32_t)size.W,
        .H = (int32_t)size.H,
    };
    enum vrs_status status = draw(out, scene, size, &c, err);
    arena_free(&arena);
    return status;
}
