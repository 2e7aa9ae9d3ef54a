/* picture_parts.c - axes, steps, legend, and names on the bands. */
#include "render/picture/picture_parts.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"
#include "render/picture/palette.h"
#include "render/picture/pen.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"
#include "render/write/human.h"
#include "render/write/ticks.h"

void end_text(const struct text_context *s, struct buf *text)
{
    s->pen->failed = s->pen->failed || text->failed;
    buf_free(text);
}

int32_t text_width(const struct text_context *s, str text)
{
    size_t letters = utf8_count(text);
    return (int32_t)(letters < 4096 ? letters : 4096) * s->pen->advance;
}

void put_how(const struct text_context *s, const struct pen_text *how, str text)
{
    if (text.len > 0)
        s->pen->text(s->pen, how, text);
}

static void put_text(const struct text_context *s, int32_t x, int32_t y, enum pen_anchor anchor,
                     uint32_t colour, const char *text)
{
    struct pen_text how = { .x = x, .y = y, .anchor = anchor, .colour = colour };
    put_how(s, &how, str_from(text));
}

void put_fitting(const struct text_context *s, const struct pen_text *how, str text, int32_t width)
{
    int32_t room = width / s->pen->advance;
    struct buf cut;
    if (room < 1)
        return;
    if (utf8_count(text) <= (size_t)room) {
        put_how(s, how, text);
        return;
    }
    buf_init(&cut, SIZE_MAX / 2);
    size_t len = 0;
    for (uint32_t point; room > 1 && len < text.len; room--)
        len += utf8_decode((str){ text.ptr + len, text.len - len }, &point);
    buf_bytes(&cut, text.ptr, len);
    buf_text(&cut, "…");
    put_how(s, how, buf_slice(&cut));
    end_text(s, &cut);
}

int32_t place_x(const struct picture_plot *plot, double state)
{
    double x = (state - plot->from) * plot->box.w / (plot->to - plot->from);
    double most = plot->box.w;
    return plot->box.x + (int32_t)(x < 0 ? 0 : x > most ? most : x);
}

int32_t place_y(const struct picture_plot *plot, double bytes)
{
    double y = (bytes - plot->y0) * plot->box.h / (plot->y1 - plot->y0) + 0.5;
    double most = plot->box.h;
    return plot->box.y + plot->box.h - (int32_t)(y < 0 ? 0 : y > most ? most : y);
}

void put_state_name(struct buf *to, uint32_t state)
{
    if (state == 0)
        buf_text(to, "the start");
    else
        buf_format(to, "event %u", (unsigned)(state - 1));
}

void put_bytes(struct buf *to, double bytes)
{
    double most = 9e18;
    human_bytes(to, (int64_t)(bytes > most ? most : bytes < -most ? -most : bytes));
}

/* Rows of addresses, with their sizes where there is room. */
static void draw_map_axis(const struct text_context *s, const struct panel *p)
{
    const struct pen_box *b = &p->plot->box;
    int32_t free = b->y + b->h + 1;
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    for (uint32_t i = 0; i < p->rows.rows; i++) {
        const struct map_row *row = &p->rows.at[i];
        int32_t y = b->y + (int32_t)(row->top * b->h / p->plot->y1);
        int32_t h = (int32_t)(row->bytes * b->h / (p->plot->y1 - p->plot->y0));

        if (h >= 2)
            s->pen->line(s->pen, b->x, y, b->x + b->w, y, s->palette->line, DASH_NONE);
        if (h < 4 || (i > 0 && y < free))
            continue;
        text.len = 0;
        put_bytes(&text, row->bytes);
        struct pen_text how = { p->axis_x - 6 * s->u,
                                y + 10 * s->u,
                                ANCHOR_RIGHT,
                                s->palette->muted,
                                false,
                                false,
                                false };
        put_how(s, &how, buf_slice(&text));
        free = y + 14 * s->u;
    }
    end_text(s, &text);
}

