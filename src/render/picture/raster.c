/* raster.c - rasterises by running sums: a column of pixels for each state, rows in blocks. */
#include "render/picture/raster.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Neighbours in stack order that are laid together, as in the page; each gives the same picture. */
enum { BLOCK = 16 };

struct scale {
    double y0, k, H;
};

static struct scale scale_of(const struct raster_view *v)
{
    return (struct scale){ v->y0, v->y1 > v->y0 ? v->H / (v->y1 - v->y0) : 0, v->H };
}

/* Pixel rows from the bottom that lie below a sum: floor(sum * k + 1/2), within the picture. */
static uint32_t edge_at(double sum, const struct scale *scale)
{
    double y = (sum - scale->y0) * scale->k + 0.5;
    return y <= 0 ? 0 : (uint32_t)(y >= scale->H ? scale->H : y);
}

/* A sum below which the edge is surely not above `edge`: less than the exact one by more than what
 * rounding can do, so that most sums need only be compared. */
static double bound_above(uint32_t edge, const struct scale *scale)
{
    if (edge >= scale->H || scale->k == 0)
        return INFINITY;
    double bytes = (edge + 0.5) / scale->k;
    return scale->y0 + bytes - 1 - ((scale->y0 < 0 ? -scale->y0 : scale->y0) + bytes) * 4e-15;
}

enum vrs_status raster_curve(const struct raster_rows *rows, struct arena *arena, double **ret,
                             struct vrs_error *err)
{
    double *curve = arena_array(arena, double, rows->states), sum = 0;
    if (curve == NULL)
        return vrs_no_memory(err);
    curve[0] = rows->adjust;
    for (uint32_t i = 0; i < rows->rows; i++) {
        curve[rows->born[i]] += rows->bytes[i];
        if (rows->end[i] < rows->states)
            curve[rows->end[i]] -= rows->bytes[i];
    }
    for (uint32_t p = 0; p < rows->states; p++) {
        sum += curve[p];
        curve[p] = sum;
    }
    *ret = curve;
    return VRS_OK;
}

/* The whole part of a place among the states, at most `most`. */
static uint32_t whole(double place, uint32_t most)
{
    return place <= 0 ? 0 : place >= most ? most : (uint32_t)place;
}

void raster_shown(const double *curve, uint32_t states, double v0, double v1, uint32_t W,
                  uint32_t *shown)
{
    for (uint32_t c = 0; c < W; c++) {
        uint32_t best = whole(v0 + (v1 - v0) * c / W, states - 1);
        uint32_t past = whole(v0 + (v1 - v0) * (c + 1.0) / W, states);
        for (uint32_t p = best + 1; p < past; p++)
            if (curve[p] > curve[best])
                best = p;
        shown[c] = best;
    }
}

void raster_churn(const struct raster_rows *rows, double v0, double v1, uint32_t W, double *churn)
{
    uint32_t c = 0, from = whole(v0, rows->states), past = whole(v0 + (v1 - v0) / W, rows->states);
    for (uint32_t i = 0; i < W; i++)
        churn[i] = 0;
    for (uint32_t i = 0; i < rows->rows && c < W; i++) {
        for (; c < W && rows->born[i] >= past; c++) {
            from = past;
            past = whole(v0 + (v1 - v0) * (c + 2.0) / W, rows->states);
        }
        /* What is older was allocated by nobody that is seen. */
        if (c < W && rows->born[i] >= from && rows->born[i] > 0)
            churn[c] += rows->bytes[i];
    }
}

