#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/snapshot/curves/curves.h"
#include "made/sample.h"
#include "model/recording.h"

/* Figures of one curve: start, peak, end, first and last event of the peak. */
struct figures {
    int64_t start, peak, end, event, last;
};

static void check_curve(const struct curve *curve, struct figures expected)
{
    assert_int_equal(curve->start_bytes, expected.start);
    assert_int_equal(curve->peak_bytes, expected.peak);
    assert_int_equal(curve->end_bytes, expected.end);
    assert_int_equal(curve->peak_event, expected.event);
    assert_int_equal(curve->peak_last_event, expected.last);
}

/* The maxima and the values of a curve must tell the same sections as its figures. */
static void check_drawing(const struct recording *r, const struct curves *curves)
{
    int64_t events = r->devices.events[0], maxima[CURVES][24] = { { 0 } };
    for (uint32_t columns = 1; columns < 24 && columns <= events + 1; columns++) {
        curves_draw(r, 0, curves, columns, maxima[CURVE_REQUESTED], maxima[CURVE_RESERVED]);
        for (uint32_t i = 1; i < columns; i++)
            for (int name = 0; name < CURVES; name++)
                if (maxima[name][0] < maxima[name][i])
                    maxima[name][0] = maxima[name][i];
        assert_int_equal(maxima[CURVE_REQUESTED][0], curves->of[CURVE_REQUESTED].peak_bytes);
        assert_int_equal(maxima[CURVE_RESERVED][0], curves->of[CURVE_RESERVED].peak_bytes);
    }
    for (enum curve_name name = 0; name < CURVES; name++) {
        const struct curve *curve = &curves->of[name];
        assert_int_equal(curve_at(r, 0, name, -1), curve->start_bytes);
        assert_int_equal(curve_at(r, 0, name, curve->peak_event), curve->peak_bytes);
        assert_int_equal(curve_at(r, 0, name, curve->peak_last_event), curve->peak_bytes);
        if (curve->start_known)
            assert_int_equal(curve_at(r, 0, name, events + 5), curve->end_bytes);
    }
    assert_int_equal(curve_peak_event(r, 0, CURVE_REQUESTED),
                     curves->of[CURVE_REQUESTED].peak_event);
    assert_int_equal(curve_peak_event(r, 0, CURVE_RESERVED), curves->of[CURVE_RESERVED].peak_event);
    assert_int_equal(curves->reserved_at_peak_bytes,
                     curve_at(r, 0, CURVE_RESERVED, curves->of[CURVE_REQUESTED].peak_event));
}

/* A final state of one segment of 2 MiB at 1000 (hexadecimal), whose blocks have 1024 bytes for
 * 600 requested ones, by their state. */
static void make(struct recording *r, const char *events, const char *blocks)
{
    sample_init(r);
    sample_device(r, 0);
    sample_segment(r, 0x1000, 2 << 20);
    for (const char *at = blocks; *at != '\0'; at++)
        sample_block(r, 1024, 600,
                     *at == 'a'   ? BLOCK_ALLOCATED
                     : *at == 'p' ? BLOCK_PENDING
                                  : BLOCK_INACTIVE);
    sample_events(r, events);
    sample_finish(r);
}

static void check(const char *events, const char *blocks, struct figures requested,
                  struct figures allocated, struct figures active, struct figures reserved)
{
    struct recording r;
    struct curves curves;
    make(&r, events, blocks);
    curves_compute(&r, 0, &curves);
    check_curve(&curves.of[CURVE_REQUESTED], requested);
    check_curve(&curves.of[CURVE_ALLOCATED], allocated);
    check_curve(&curves.of[CURVE_ACTIVE], active);
    check_curve(&curves.of[CURVE_RESERVED], reserved);
    check_drawing(&r, &curves);
    recording_free(&r);
}

#define FIGURES(...) ((struct figures){ __VA_ARGS__ })
#define STILL(bytes, events) FIGURES(bytes, bytes, bytes, -1, (events)-1)

enum { SEGMENT = 2 << 20 };