static void draw_byte_axis(const struct text_context *s, const struct panel *p)
{
    const struct pen_box *b = &p->plot->box;
    struct tick ticks[TICKS_MOST];
    uint32_t most = (uint32_t)(b->h / (36 * s->u));
    uint32_t n = ticks_bytes(p->plot->y0, p->plot->y1, most < 2 ? 2 : most, ticks);
    for (uint32_t i = 0; i < n; i++) {
        int32_t y = place_y(p->plot, ticks[i].value);
        s->pen->line(s->pen, p->axis_x - 4 * s->u, y, p->axis_x, y, s->palette->control, DASH_NONE);
        if (ticks[i].value != 0)
            s->pen->line(s->pen, b->x, y, b->x + b->w, y, s->palette->line, DASH_NONE);
        put_text(s, p->axis_x - 7 * s->u, y + 4 * s->u, ANCHOR_RIGHT, s->palette->muted,
                 ticks[i].text);
    }
    if (p->plot->y0 < 0) {
        int32_t y = place_y(p->plot, 0);
        s->pen->line(s->pen, b->x, y, b->x + b->w, y, s->palette->control, DASH_NONE);
    }
}

void draw_axes(const struct text_context *s, const struct panel *p)
{
    const struct pen_box *b = &p->plot->box;
    if (s->scene->asked.view == SCENE_MAP)
        draw_map_axis(s, p);
    else
        draw_byte_axis(s, p);
    if (p->axis_y == 0)
        return;
    int32_t y = p->axis_y, late = b->x + b->w - 60 * s->u;
    if (!p->d->traced) {
        put_text(s, b->x + b->w / 2, y + 12 * s->u, ANCHOR_MIDDLE, s->palette->muted,
                 "final state only: no history was recorded");
        return;
    }
    struct tick ticks[TICKS_MOST];
    uint32_t most = (uint32_t)(b->w / (80 * s->u));
    uint32_t n = ticks_count(p->plot->from, p->plot->to, most < 2 ? 2 : most, ticks);
    for (uint32_t i = 0; i < n; i++) {
        int32_t x = place_x(p->plot, ticks[i].value);
        s->pen->line(s->pen, x, y, x, y + 4 * s->u, s->palette->control, DASH_NONE);
        if (x < late)
            put_text(s, x, y + 14 * s->u, ANCHOR_MIDDLE, s->palette->muted, ticks[i].text);
    }
    put_text(s, b->x + b->w, y + 14 * s->u, ANCHOR_RIGHT, s->palette->muted, "events");
}

static bool is_in_plot(const struct panel *p, uint32_t first, uint32_t last)
{
    return last >= p->plot->from && first < p->plot->to;
}

static bool step_is_shown(const struct panel *p, const struct scene_step *step)
{
    return is_in_plot(p, step->first, step->last);
}

/* Pixels of a step, on average over those that are shown; 0: none is. */
static int32_t step_width(const struct panel *p)
{
    uint32_t shown = 0;
    int32_t left = p->plot->box.w, right = 0;
    for (uint32_t i = 0; i < p->d->steps; i++) {
        const struct scene_step *step = &p->d->step[i];
        if (!step_is_shown(p, step))
            continue;
        int32_t a = place_x(p->plot, step->first), b = place_x(p->plot, step->last + 1.0);
        left = shown == 0 || a < left ? a : left;
        right = b > right ? b : right;
        shown++;
    }
    return shown == 0 ? 0 : (right - left) / (int32_t)shown;
}

/* The part of a row that states stand over, `odd` ones in another shade. */
static struct pen_box draw_span(const struct text_context *s, const struct panel *p, uint32_t first,
                                uint32_t last, int32_t y, bool odd, bool bordered)
{
    int32_t left = place_x(p->plot, first), right = place_x(p->plot, last + 1.0);
    struct pen_box box = { left, y, right - left, 12 * s->u };
    s->pen->fill(s->pen, box, odd ? s->palette->raised : s->palette->free);
    if (bordered)
        s->pen->line(s->pen, left, box.y, left, box.y + box.h, s->palette->control, DASH_NONE);
    return box;
}

