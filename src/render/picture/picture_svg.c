/* picture_svg.c - a picture as SVG: one path for each group, no script, nothing from elsewhere. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/timeline/timeline.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/generator_mark.h"
#include "base/str.h"
#include "render/picture/paint.h"
#include "render/picture/palette.h"
#include "render/picture/pen.h"
#include "render/picture/picture_layout.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"
#include "render/write/base64.h"
#include "render/write/markup.h"
#include "render/write/out.h"
#include "render/write/png.h"

enum { ADVANCE = 7 /* of letters at the size they have, about */, FONT_SIZE = 12 };

struct svg_context {
    struct pen pen; /* the first member: pens are sheets */
    struct out *out;
    bool detail;
};

static struct buf *text_of(struct pen *pen)
{
    struct svg_context *s = (struct svg_context *)pen;
    out_flush(s->out, OUT_ENOUGH);
    return &s->out->text;
}

static void fill(struct pen *pen, struct pen_box b, uint32_t colour)
{
    buf_format(text_of(pen),
               "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", (int)b.x,
               (int)b.y, (int)b.w, (int)b.h, (unsigned)colour);
}

static void hatch(struct pen *pen, struct pen_box b)
{
    fill(pen, b, pen->palette->free);
    buf_format(text_of(pen),
               "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"url(#free)\"/>\n",
               (int)b.x, (int)b.y, (int)b.w, (int)b.h);
}

static void put_stroke(struct buf *to, uint32_t colour, enum pen_dash dash, bool strong)
{
    static const char *const dashes[] = { "", "1.5 3", "6 4", "12 6" };
    buf_format(to, " stroke=\"#%06x\"", (unsigned)colour);
    if (dash != DASH_NONE)
        buf_format(to, " stroke-dasharray=\"%s\"", dashes[dash]);
    if (strong)
        buf_text(to, " stroke-width=\"1.5\"");
}

/* Half a pixel in, so that one pixel of width is one pixel. */
static void line(struct pen *pen, int32_t x1, int32_t y1, int32_t x2, int32_t y2, uint32_t colour,
                 enum pen_dash dash)
{
    struct buf *to = text_of(pen);
    buf_format(to, "<path d=\"M%d.5 %d.5%c%d.5\"", (int)x1, (int)y1, x2 > x1 ? 'H' : 'V',
               (int)(x2 > x1 ? x2 : y2));
    put_stroke(to, colour, dash, false);
    buf_text(to, "/>\n");
}

/* Tenths of a pixel. */
static void put_tenths(struct buf *to, double value)
{
    int64_t tenths = (int64_t)(value * 10 + (value < 0 ? -0.5 : 0.5));
    uint64_t n = tenths < 0 ? 0 - (uint64_t)tenths : (uint64_t)tenths;
    buf_format(to, "%s%llu", tenths < 0 ? "-" : "", (unsigned long long)(n / 10));
    if (n % 10 != 0)
        buf_format(to, ".%u", (unsigned)(n % 10));
}

static double curve_y(const struct pen_curve *v, int32_t x)
{
    double y = (v->value[x] - v->y0) * v->box.h / (v->y1 - v->y0), most = v->box.h;
    return v->box.y + v->box.h - (y < 0 ? 0 : y > most ? most : y);
}

static void curve(struct pen *pen, const struct pen_curve *v)
{
    struct buf *to = text_of(pen);
    buf_format(to, "<path d=\"M%d ", (int)v->box.x);
    put_tenths(to, curve_y(v, 0));
    for (int32_t x = 1; x < v->box.w; x++) {
        if (v->value[x] == v->value[x - 1])
            continue;
        buf_format(to, "H%dV", (int)(v->box.x + x));
        put_tenths(to, curve_y(v, x));
    }
    buf_format(to, "H%d\" fill=\"none\"", (int)(v->box.x + v->box.w));
    put_stroke(to, v->colour, v->dash, v->strong);
    buf_text(to, "/>\n");
}

static void bars(struct pen *pen, const struct pen_curve *v)
{
    struct buf *to = text_of(pen);
    int32_t bottom = v->box.y + v->box.h, from = v->box.x;
    buf_format(to, "<path d=\"M%d %d", (int)from, (int)bottom);
    for (int32_t x = 0; x < v->box.w; x++) {
        if (x > 0 && v->value[x] == v->value[x - 1])
            continue;
        if (x > 0)
            buf_format(to, "H%d", (int)(from + x));
        buf_char(to, 'V');
        put_tenths(to, curve_y(v, x));
    }
    buf_format(to, "H%dV%dz\" fill=\"#%06x\"/>\n", (int)(from + v->box.w), (int)bottom,
               (unsigned)v->colour);
}

static void flag(struct pen *pen, int32_t x, int32_t y, uint32_t colour)
{
    buf_format(text_of(pen), "<path d=\"M%d.5 %dl-5 -8h10z\" fill=\"#%06x\"/>\n", (int)x, (int)y,
               (unsigned)colour);
}

static void text(struct pen *pen, const struct pen_text *how, str words)
{
    static const char *const anchors[] = { "", " text-anchor=\"middle\"", " text-anchor=\"end\"" };
    struct buf *to = text_of(pen);
    buf_format(to, "<text x=\"%d\" y=\"%d\"%s fill=\"#%06x\"", (int)how->x, (int)how->y,
               anchors[how->anchor], (unsigned)how->colour);
    if (how->bold)
        buf_text(to, " font-weight=\"600\"");
    if (how->upwards)
        buf_format(to, " transform=\"rotate(-90 %d %d)\"", (int)how->x, (int)how->y);
    if (how->halo)
        buf_format(to, " stroke=\"#%06x\" stroke-width=\"3\" paint-order=\"stroke\"",
                   (unsigned)pen->palette->ground);
    buf_char(to, '>');
    markup_escaped(to, words);
    buf_text(to, "</text>\n");
}

static void swatch(struct pen *pen, struct pen_box box, const struct scene_group *group)
{
    fill(pen, box, group->colour.rgb[pen->palette->dark]);
}

/* The bytes beneath and with a band, column by column. */
struct area {
    const struct pen_bands *b;
    double *low, *high;
};

static void put_y(struct buf *to, const struct pen_bands *b, double bytes)
{
    double y = (bytes - b->view.y0) * b->box.h / (b->view.y1 - b->view.y0);
    put_tenths(to, b->box.y + b->box.h - y);
}

/* Its upper edge to the right, its lower one back; where it is nothing, nothing is drawn. */
static void put_area(struct buf *to, const struct area *a, const struct scene_group *group,
                     uint32_t colour)
{
    const struct pen_bands *b = a->b;
    uint32_t W = b->view.W;
    bool drawn = false;
    for (uint32_t from = 0, past; from < W; from = past) {
        past = from + 1;
        if (a->high[from] == a->low[from])
            continue;
        while (past < W && a->high[past] != a->low[past])
            past++;
        if (!drawn)
            buf_text(to, "<path d=\"");
        drawn = true;
        buf_format(to, "M%d ", (int)b->box.x + (int)from);
        put_y(to, b, a->high[from]);
        for (uint32_t c = from + 1; c < past; c++)
            if (a->high[c] != a->high[c - 1]) {
                buf_format(to, "H%dV", (int)b->box.x + (int)c);
                put_y(to, b, a->high[c]);
            }
        buf_format(to, "H%dV", (int)b->box.x + (int)past);
        put_y(to, b, a->low[past - 1]);
        for (uint32_t c = past - 1; c > from; c--)
            if (a->low[c] != a->low[c - 1]) {
                buf_format(to, "H%dV", (int)b->box.x + (int)c);
                put_y(to, b, a->low[c - 1]);
            }
        buf_format(to, "H%dz", (int)b->box.x + (int)from);
    }
    if (!drawn)
        return;
    buf_format(to, "\" fill=\"#%06x\" stroke=\"none\"><title>", (unsigned)colour);
    markup_escaped(to, group->name);
    buf_text(to, "</title></path>\n");
}

/* Groups as areas. */
static enum vrs_status put_areas(struct pen *pen, const struct pen_bands *b, struct vrs_error *err)
{
    const struct raster_groups *g = &b->device->shown;
    uint32_t W = b->view.W;
    struct area a = { b, arena_array(pen->arena, double, W), arena_array(pen->arena, double, W) };
    if (a.low == NULL || a.high == NULL)
        return vrs_no_memory(err);
    for (uint32_t c = 0; c < W; c++)
        a.high[c] = b->device->rows.adjust;
    for (uint32_t i = 0; i < g->groups; i++) {
        for (uint32_t c = 0; c < W; c++)
            a.low[c] = a.high[c];
        const struct scene_group *group = &b->device->shown_group[g->bands[i]];
        const double *part = b->parts + (size_t)g->bands[i] * W;
        for (uint32_t c = 0; c < W; c++)
            a.high[c] += part[c];
        put_area(text_of(pen), &a, group, group->colour.rgb[pen->palette->dark]);
    }
    return VRS_OK;
}

static bool append(void *arg, const char *bytes, size_t len)
{
    buf_bytes(arg, bytes, len);
    return !((struct buf *)arg)->failed;
}

/* The pixels of the plot, exactly. */
static enum vrs_status put_image(struct pen *pen, const struct pen_bands *b,
                                 const struct raster_picture *picture, struct vrs_error *err)
{
    uint32_t W = b->view.W, H = b->view.H;
    struct pixels to = { arena_array(pen->arena, uint32_t, (size_t)W * H), W, W, H };
    if (to.at == NULL)
        return vrs_no_memory(err);
    for (size_t i = 0; i < (size_t)W * H; i++)
        to.at[i] = pen->palette->ground;
    if (b->map != NULL)
        paint_map(&to, b->map, b->device, pen->palette);
    else
        paint_bands(&to, picture->ids, false, b->device, pen->palette);
    struct buf bytes;
    buf_init(&bytes, SIZE_MAX / 2);
    struct out png_out = { .write = append, .arg = &bytes };
    buf_init(&png_out.text, SIZE_MAX / 2);
    struct png png = { W, H, to.at, NULL, 0 };
    enum vrs_status status = out_finish(&png_out, png_write(&png_out, &png, err), err);
    if (status == VRS_OK) {
        struct buf *text = text_of(pen);
        buf_format(text, "<image x=\"%d\" y=\"%d\" width=\"%u\" height=\"%u\" href=\"",
                   (int)b->box.x, (int)b->box.y, (unsigned)W, (unsigned)H);
        buf_text(text, "data:image/png;base64,");
        base64_put(text, bytes.at, bytes.len);
        buf_text(text, "\"/>\n");
    }
    if (bytes.failed)
        status = vrs_no_memory(err);
    buf_free(&bytes);
    return status;
}

static enum vrs_status bands(struct pen *pen, const struct pen_bands *b, struct vrs_error *err)
{
    struct svg_context *s = (struct svg_context *)pen;
    if (!b->groups)
        return put_image(pen, b, b->picture, err);
    if (!s->detail)
        return put_areas(pen, b, err);
    struct raster_view view = b->view;
    struct raster_picture exact;
    view.order = b->device->order;
    TRY(raster_picture(&b->device->rows, &view, pen->arena, &exact, err));
    return put_image(pen, b, &exact, err);
}

static void put_head(struct pen *pen, const struct scene *scene, struct picture_size size)
{
    struct buf *to = text_of(pen), words;
    buf_format(to,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title "
               "desc\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
               "font-family=\"sans-serif\" font-size=\"%d\" fill=\"none\">\n<title id=\"title\">",
               (unsigned)size.W, (unsigned)size.H, (unsigned)size.W, (unsigned)size.H, FONT_SIZE);
    buf_init(&words, SIZE_MAX / 2);
    picture_title(&words, scene);
    markup_escaped(to, buf_slice(&words));
    buf_text(to, "</title>\n<desc id=\"desc\">");
    words.len = 0;
    picture_describe(&words, scene);
    markup_escaped(to, buf_slice(&words));
    buf_format(to,
               GENERATOR_MARK_SVG
               "%s.</desc>\n<defs>\n"
               "<pattern id=\"free\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
               "<path d=\"M-1 7L7 -1M-1 1L1 -1M5 7L7 5\" stroke=\"#%06x\"/></pattern>\n</defs>\n",
               scene->tool, (unsigned)pen->palette->hatch);
    buf_end(&words, to);
}

enum vrs_status picture_svg(struct out *out, const struct scene *scene,
                            const struct picture_options *options, struct vrs_error *err)
{
    struct picture_size size = options->size.W > 0 ? options->size : picture_usual_size(scene);
    struct arena arena;
    TRY(picture_check(scene, size, err));
    arena_init(&arena, SIZE_MAX / 2);
    struct svg_context drawn = {
        .pen = { .palette = palette_of(options->dark),
                 .unit = 1,
                 .advance = ADVANCE,
                 .areas = scene->asked.view == SCENE_GROUPS && !options->detail,
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
        .out = out,
        .detail = options->detail,
    };
    struct picture_plot *plots = arena_array(&arena, struct picture_plot, scene->devices);
    enum vrs_status status = VRS_OK;
    if (plots == NULL)
        status = vrs_no_memory(err);
    if (status == VRS_OK) {
        put_head(&drawn.pen, scene, size);
        status = picture_draw(scene, size, &drawn.pen, plots, err);
        buf_text(&out->text, "</svg>\n");
    }
    arena_free(&arena);
    return status;
}
