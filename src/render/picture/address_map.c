/* address_map.c - ranges and blocks over pixels; how much of each they cover. */
#include "render/picture/address_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "base/table.h"
#include "render/picture/raster.h"

enum { UNIT = 512 };

static uint64_t lanes_of(const struct scene_range *r)
{
    uint64_t bytes = (uint64_t)r->bytes;
    return bytes / UNIT + (bytes % UNIT != 0);
}

/* Ranges by lane, then birth: what a search walks. */
struct sorted_range {
    uint32_t lane, born, end, range;
    uint64_t past, furthest; /* lanes: of it, of all up to it */
};

static int by_lane(const void *a, const void *b)
{
    const struct sorted_range *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return (x->range > y->range) - (x->range < y->range);
}

static struct sorted_range *sort_ranges(const struct scene_device *d, struct arena *arena,
                                        uint32_t *ret_count)
{
    struct sorted_range *list = arena_array(arena, struct sorted_range, d->ranges);
    uint32_t n = 0;
    for (uint32_t i = 0; list != NULL && i < d->ranges; i++) {
        const struct scene_range *r = &d->range[i];
        if (r->lane != UINT32_MAX && r->bytes > 0)
            list[n++] =
                (struct sorted_range){ r->lane, r->born, r->end, i, r->lane + lanes_of(r), 0 };
    }
    if (list != NULL && n > 1)
        qsort(list, n, sizeof *list, by_lane);
    for (uint32_t i = 0; list != NULL && i < n; i++) {
        uint64_t before = i == 0 ? 0 : list[i - 1].furthest;
        list[i].furthest = list[i].past > before ? list[i].past : before;
    }
    *ret_count = n;
    return list;
}

/* The range that maps a lane in a state, or NO_ROW. */
static uint32_t find_range(const struct sorted_range *list, uint32_t n, uint32_t lane,
                           uint32_t state)
{
    uint32_t above;
    SORTED_FIND(above, n,
                list[above].lane < lane || (list[above].lane == lane && list[above].born <= state));
    for (uint32_t i = above; i-- > 0 && list[i].furthest > lane;)
        if (list[i].past > lane && list[i].born <= state && list[i].end > state)
            return list[i].range;
    return NO_ROW;
}

enum vrs_status map_rows_make(const struct scene_device *d, struct arena *arena,
                              struct map_rows *ret, struct vrs_error *err)
{
    uint32_t n, rows = d->rows.rows;
    const struct sorted_range *list = sort_ranges(d, arena, &n);
    struct map_rows made = {
        .at = arena_array(arena, struct map_row, n),
        .row_of = arena_array(arena, uint32_t, d->ranges),
        .range_of = arena_array(arena, uint32_t, rows),
    };
    if (list == NULL || made.at == NULL || made.row_of == NULL || made.range_of == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < d->ranges; i++)
        made.row_of[i] = NO_ROW;
    for (uint32_t i = 0; i < n; i++) {
        struct map_row *row = made.rows == 0 ? NULL : &made.at[made.rows - 1];
        if (row == NULL || list[i].lane >= row->lane + row->lanes) {
            row = &made.at[made.rows++];
            row->lane = list[i].lane;
        }
        uint64_t lanes = list[i].past - row->lane;
        row->lanes = lanes > row->lanes ? lanes : row->lanes;
        made.row_of[list[i].range] = made.rows - 1;
    }
    for (uint32_t i = 0; i < made.rows; i++) {
        made.at[i].top = made.bytes;
        made.at[i].bytes = (double)made.at[i].lanes * UNIT;
        made.bytes += made.at[i].bytes;
    }
    for (uint32_t i = 0; i < rows; i++) {
        bool known = d->lane[i] != UINT32_MAX;
        made.range_of[i] = known ? find_range(list, n, d->lane[i], d->rows.born[i]) : NO_ROW;
    }
    *ret = made;
    return VRS_OK;
}

/* Pixel rows of a map: bound[p] is the first byte of row p, so a pixel covers whole bytes. */
struct grid {
    double *bound;
    double y0, rows; /* rows in a byte */
    uint32_t H;
};

static enum vrs_status make_grid(const struct raster_view *v, struct arena *arena, struct grid *ret,
                                 struct vrs_error *err)
{
    double *bound = arena_array(arena, double, v->H + 1u);
    if (bound == NULL)
        return vrs_no_memory(err);
    for (uint32_t p = 0; p <= v->H; p++)
        bound[p] = (double)(uint64_t)(v->y0 + (v->y1 - v->y0) * p / v->H);
    *ret = (struct grid){ bound, v->y0, v->H / (v->y1 - v->y0), v->H };
    return VRS_OK;
}