static void draw_step(const struct text_context *s, const struct panel *p,
                      const struct scene_step *step, bool odd, bool bordered)
{
    (void)draw_span(s, p, step->first, step->last, p->steps_y, odd, bordered);
}

/* Every so many steps have room for a name. */
static uint32_t named_steps(const struct text_context *s, int32_t width)
{
    static const uint32_t every[] = { 1, 2, 5, 10, 20, 50 };
    uint32_t i = 0;
    while (i < 5 && width * (int32_t)every[i] < 24 * s->u)
        i++;
    return every[i];
}

/* The names of those steps. */
static void name_steps(const struct text_context *s, const struct panel *p, int32_t width,
                       uint32_t every)
{
    int32_t right = p->plot->box.x + p->plot->box.w;
    for (uint32_t i = every - 1; i < p->d->steps; i += every) {
        struct buf name;
        if (!step_is_shown(p, &p->d->step[i]))
            continue;
        buf_init(&name, SIZE_MAX / 2);
        buf_format(&name, "%s%u", width >= 9 * s->pen->advance ? "step " : "", (unsigned)(i + 1));
        struct pen_text how = { .x = place_x(p->plot, p->d->step[i].first) + 4 * s->u,
                                .y = p->steps_y + 10 * s->u,
                                .colour = s->palette->muted };
        if (how.x + text_width(s, buf_slice(&name)) <= right)
            put_how(s, &how, buf_slice(&name));
        end_text(s, &name);
    }
}

void draw_steps(const struct text_context *s, const struct panel *p)
{
    int32_t width = p->steps_y == 0 ? 0 : step_width(p);
    if (p->steps_y == 0 || p->d->steps == 0)
        return;
    /* Steps so narrow that their borders would be all there is to see are one band. */
    if (width < 4 * s->u) {
        struct scene_step all = { p->d->step[0].first, p->d->step[p->d->steps - 1].last };
        struct buf name;
        buf_init(&name, SIZE_MAX / 2);
        buf_format(&name, "%u steps", (unsigned)p->d->steps);
        struct pen_text how = { .x = place_x(p->plot, all.first) + 4 * s->u,
                                .y = p->steps_y + 10 * s->u,
                                .colour = s->palette->muted };
        if (step_is_shown(p, &all)) {
            draw_step(s, p, &all, false, true);
            put_how(s, &how, buf_slice(&name));
        }
        end_text(s, &name);
        return;
    }
    uint32_t every = named_steps(s, width);
    for (uint32_t i = 0; i < p->d->steps; i++)
        if (step_is_shown(p, &p->d->step[i]))
            draw_step(s, p, &p->d->step[i], i % 2 == 1, (i + 1) % every == 0);
    name_steps(s, p, width, every);
}

/* Phases follow one another; those too narrow for their borders stay out. */
void draw_phases(const struct text_context *s, const struct panel *p)
{
    enum { NARROW = 3, LETTERS_LEAST = 4 };
    for (uint32_t i = 0; p->phases_y != 0 && i < p->d->phases; i++) {
        const struct scene_phase *phase = &p->d->phase[i];
        int32_t width = place_x(p->plot, phase->last + 1.0) - place_x(p->plot, phase->first);
        if (!is_in_plot(p, phase->first, phase->last) || width < NARROW * s->u)
            continue;
        struct pen_box box =
            draw_span(s, p, phase->first, phase->last, p->phases_y, i % 2 == 1, true);
        struct pen_text how = { .x = box.x + 4 * s->u,
                                .y = box.y + 10 * s->u,
                                .colour = s->palette->muted };
        if (box.w - 6 * s->u >= LETTERS_LEAST * s->pen->advance)
            put_fitting(s, &how, str_from(phase->name), box.w - 6 * s->u);
    }
}

