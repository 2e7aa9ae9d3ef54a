#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/fail.h"
#include "made/fault.h"
#include "render/picture/raster.h"

enum { ROWS = 400, STATES = 300, W = 61, H = 40, GROUPS = 5 };

/* Random lives, made the same way each time. */
static struct {
    uint32_t born[ROWS], end[ROWS], of[ROWS], bands[GROUPS], shown[W];
    double bytes[ROWS];
    struct raster_rows rows;
    struct raster_groups groups;
    struct arena arena;
    double *curve;
} made;

static uint32_t random_number(uint32_t *seed, uint32_t most)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*seed * most >> 32);
}

static void make(uint32_t seed, double adjust)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        made.born[i] = i * STATES / ROWS;
        made.end[i] = made.born[i] + 1 + random_number(&seed, i % 3 == 0 ? STATES : 20);
        made.end[i] = made.end[i] < STATES ? made.end[i] : STATES;
        made.bytes[i] = i % 7 == 0 ? 0 : (double)random_number(&seed, i % 5 == 0 ? 1 << 30 : 5000);
        made.of[i] = random_number(&seed, GROUPS);
    }
    for (uint32_t i = 0; i < GROUPS; i++)
        made.bands[i] = GROUPS - 1 - i;
    made.rows = (struct raster_rows){ ROWS, made.born, made.end, made.bytes, adjust, STATES };
    made.groups = (struct raster_groups){ made.of, GROUPS, made.bands };
    arena_init(&made.arena, SIZE_MAX / 2);
    assert_int_equal(raster_curve(&made.rows, &made.arena, &made.curve, NULL), VRS_OK);
}

static double sum_at(uint32_t state)
{
    double sum = made.rows.adjust;
    for (uint32_t i = 0; i < ROWS; i++)
        if (made.born[i] <= state && state < made.end[i])
            sum += made.bytes[i];
    return sum;
}

static void the_curve_is_the_sum_of_the_living(void **state)
{
    (void)state;
    make(1, 77);
    for (uint32_t p = 0; p < STATES; p++)
        assert_true(made.curve[p] == sum_at(p));
    arena_free(&made.arena);
}

static void columns_show_the_earliest_maximum(void **state)
{
    (void)state;
    const double curve[] = { 1, 3, 3, 2, 5, 4, 5, 5 };
    uint32_t shown[8];
    raster_shown(curve, 8, 0, 8, 2, shown);
    assert_int_equal(shown[0], 1);
    assert_int_equal(shown[1], 4);
    /* More columns than states, and a range that leaves the recording. */
    raster_shown(curve, 8, 6, 8, 4, shown);
    assert_true(shown[0] == 6 && shown[1] == 6 && shown[2] == 7 && shown[3] == 7);
    raster_shown(curve, 8, -4, 20, 3, shown);
    assert_true(shown[0] == 1 && shown[1] == 4 && shown[2] == 7);
}

/* floor(sum * k + 1/2) within the picture. */
static uint32_t edge_of(double sum, const struct raster_view *v)
{
    double k = v->y1 > v->y0 ? v->H / (v->y1 - v->y0) : 0, y = (sum - v->y0) * k + 0.5;
    return y <= 0 ? 0 : y >= v->H ? v->H : (uint32_t)y;
}

/* The rule in its plain form, column by column. */
static void check_plain(const struct raster_view *v)
{
    static int32_t ids[W * H];
    struct raster_picture picture;
    assert_int_equal(raster_picture(&made.rows, v, &made.arena, &picture, NULL), VRS_OK);
    memset(ids, 0xff, sizeof ids);
    for (uint32_t c = 0; c < v->W; c++) {
        double sum = made.rows.adjust;
        for (uint32_t i = 0; i < ROWS; i++) {
            uint32_t row = v->order == NULL ? i : v->order[i];
            if (made.born[row] > v->shown[c] || v->shown[c] >= made.end[row])
                continue;
            uint32_t from = edge_of(sum, v), to = edge_of(sum + made.bytes[row], v);
            sum += made.bytes[row];
            for (uint32_t y = from; y < to; y++)
                ids[(v->H - 1 - y) * v->W + c] = (int32_t)row;
        }
        assert_true(picture.sums[c] == sum && sum == made.curve[v->shown[c]]);
    }
    assert_memory_equal(picture.ids, ids, sizeof ids);
}