static uint32_t grid_at(const struct grid *g, double y)
{
    double place = (y - g->y0) * g->rows;
    uint32_t p = place <= 0 ? 0 : place >= g->H - 1 ? g->H - 1 : (uint32_t)place;
    while (p > 0 && g->bound[p] > y)
        p--;
    while (p < g->H - 1 && g->bound[p + 1] <= y)
        p++;
    return p;
}

/* What covers each pixel: the last id over its centre; bytes, as differences along a row, partial
 * pixels in `part`, whole ones in `full`, whose differences also run down. */
struct layer {
    int32_t *ids;
    double *part;
    int32_t *full;
    uint32_t W, H;
};

static enum vrs_status make_layer(const struct raster_view *v, struct arena *arena,
                                  struct layer *ret, struct vrs_error *err)
{
    size_t pixels = (size_t)v->W * v->H, cells = (size_t)(v->W + 1) * v->H;
    struct layer l = { arena_array(arena, int32_t, pixels), arena_array(arena, double, cells),
                       arena_array(arena, int32_t, cells), v->W, v->H };
    if (l.ids == NULL || l.part == NULL || l.full == NULL)
        return vrs_no_memory(err);
    for (size_t i = 0; i < pixels; i++)
        l.ids[i] = RASTER_NONE;
    *ret = l;
    return VRS_OK;
}

static void add_bytes(struct layer *l, uint32_t row, uint32_t c1, uint32_t c2, double bytes)
{
    size_t at = (size_t)row * (l->W + 1);
    l->part[at + c1] += bytes;
    l->part[at + c2] -= bytes;
}

static void add_rows(struct layer *l, uint32_t row, uint32_t c1, uint32_t c2, int32_t by)
{
    size_t at = (size_t)row * (l->W + 1);
    l->full[at + c1] += by;
    l->full[at + c2] -= by;
}

/* Bytes [y, past) in the columns [c1, c2). */
static void cover(struct layer *l, const struct grid *g, double y, double past, uint32_t c1,
                  uint32_t c2, uint32_t id)
{
    double from = y > g->bound[0] ? y : g->bound[0];
    double until = past < g->bound[g->H] ? past : g->bound[g->H];
    if (from >= until)
        return;
    uint32_t a = grid_at(g, from), b = until <= g->bound[a + 1] ? a : grid_at(g, until - 1);
    for (uint32_t p = a; p <= b; p++) {
        double centre = (g->bound[p] + g->bound[p + 1]) / 2;
        if (centre < from || centre >= until)
            continue;
        for (uint32_t c = c1; c < c2; c++)
            l->ids[(size_t)p * l->W + c] = (int32_t)id;
    }
    add_bytes(l, a, c1, c2, (until < g->bound[a + 1] ? until : g->bound[a + 1]) - from);
    if (a == b)
        return;
    add_bytes(l, b, c1, c2, until - g->bound[b]);
    if (b == a + 1)
        return;
    add_rows(l, a + 1, c1, c2, 1);
    add_rows(l, b, c1, c2, -1);
}

/* Fractions of each pixel's bytes, out of the differences; NULL: no memory. */
static float *fractions(const struct layer *l, const struct grid *g, struct arena *arena)
{
    float *out = arena_array(arena, float, (size_t)l->W * l->H);
    int32_t *whole = arena_array(arena, int32_t, l->W + 1u);
    if (out == NULL || whole == NULL)
        return NULL;
    for (uint32_t p = 0; p < l->H; p++) {
        double size = g->bound[p + 1] - g->bound[p], bytes = 0;
        int64_t count = 0;
        for (uint32_t c = 0; c < l->W; c++) {
            size_t at = (size_t)p * (l->W + 1) + c;
            bytes += l->part[at];
            whole[c] += l->full[at];
            count += whole[c];
            double got = (double)count * size + bytes;
            double part = size > 0 ? got / size : 0;
            out[(size_t)p * l->W + c] = (float)(part < 1 ? part : 1);
        }
    }
    return out;
}

/* How many allocations each range holds in each column, of those ranges that a pixel shows. */
struct tally {
    uint32_t *slot; /* of each range, plus 1; 0: none */
    int32_t *live;  /* W + 1 of each slot */
};

static enum vrs_status make_tally(const struct layer *under, uint32_t ranges, struct arena *arena,
                                  struct tally *ret, struct vrs_error *err)
{
    uint32_t slots = 0;
    struct tally t = { .slot = arena_array(arena, uint32_t, ranges) };
    if (t.slot == NULL)
        return vrs_no_memory(err);
    for (size_t i = 0; i < (size_t)under->W * under->H; i++)
        if (under->ids[i] >= 0 && t.slot[under->ids[i]] == 0)
            t.slot[under->ids[i]] = ++slots;
    t.live = arena_take_array(arena, (size_t)slots * (under->W + 1), sizeof *t.live);
    *ret = t;
    return t.live == NULL ? vrs_no_memory(err) : VRS_OK;
}