/* What was allocated in each column, on a scale of its own: also what no column shows alive. */
enum vrs_status draw_churn(const struct text_context *s, const struct panel *p)
{
    if (p->churn_y == 0)
        return VRS_OK;
    struct pen_box box = { p->plot->box.x, p->churn_y, p->plot->box.w, CHURN_HEIGHT * s->u };
    double *churn = arena_array(s->pen->arena, double, p->view.W), most = 1;
    if (churn == NULL)
        return vrs_no_memory(s->err);
    raster_churn(&p->d->rows, p->plot->from, p->plot->to, p->view.W, churn);
    for (uint32_t c = 0; c < p->view.W; c++)
        most = churn[c] > most ? churn[c] : most;
    struct pen_curve bars = { .box = box, .value = churn, .y1 = most, .colour = s->palette->muted };
    s->pen->bars(s->pen, &bars);
    put_text(s, p->axis_x - 7 * s->u, box.y + box.h / 2 + 4 * s->u, ANCHOR_RIGHT, s->palette->muted,
             "churn");
    return VRS_OK;
}

/* A row of the legend: groups, what has no group, lines, a sum. */
struct entry {
    str name;
    const struct scene_group *group; /* NULL: none */
    double bytes;
    enum pen_dash dash; /* of a line, where is_line */
    bool is_line, is_total, is_hatched;
};

static void draw_entry(const struct text_context *s, const struct panel *p, const struct entry *e,
                       int32_t y)
{
    int32_t u = s->u, left = p->legend.x, right = left + p->legend.w;
    double total = p->d->requested[p->d->cursor];
    struct pen_box swatch = { left, y - 9 * u, 10 * u, 10 * u };
    struct buf text;
    /* In pixels each of the rest has a colour of its own. */
    if (e->group != NULL && (s->pen->areas || !e->group->is_rest))
        s->pen->swatch(s->pen, swatch, e->group);
    if (e->is_hatched)
        s->pen->hatch(s->pen, swatch);
    else if (e->is_line)
        s->pen->line(s->pen, left, y - 4 * u, left + 10 * u, y - 4 * u,
                     e->is_total ? s->palette->text : s->palette->muted, e->dash);
    bool empty = e->bytes == 0 && !e->is_total;
    uint32_t colour = empty || (e->is_line && !e->is_total) ? s->palette->muted : s->palette->text;
    struct pen_text how = { .x = left + 15 * u, .y = y, .colour = colour, .bold = e->is_total };
    put_fitting(s, &how, e->name, p->legend.w - 15 * u - 20 * s->pen->advance);
    buf_init(&text, SIZE_MAX / 2);
    put_bytes(&text, e->bytes);
    how.x = right - 8 * s->pen->advance;
    how.anchor = ANCHOR_RIGHT;
    put_how(s, &how, buf_slice(&text));
    text.len = 0;
    /* Where bytes are missing below, a part may be more than the sum. */
    if ((!e->is_line || e->is_total) && total > 0 && e->bytes >= 0 && e->bytes <= total)
        human_share(&text, e->bytes / total);
    how.x = right;
    how.colour = s->palette->muted;
    how.bold = false;
    put_how(s, &how, buf_slice(&text));
    end_text(s, &text);
}

/* Is the group anywhere to be seen? */
static bool is_shown(const struct panel *p, uint32_t group)
{
    if (p->parts == NULL)
        return p->at[group] > 0;
    for (uint32_t c = 0; c < p->view.W; c++)
        if (p->parts[(size_t)group * p->view.W + c] != 0)
            return true;
    return false;
}

struct entries {
    struct entry *at;
    uint32_t count;
};

static void add_entry(struct entries *e, struct entry entry)
{
    e->at[e->count++] = entry;
}

