#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/trace/busy/intervals.h"
#include "made/traced.h"

enum { MOST = 16 };

static struct intervals made(struct interval *room, const struct interval *from, uint32_t count)
{
    struct intervals s = { .at = room };
    for (uint32_t i = 0; i < count; i++)
        intervals_add(&s, from[i].start, from[i].end);
    return s;
}

static void what_touches_becomes_one(void **state)
{
    (void)state;
    static const struct {
        struct interval in[4];
        uint32_t count;
        struct interval out[4];
        uint32_t len;
    } cases[] = {
        { { { 0, 0 } }, 0, { { 0, 0 } }, 0 },
        { { { 1, 3 } }, 1, { { 1, 3 } }, 1 },
        { { { 1, 1 }, { 2, 1 } }, 2, { { 0, 0 } }, 0 },             /* empty, and turned round */
        { { { 1, 3 }, { 3, 4 } }, 2, { { 1, 4 } }, 1 },             /* they touch */
        { { { 1, 3 }, { 4, 5 } }, 2, { { 1, 3 }, { 4, 5 } }, 2 },   /* one ns between */
        { { { 1, 9 }, { 2, 3 }, { 9, 10 } }, 3, { { 1, 10 } }, 1 }, /* one in another */
        { { { 1, 3 }, { 1, 5 }, { 4, 6 }, { 8, 8 } }, 4, { { 1, 6 } }, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct interval room[MOST];
        struct intervals s = made(room, cases[i].in, cases[i].count);
        assert_int_equal(s.len, cases[i].len);
        assert_memory_equal(s.at, cases[i].out, s.len * sizeof *s.at);
    }
}

/* Each part of each interval is new once, and the end moves on with empty ones too. */
static void a_covering_says_what_is_new(void **state)
{
    (void)state;
    static const struct {
        struct interval in, new;
        int64_t until;
    } added[] = {
        { { 0, 2 }, { 1, 2 }, 2 }, /* what lies before the begin does not count */
        { { 1, 2 }, { 2, 2 }, 2 },
        { { 1, 4 }, { 2, 4 }, 4 },
        { { 6, 6 }, { 6, 6 }, 6 },
        { { 7, 9 }, { 7, 9 }, 9 },
        { { 8, 9 }, { 9, 9 }, 9 },
    };
    struct covering c = { 1 };
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        struct interval new = covering_add(&c, added[i].in.start, added[i].in.end);
        assert_int_equal(new.start, added[i].new.start);
        assert_int_equal(new.end, added[i].new.end);
        assert_int_equal(c.until, added[i].until);
    }
}

/* Random intervals by their start below `length`, and which instants they hold. */
static struct intervals draw(uint64_t *random, struct interval *room, bool *holds, int64_t length)
{
    struct intervals s = { .at = room };
    int64_t start = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        start += (int64_t)traced_draw(random, 6);
        int64_t end = start + (int64_t)traced_draw(random, 8);
        if (end > length)
            break;
        intervals_add(&s, start, end);
        for (int64_t t = start; t < end; t++)
            holds[t] = true;
    }
    return s;
}

static void measures_instant_by_instant(void **state)
{
    (void)state;
    enum { LENGTH = 60 };
    uint64_t random = 3;
    for (int round = 0; round < 2000; round++) {
        struct interval room[2][MOST];
        bool in_a[LENGTH] = { false }, in_b[LENGTH] = { false };
        struct intervals a = draw(&random, room[0], in_a, LENGTH);
        struct intervals b = draw(&random, room[1], in_b, LENGTH);
        int64_t measure = 0, common = 0;
        for (uint32_t t = 0; t < LENGTH; t++) {
            measure += in_a[t];
            common += in_a[t] && in_b[t];
        }
        assert_int_equal(intervals_measure(&a), measure);
        assert_int_equal(intervals_common(&a, &b), common);
        assert_int_equal(intervals_common(&b, &a), common);
        assert_int_equal(intervals_common(&a, &a), measure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_touches_becomes_one),
        cmocka_unit_test(a_covering_says_what_is_new),
        cmocka_unit_test(measures_instant_by_instant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