uint32_t raster_first_column(const struct raster_view *view, uint32_t p)
{
    uint32_t low = 0, high = view->W;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->shown[middle] < p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The visible rows in stack order, with the columns [first, past) in which each is alive. */
struct seen {
    uint32_t *id;
    uint16_t *first, *past;
    uint32_t n;
};

static enum vrs_status find_seen(const struct raster_rows *r, const struct raster_view *v,
                                 struct arena *arena, struct seen *ret, struct vrs_error *err)
{
    struct seen seen = {
        .id = arena_array(arena, uint32_t, r->rows),
        .first = arena_array(arena, uint16_t, r->rows),
        .past = arena_array(arena, uint16_t, r->rows),
    };
    if (seen.id == NULL || seen.first == NULL || seen.past == NULL)
        return vrs_no_memory(err);
    uint32_t v0 = v->shown[0], v1 = v->shown[v->W - 1];
    for (uint32_t i = 0; i < r->rows; i++) {
        uint32_t row = v->order == NULL ? i : v->order[i];
        if (r->end[row] <= v0 || r->born[row] > v1)
            continue;
        uint32_t first = raster_first_column(v, r->born[row]);
        if (r->end[row] <= v->shown[first])
            continue;
        seen.id[seen.n] = row;
        seen.first[seen.n] = (uint16_t)first;
        seen.past[seen.n++] = (uint16_t)raster_first_column(v, r->end[row]);
    }
    *ret = seen;
    return VRS_OK;
}

/* A picture that grows, and for each column the edge it has reached. */
struct laying {
    const struct raster_rows *rows;
    struct scale scale;
    uint32_t W, H;
    int32_t *ids;
    double *sums, *change, *bounds;
    uint32_t *edges;
};

static enum vrs_status begin(const struct raster_rows *rows, const struct raster_view *v,
                             struct arena *arena, struct laying *ret, struct vrs_error *err)
{
    struct laying l = {
        .rows = rows,
        .scale = scale_of(v),
        .W = v->W,
        .H = v->H,
        .ids = arena_array(arena, int32_t, (size_t)v->W * v->H),
        .sums = arena_array(arena, double, v->W),
        .change = arena_array(arena, double, v->W + 1u),
        .bounds = arena_array(arena, double, v->W),
        .edges = arena_array(arena, uint32_t, v->W),
    };
    if (l.ids == NULL || l.sums == NULL || l.change == NULL || l.bounds == NULL || l.edges == NULL)
        return vrs_no_memory(err);
    for (size_t i = 0; i < (size_t)v->W * v->H; i++)
        l.ids[i] = RASTER_NONE;
    for (uint32_t c = 0; c < v->W; c++) {
        l.sums[c] = rows->adjust;
        l.edges[c] = edge_at(l.sums[c], &l.scale);
        l.bounds[c] = bound_above(l.edges[c], &l.scale);
    }
    *ret = l;
    return VRS_OK;
}

static void fill_column(struct laying *l, uint32_t c, uint32_t from, uint32_t to, int32_t id)
{
    for (uint32_t y = from; y < to; y++)
        l->ids[(size_t)(l->H - 1 - y) * l->W + c] = id;
}

/* Rows from `from` on, `n` of them, that are laid together. */
struct block {
    const struct seen *seen;
    uint32_t from, n, low, high;
};

/* Adds their changes to `change`; the columns they reach. */
static void take_block(struct laying *l, struct block *b)
{
    const struct seen *seen = b->seen;
    b->n = seen->n - b->from < BLOCK ? seen->n - b->from : BLOCK;
    b->low = seen->first[b->from];
    b->high = seen->past[b->from];
    for (uint32_t i = b->from; i < b->from + b->n; i++) {
        double bytes = l->rows->bytes[seen->id[i]];
        b->low = seen->first[i] < b->low ? seen->first[i] : b->low;
        b->high = seen->past[i] > b->high ? seen->past[i] : b->high;
        l->change[seen->first[i]] += bytes;
        l->change[seen->past[i]] -= bytes;
    }
}

/* Lays the rows of a block one by one in column `c`, whose sum before them is `sum`. */
static void resolve(struct laying *l, const struct block *b, uint32_t c, double sum)
{
    const struct seen *seen = b->seen;
    uint32_t edge = l->edges[c];
    double bound = l->bounds[c];
    for (uint32_t i = b->from; i < b->from + b->n; i++) {
        if (c < seen->first[i] || c >= seen->past[i])
            continue;
        sum += l->rows->bytes[seen->id[i]];
        if (sum < bound)
            continue;
        uint32_t next = edge_at(sum, &l->scale);
        if (next > edge)
            fill_column(l, c, edge, next, (int32_t)seen->id[i]);
        edge = next;
        bound = bound_above(edge, &l->scale);
    }
    l->edges[c] = edge;
    l->bounds[c] = bound;
}

/* Adds a block to the sums; only where they may pass a pixel is it resolved. */
static void lay_block(struct laying *l, const struct block *b)
{
    double run = 0;
    for (uint32_t c = b->low; c < b->high; c++) {
        run += l->change[c];
        l->change[c] = 0;
        if (run == 0)
            continue;
        double before = l->sums[c], sum = before + run;
        l->sums[c] = sum;
        if (sum >= l->bounds[c])
            resolve(l, b, c, before);
    }
    l->change[b->high] = 0;
}

enum vrs_status raster_picture(const struct raster_rows *rows, const struct raster_view *view,
                               struct arena *arena, struct raster_picture *ret,
                               struct vrs_error *err)
{
    struct laying l;
    struct seen seen;
    TRY(find_seen(rows, view, arena, &seen, err));
    TRY(begin(rows, view, arena, &l, err));
    struct block block = { .seen = &seen };
    for (; block.from < seen.n; block.from += BLOCK) {
        take_block(&l, &block);
        lay_block(&l, &block);
    }
    *ret = (struct raster_picture){ .ids = l.ids, .sums = l.sums };
    return VRS_OK;
}

enum vrs_status raster_group_sums(const struct raster_rows *rows,
                                  const struct raster_groups *groups,
                                  const struct raster_view *view, struct arena *arena, double **ret,
                                  struct vrs_error *err)
{
    struct raster_view as_they_are = *view;
    struct seen seen;
    uint32_t W = view->W;
    as_they_are.order = NULL;
    TRY(find_seen(rows, &as_they_are, arena, &seen, err));
    double *sums = arena_take_array(arena, (size_t)groups->groups * W, sizeof *sums);
    if (sums == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < seen.n; i++) {
        uint32_t row = seen.id[i];
        double *of = sums + (size_t)groups->of[row] * W;
        of[seen.first[i]] += rows->bytes[row];
        if (seen.past[i] < W)
            of[seen.past[i]] -= rows->bytes[row];
    }
    for (uint32_t g = 0; g < groups->groups; g++) {
        double *of = sums + (size_t)g * W, run = 0;
        for (uint32_t c = 0; c < W; c++) {
            run += of[c];
            of[c] = run;
        }
    }
    *ret = sums;
    return VRS_OK;
}

enum vrs_status raster_groups_picture(const struct raster_rows *rows,
                                      const struct raster_groups *groups,
                                      const struct raster_view *view, struct arena *arena,
                                      struct raster_picture *ret, struct vrs_error *err)
{
    struct laying l;
    double *parts;
    TRY(raster_group_sums(rows, groups, view, arena, &parts, err));
    TRY(begin(rows, view, arena, &l, err));
    for (uint32_t i = 0; i < groups->groups; i++) {
        uint32_t g = groups->bands[i];
        for (uint32_t c = 0; c < l.W; c++) {
            double part = parts[(size_t)g * l.W + c];
            if (part == 0)
                continue;
            uint32_t from = edge_at(l.sums[c], &l.scale);
            l.sums[c] += part;
            fill_column(&l, c, from, edge_at(l.sums[c], &l.scale), (int32_t)g);
        }
    }
    *ret = (struct raster_picture){ .ids = l.ids, .sums = l.sums, .parts = parts };
    return VRS_OK;
}