/* Groups from the top of the stack. */
static void list_groups(const struct panel *p, struct entries *to)
{
    for (uint32_t i = p->d->shown.groups; i-- > 0;) {
        uint32_t g = p->d->shown.bands[i];
        const struct scene_group *group = &p->d->shown_group[g];
        if (is_shown(p, g))
            add_entry(to, (struct entry){ .name = group->name, .group = group, .bytes = p->at[g] });
    }
}

static void list_lines(const struct text_context *s, const struct panel *p, struct entries *to)
{
    const struct scene_device *d = p->d;
    uint32_t at = d->cursor;
    if (d->rows.adjust != 0)
        add_entry(to, (struct entry){
                          .name = S("unattributed"), .bytes = d->rows.adjust, .is_hatched = true });
    add_entry(to, (struct entry){ .name = d->start_known ? S("in use") : S("in use ≥"),
                                  .bytes = d->requested[at],
                                  .is_line = true,
                                  .is_total = true });
    add_entry(to, (struct entry){ .name = d->active_exact ? S("active") : S("~ active"),
                                  .bytes = d->active[at],
                                  .is_line = true,
                                  .dash = DASH_SHORT });
    if (d->reserved != NULL)
        add_entry(to, (struct entry){ .name = S("reserved"),
                                      .bytes = d->reserved[at],
                                      .is_line = true,
                                      .dash = DASH_DOTS });
    if (d->capacity > 0)
        add_entry(to, (struct entry){ .name = s->scene->asked.capacity > 0 ? S("capacity")
                                                                           : S("capacity ≥"),
                                      .bytes = d->capacity,
                                      .is_line = true,
                                      .dash = DASH_LONG });
}

static int by_bytes(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return str_compare(x->name, y->name);
}

/* Keeps the `most` largest; what is left out is one entry. */
static void fit_groups(struct entries *groups, uint32_t most, struct buf *more)
{
    struct entry rest = { 0 };
    if (groups->count <= most || most == 0)
        return;
    qsort(groups->at, groups->count, sizeof *groups->at, by_bytes);
    for (uint32_t i = most - 1; i < groups->count; i++)
        rest.bytes += groups->at[i].bytes;
    buf_format(more, "%u more", (unsigned)(groups->count - most + 1));
    rest.name = buf_slice(more);
    groups->at[most - 1] = rest;
    groups->count = most;
}

static void draw_heading(const struct text_context *s, const struct panel *p)
{
    struct buf text;
    int32_t y = p->legend.y + 10 * s->u, right = p->legend.x + p->legend.w;
    buf_init(&text, SIZE_MAX / 2);
    buf_text(&text, "at ");
    if (!p->d->traced)
        buf_text(&text, "the end");
    else if (p->d->at_peak)
        buf_text(&text, "the peak");
    else
        put_state_name(&text, p->d->cursor);
    struct pen_text how = { .x = p->legend.x, .y = y, .colour = s->palette->muted };
    put_how(s, &how, buf_slice(&text));
    put_text(s, right - 8 * s->pen->advance, y, ANCHOR_RIGHT, s->palette->muted, "bytes");
    put_text(s, right, y, ANCHOR_RIGHT, s->palette->muted, "share");
    s->pen->line(s->pen, p->legend.x, y + 4 * s->u, right, y + 4 * s->u, s->palette->line,
                 DASH_NONE);
    end_text(s, &text);
}