static void lay_ranges(const struct scene_device *d, const struct map_rows *rows,
                       const struct raster_view *v, const struct grid *g, struct layer *to)
{
    for (uint32_t i = 0; i < d->ranges; i++) {
        const struct scene_range *r = &d->range[i];
        if (rows->row_of[i] == NO_ROW)
            continue;
        uint32_t c1 = raster_first_column(v, r->born), c2 = raster_first_column(v, r->end);
        const struct map_row *row = &rows->at[rows->row_of[i]];
        double y = row->top + ((double)r->lane - row->lane) * UNIT;
        if (c1 < c2)
            cover(to, g, y, y + r->bytes, c1, c2, i);
    }
}

/* Where in the rows end to end an allocation lies that is shown. */
static double top_of(const struct scene_device *d, const struct map_rows *rows, uint32_t id)
{
    const struct map_row *row = &rows->at[rows->row_of[rows->range_of[id]]];
    return row->top + ((double)d->lane[id] - row->lane) * UNIT;
}

static void lay_allocations(const struct scene_device *d, const struct map_rows *rows,
                            const struct raster_view *v, const struct grid *g,
                            const struct tally *tally, struct layer *to)
{
    for (uint32_t i = 0; i < d->rows.rows && d->rows.born[i] <= v->shown[v->W - 1]; i++) {
        uint32_t range = rows->range_of[i];
        uint32_t c1 = raster_first_column(v, d->rows.born[i]);
        uint32_t c2 = raster_first_column(v, d->rows.end[i]);
        if (range == NO_ROW || c1 >= c2)
            continue;
        if (tally->slot[range] != 0) {
            int32_t *live = tally->live + (size_t)(tally->slot[range] - 1) * (v->W + 1);
            live[c1]++;
            live[c2]--;
        }
        double y = top_of(d, rows, i);
        cover(to, g, y, y + d->block[i], c1, c2, i);
    }
    for (uint32_t r = 0; r < d->ranges; r++)
        for (uint32_t c = 1; tally->slot[r] != 0 && c <= v->W; c++) {
            int32_t *live = tally->live + (size_t)(tally->slot[r] - 1) * (v->W + 1);
            live[c] += live[c - 1];
        }
}

/* Of an allocation over a pixel whose centre is that byte. */
static uint8_t place_in(const struct scene_device *d, const struct map_rows *rows, uint32_t id,
                        uint32_t state, double centre)
{
    uint32_t end = d->rows.end[id], wait = d->wait[id];
    if (wait > 0 && state >= end - wait)
        return PLACE_PENDING;
    return centre >= top_of(d, rows, id) + d->request[id] ? PLACE_SLACK : PLACE_USED;
}

/* Where no allocation is. */
static uint8_t place_of(const struct scene_device *d, const struct raster_view *v,
                        const struct tally *tally, int32_t range, uint32_t c)
{
    if (range < 0)
        return PLACE_UNMAPPED;
    if (d->range[range].held)
        return PLACE_HELD;
    size_t at = (size_t)(tally->slot[range] - 1) * (v->W + 1) + c;
    return tally->live[at] > 0 ? PLACE_STRANDED : PLACE_RETURNABLE;
}

enum vrs_status map_picture_make(const struct scene_device *d, const struct map_rows *rows,
                                 const struct raster_view *view, struct arena *arena,
                                 struct map_picture *ret, struct vrs_error *err)
{
    struct grid grid;
    struct layer under, over;
    struct tally tally = { 0 };
    TRY(make_grid(view, arena, &grid, err));
    TRY(make_layer(view, arena, &under, err));
    TRY(make_layer(view, arena, &over, err));
    lay_ranges(d, rows, view, &grid, &under);
    TRY(make_tally(&under, d->ranges, arena, &tally, err));
    lay_allocations(d, rows, view, &grid, &tally, &over);
    size_t pixels = (size_t)view->W * view->H;
    struct map_picture made = {
        .ids = over.ids,
        .places = arena_array(arena, uint8_t, pixels),
        .used = fractions(&over, &grid, arena),
        .mapped = fractions(&under, &grid, arena),
    };
    if (made.places == NULL || made.used == NULL || made.mapped == NULL)
        return vrs_no_memory(err);
    for (size_t i = 0; i < pixels; i++) {
        uint32_t c = (uint32_t)(i % view->W), p = (uint32_t)(i / view->W);
        double centre = (grid.bound[p] + grid.bound[p + 1]) / 2;
        made.places[i] = over.ids[i] < 0
                             ? place_of(d, view, &tally, under.ids[i], c)
                             : place_in(d, rows, (uint32_t)over.ids[i], view->shown[c], centre);
    }
    *ret = made;
    return VRS_OK;
}