static void blocks_give_the_plain_picture(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 8; seed++) {
        uint32_t order[ROWS];
        make(seed, seed % 3 == 0 ? -5000.0 : seed * 100.0);
        for (uint32_t i = 0; i < ROWS; i++)
            order[i] = ROWS - 1 - i;
        raster_shown(made.curve, STATES, seed, STATES - 3.5, W, made.shown);
        struct raster_view v = { made.shown, W, H, 0, 2e9, NULL };
        check_plain(&v);
        v.y0 = 1e8;
        v.y1 = 5e8;
        check_plain(&v);
        v.order = order;
        check_plain(&v);
        v.y1 = v.y0;
        check_plain(&v);
        arena_free(&made.arena);
    }
}

static void groups_add_up(void **state)
{
    (void)state;
    struct raster_picture picture;
    make(3, 1000);
    raster_shown(made.curve, STATES, 0, STATES, W, made.shown);
    struct raster_view v = { made.shown, W, H, 0, 2e9, NULL };
    assert_int_equal(
        raster_groups_picture(&made.rows, &made.groups, &v, &made.arena, &picture, NULL), VRS_OK);
    for (uint32_t c = 0; c < W; c++) {
        double sum = made.rows.adjust;
        for (uint32_t g = 0; g < GROUPS; g++)
            sum += picture.parts[g * W + c];
        assert_true(sum == picture.sums[c] && sum == made.curve[made.shown[c]]);
        /* The first of the bands lies at the bottom. */
        int32_t before = -1;
        for (uint32_t y = H; y-- > 0 && picture.ids[y * W + c] >= 0;) {
            int32_t place = GROUPS - 1 - picture.ids[y * W + c];
            assert_true(place >= before);
            before = place;
        }
    }
    arena_free(&made.arena);
}

static enum vrs_status draw_both(void *arg)
{
    struct raster_picture picture;
    struct raster_view v = { made.shown, W, H, 0, 2e9, NULL };
    struct arena arena;
    double *curve;
    (void)arg;
    arena_init(&arena, SIZE_MAX / 2);
    enum vrs_status status = raster_curve(&made.rows, &arena, &curve, NULL);
    if (status == VRS_OK)
        status = raster_picture(&made.rows, &v, &arena, &picture, NULL);
    if (status == VRS_OK)
        status = raster_groups_picture(&made.rows, &made.groups, &v, &arena, &picture, NULL);
    arena_free(&arena);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    make(5, 0);
    raster_shown(made.curve, STATES, 0, STATES, W, made.shown);
    fault_each(draw_both, NULL, NULL);
    arena_free(&made.arena);
}

/* Each column has what was born in its own states, and all columns together what was in the span.
 */
static void churn_adds_up(void **state)
{
    static const double spans[][2] = {
        { 0, STATES }, { 0, 7 }, { 31.5, 32.25 }, { 100.25, 250.75 }, { STATES - 1, STATES }
    };
    (void)state;
    make(7, 0);
    for (uint32_t s = 0; s < sizeof spans / sizeof *spans; s++) {
        double v0 = spans[s][0], v1 = spans[s][1], churn[W], wanted[W] = { 0 };
        raster_churn(&made.rows, v0, v1, W, churn);
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t c = 0; c < W; c++)
                if (made.born[i] > 0 && made.born[i] >= (uint32_t)(v0 + (v1 - v0) * c / W) &&
                    made.born[i] < (uint32_t)(v0 + (v1 - v0) * (c + 1) / W))
                    wanted[c] += made.bytes[i];
        for (uint32_t c = 0; c < W; c++)
            assert_true(churn[c] == wanted[c]);
    }
    arena_free(&made.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_is_the_sum_of_the_living),
        cmocka_unit_test(columns_show_the_earliest_maximum),
        cmocka_unit_test(blocks_give_the_plain_picture),
        cmocka_unit_test(groups_add_up),
        cmocka_unit_test(churn_adds_up),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