enum vrs_status draw_legend(const struct text_context *s, const struct panel *p)
{
    enum { LINE = 15, LINES_MOST = 6, HEAD = 20 };
    struct arena *arena = s->pen->arena;
    size_t most = (size_t)p->d->shown.groups + LINES_MOST;
    struct entries groups = { arena_array(arena, struct entry, most), 0 };
    struct entries lines = { arena_array(arena, struct entry, LINES_MOST), 0 };
    struct buf more;
    if (groups.at == NULL || lines.at == NULL)
        return vrs_no_memory(s->err);
    if (p->legend.w == 0)
        return VRS_OK;
    buf_init(&more, SIZE_MAX / 2);
    list_groups(p, &groups);
    list_lines(s, p, &lines);
    int32_t room = (p->legend.h - HEAD * s->u) / (LINE * s->u);
    /* The sum is more than the lines beneath it. */
    if (room < (int32_t)(lines.count + 3))
        lines.count = p->d->rows.adjust != 0 ? 2 : 1;
    int32_t left = room - (int32_t)lines.count;
    fit_groups(&groups, left > 0 ? (uint32_t)left : 1, &more);
    int32_t y = p->legend.y + (HEAD + 11) * s->u;
    draw_heading(s, p);
    for (uint32_t i = 0; i < groups.count; i++, y += LINE * s->u)
        draw_entry(s, p, &groups.at[i], y);
    s->pen->line(s->pen, p->legend.x, y - 10 * s->u, p->legend.x + p->legend.w, y - 10 * s->u,
                 s->palette->line, DASH_NONE);
    for (uint32_t i = 0; i < lines.count; i++, y += LINE * s->u)
        draw_entry(s, p, &lines.at[i], y + 3 * s->u);
    end_text(s, &more);
    return VRS_OK;
}

/* The window of `width` columns over which a band is high all along, rather in the middle. */
struct roomiest {
    double height, score; /* in pixels */
    int32_t x, y;
};

static struct roomiest find_room(const struct panel *p, const double *base, const double *part,
                                 int32_t width, double enough)
{
    const struct picture_plot *plot = p->plot;
    struct roomiest best = { 0 };
    double k = plot->box.h / (plot->y1 - plot->y0);
    for (int32_t from = 0; from + width <= (int32_t)p->view.W; from += 8) {
        double low = base[from], high = base[from] + part[from];
        for (int32_t c = from; c < from + width && high > low; c++) {
            low = base[c] > low ? base[c] : low;
            high = base[c] + part[c] < high ? base[c] + part[c] : high;
        }
        double height = (high - low) * k, aside = 2.0 * from + width - p->view.W;
        double score = (height < 3 * enough ? height : 3 * enough) -
                       (aside < 0 ? -aside : aside) * enough / p->view.W;
        if (height >= enough && (best.height == 0 || score > best.score))
            best = (struct roomiest){ height, score, plot->box.x + from + width / 2,
                                      place_y(plot, (high + low) / 2) };
    }
    return best;
}

static void draw_name(const struct text_context *s, const struct scene_group *group,
                      const struct roomiest *room)
{
    uint32_t ink = palette_ink(group->colour.rgb[s->palette->dark]);
    put_text(s, room->x, room->y + 4 * s->u, ANCHOR_MIDDLE, ink, group->name.ptr);
}

enum vrs_status draw_names(const struct text_context *s, const struct panel *p)
{
    const struct raster_groups *g = &p->d->shown;
    double *base = arena_array(s->pen->arena, double, p->view.W);
    if (base == NULL)
        return vrs_no_memory(s->err);
    for (uint32_t c = 0; c < p->view.W; c++)
        base[c] = p->d->rows.adjust;
    for (uint32_t i = 0; i < g->groups; i++) {
        const struct scene_group *group = &p->d->shown_group[g->bands[i]];
        const double *part = p->parts + (size_t)g->bands[i] * p->view.W;
        int32_t width = text_width(s, group->name) + 10 * s->u;
        struct roomiest room = { 0 };
        if (!group->is_rest && group->name.len > 0 && width <= (int32_t)p->view.W)
            room = find_room(p, base, part, width, 14 * s->u);
        if (room.height > 0)
            draw_name(s, group, &room);
        for (uint32_t c = 0; c < p->view.W; c++)
            base[c] += part[c];
    }
    return VRS_OK;
}
