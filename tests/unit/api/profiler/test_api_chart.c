#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <vramscope/chart.h>
#include <vramscope/error.h>

#include "made/answered.h"
#include "made/fault.h"

static const double x[] = { 3, 1, 2, 4, NAN }, y[] = { 1, 4, NAN, INFINITY, 2 };
static const uint32_t group[] = { 0, 1, 1, 0, 2 };
static const char *const names[] = { "one", "<two>", NULL };
static const char *const labels[] = { "a", "b", "c", "d", "e" };
static const struct vrs_chart_series series[] = {
    { "first", VRS_CHART_BYTES, false, true, 5, x, y, group, labels },
    { "second", VRS_CHART_SECONDS, true, false, 5, x, x, group, NULL },
};
static const struct vrs_chart_mark marks[] = { { 2, NAN, "here" }, { 3, 1, "there" } };

static struct vrs_chart chart = { .size = sizeof chart,
                                  .title = "all of it",
                                  .x_label = "time",
                                  .width = 400,
                                  .group = names,
                                  .groups = 3,
                                  .one = series,
                                  .series = 2,
                                  .mark = marks,
                                  .marks = 2 };
static struct written drawn;

static enum vrs_status draw(void *arg)
{
    struct vrs_sink sink = written_sink(&drawn);
    (void)arg;
    drawn.len = 0;
    return vrs_chart_svg(&chart, &sink, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int kind = VRS_CHART_LINES; kind <= VRS_CHART_HEAT; kind++) {
        chart.kind = (enum vrs_chart_kind)kind;
        fault_each(draw, NULL, NULL);
        assert_int_equal(draw(NULL), VRS_OK);
        assert_non_null(strstr(drawn.at, "</svg>"));
        assert_null(strstr(drawn.at, "nan"));
        assert_null(strstr(drawn.at, "inf"));
        assert_null(strstr(drawn.at, "<two"));
    }
    chart.kind = VRS_CHART_LINES;
}

static void check_refused(struct vrs_chart c, enum vrs_status wanted)
{
    struct vrs_sink sink = written_sink(&drawn);
    struct vrs_error err = { .message = "" };
    drawn.len = 0;
    assert_int_equal(vrs_chart_svg(&c, &sink, &err), wanted);
    assert_true(err.message[0] != '\0');
    assert_int_equal(drawn.len, 0);
}

static struct vrs_chart of_series(enum vrs_chart_kind kind, const struct vrs_chart_series *one)
{
    struct vrs_chart c = chart;
    c.kind = kind;
    c.one = one;
    c.series = 1;
    return c;
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    struct vrs_chart c = chart;
    c.kind = (enum vrs_chart_kind)9;
    check_refused(c, VRS_USAGE);
    c = chart, c.y_unit = (enum vrs_chart_unit)9;
    check_refused(c, VRS_USAGE);
    c = chart, c.width = 239;
    check_refused(c, VRS_USAGE);
    c = chart, c.height = 4001;
    check_refused(c, VRS_USAGE);
    c = chart, c.kind = VRS_CHART_BARS, c.groups = 2;
    check_refused(c, VRS_USAGE);
    c = chart, c.series = 4097;
    check_refused(c, VRS_LIMIT);
    check_refused(of_series(VRS_CHART_LINES, &(struct vrs_chart_series){ .count = 1, .y = y }),
                  VRS_USAGE);
    check_refused(of_series(VRS_CHART_BARS, &(struct vrs_chart_series){ .count = 1, .y = y }),
                  VRS_USAGE);
    check_refused(of_series(VRS_CHART_HEAT, &(struct vrs_chart_series){ .count = (size_t)1 << 29 }),
                  VRS_LIMIT);
}

static bool refuse(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    (void)len;
    return false;
}

static void a_sink_may_refuse(void **state)
{
    (void)state;
    struct vrs_sink sink = { refuse, NULL };
    assert_int_equal(vrs_chart_svg(&chart, &sink, NULL), VRS_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_sink_may_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