static void curves_are_counted_back_from_the_end(void **state)
{
    (void)state;
    check("", "ap", STILL(1200, 0), STILL(1024, 0), STILL(2048, 0), STILL(SEGMENT, 0));
    /* A survivor counts its block, one that is freed the rounded request. */
    check("a 1000 600; a 1400 100; r 1400 100; c 1400 100", "ai", FIGURES(0, 700, 600, 1, 2),
          FIGURES(0, 1536, 1024, 1, 1), FIGURES(0, 1536, 1024, 1, 2), STILL(SEGMENT, 4));
    /* What was there before the first event is in the start. */
    check("r 1400 100; c 1400 100; a 1400 600", "aa", FIGURES(700, 1200, 1200, 2, 2),
          FIGURES(1536, 2048, 2048, 2, 2), FIGURES(1536, 2048, 2048, 2, 2), STILL(SEGMENT, 3));
    /* Pending memory is in use and not allocated. */
    check("a 1000 600; r 1000 600", "p", FIGURES(0, 600, 600, 0, 1), FIGURES(0, 1024, 0, 0, 0),
          FIGURES(0, 1024, 1024, 0, 1), STILL(SEGMENT, 2));
    check("f 1000 600", "i", FIGURES(600, 600, 0, -1, -1), FIGURES(1024, 1024, 0, -1, -1),
          FIGURES(1024, 1024, 0, -1, -1), STILL(SEGMENT, 1));
}

static void reserved_follows_the_segments(void **state)
{
    (void)state;
    check("A 1000 2097152; M 900000 4096; U 900000 4096; x 0 7; n 0 7; o 5 7", "i", STILL(0, 6),
          STILL(0, 6), STILL(0, 6), FIGURES(0, SEGMENT + 4096, SEGMENT, 1, 1));
    check("F 900000 4096", "i", STILL(0, 1), STILL(0, 1), STILL(0, 1),
          FIGURES(SEGMENT + 4096, SEGMENT + 4096, SEGMENT, -1, -1));
}

static void tops_that_tie_keep_both_ends(void **state)
{
    (void)state;
    check("a 9000 512; f 9000 512; a 9000 512; n 0 0; f 9000 512", "i", FIGURES(0, 512, 0, 0, 3),
          FIGURES(0, 512, 0, 0, 3), FIGURES(0, 512, 0, 0, 3), STILL(SEGMENT, 5));
    check("f 9000 512; a 9000 512; f 9000 512", "i", FIGURES(512, 512, 0, -1, 1),
          FIGURES(512, 512, 0, -1, 1), FIGURES(512, 512, 0, -1, 1), STILL(SEGMENT, 3));
}

static void damage_is_not_clamped(void **state)
{
    (void)state;
    check("a 1000 512", "i", FIGURES(-512, 0, 0, 0, 0), FIGURES(-512, 0, 0, 0, 0),
          FIGURES(-512, 0, 0, 0, 0), STILL(SEGMENT, 1));
    /* The size of each event counts, even where it is not that of the pair. */
    check("a 9000 1024; f 9000 512", "i", FIGURES(-512, 512, 0, 0, 0), FIGURES(-512, 512, 0, 0, 0),
          FIGURES(-512, 512, 0, 0, 0), STILL(SEGMENT, 2));
    check("a 9000 ?; f 9000 ?; A 9000 ?", "i", STILL(0, 3), STILL(0, 3), STILL(0, 3),
          STILL(SEGMENT, 3));
    /* Requests that were left out are taken from the completions. */
    check("a 9000 512; c 9000 512", "i", FIGURES(0, 512, 0, 0, 0), FIGURES(0, 512, 0, 0, 0),
          FIGURES(0, 512, 0, 0, 0), STILL(SEGMENT, 2));
    /* Sums wrap; nothing is undefined. */
    check("a 9000 4611686018427387904; a a000 4611686018427387904; "
          "a b000 4611686018427387904; a c000 4611686018427387904",
          "i", FIGURES(0, 4611686018427387904, 0, 0, 0), FIGURES(0, 4611686018427387904, 0, 0, 0),
          FIGURES(0, 4611686018427387904, 0, 0, 0), STILL(SEGMENT, 4));
}

static void exact_is_said_only_where_it_is_so(void **state)
{
    (void)state;
    static const struct {
        const char *events, *blocks;
        bool requested, reserved, allocated;
    } cases[] = {
        { "", "a", true, true, true },
        { "a 1000 600", "a", true, true, false },
        { "a 1000 600", "i", false, true, false },
        { "a 9000 512; f 9000 500", "i", false, true, false },
        { "a 9000 ?", "i", false, false, false },
        { "A 9000 9999999", "i", false, false, false },
        { "a 9000 9999999; f 9000 9999999", "i", false, true, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        struct curves curves;
        make(&r, cases[i].events, cases[i].blocks);
        curves_compute(&r, 0, &curves);
        assert_int_equal(curves.of[CURVE_REQUESTED].exact, cases[i].requested);
        assert_int_equal(curves.of[CURVE_RESERVED].exact, cases[i].reserved);
        assert_int_equal(curves.of[CURVE_ALLOCATED].exact, cases[i].allocated);
        assert_int_equal(curves.of[CURVE_ACTIVE].exact, cases[i].allocated);
        recording_free(&r);
    }
}

/* Without its end, a line starts at what the part read proves to lie before it. */
static void cut_devices_run_forward(void **state)
{
    (void)state;
    struct recording r;
    struct curves curves;
    sample_init(&r);
    sample_device(&r, 0);
    r.devices.parts[0] = PART_SEGMENTS;
    r.origin.complete = false;
    sample_segment(&r, 0x1000, 2 << 20);
    sample_block(&r, 1024, 600, BLOCK_ALLOCATED);
    sample_events(&r, "c 9000 100; r a000 200; f b000 300; a 1000 600; F c0000 4096; c a000 200");
    sample_finish(&r);
    curves_compute(&r, 0, &curves);
    check_curve(&curves.of[CURVE_REQUESTED], FIGURES(600, 800, 600, 3, 4));
    check_curve(&curves.of[CURVE_ALLOCATED], FIGURES(1024, 1024, 1024, -1, 5));
    check_curve(&curves.of[CURVE_ACTIVE], FIGURES(1536, 1536, 1024, -1, 4));
    check_curve(&curves.of[CURVE_RESERVED], FIGURES(4096, 4096, SEGMENT, -1, 3));
    for (enum curve_name name = 0; name < CURVES; name++) {
        assert_false(curves.of[name].start_known);
        assert_true(curves.of[name].end_known);
        assert_false(curves.of[name].exact);
    }
    check_drawing(&r, &curves);
    recording_free(&r);
}

static void a_ring_of_one_is_no_trace(void **state)
{
    (void)state;
    static const struct {
        const char *events, *blocks;
        bool traced;
    } cases[] = {
        { "", "a", false },
        { "c 1000 600", "i", false },
        { "A 1000 2097152", "i", true },
        { "c 1000 600; n 0 0", "i", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        make(&r, cases[i].events, cases[i].blocks);
        assert_int_equal(device_traced(&r, 0), cases[i].traced);
        recording_free(&r);
    }
}

static void conflicts_are_found(void **state)
{
    (void)state;
    struct recording r;
    struct curves curves;
    struct curve_conflicts c;
    make(&r, "o 1000 5; a 9000 4000000; a a000 5; f a000 5; f 9000 4000000; A 90000 4096; o 2000 5",
         "i");
    curves_compute(&r, 0, &curves);
    curves_conflicts(&r, 0, &curves, &c);
    assert_int_equal(c.above_events, 3);
    assert_int_equal(c.above_first_event, 1);
    assert_int_equal(c.above_worst_bytes, 4000005 - (SEGMENT - 4096));
    assert_int_equal(c.above_worst_bytes, curves.most_above_reserved_bytes);
    assert_int_equal(c.ooms, 2);
    assert_int_equal(c.first_oom_event, 0);
    assert_int_equal(c.capacity_most_bytes - c.capacity_least_bytes, 0x1000 + 4096);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_counted_back_from_the_end),
        cmocka_unit_test(reserved_follows_the_segments),
        cmocka_unit_test(tops_that_tie_keep_both_ends),
        cmocka_unit_test(damage_is_not_clamped),
        cmocka_unit_test(exact_is_said_only_where_it_is_so),
        cmocka_unit_test(cut_devices_run_forward),
        cmocka_unit_test(a_ring_of_one_is_no_trace),
        cmocka_unit_test(conflicts_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
