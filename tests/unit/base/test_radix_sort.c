/* test_radix_sort.c - stays in order, against a sort by comparing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/radix_sort.h"
#include "made/fault.h"

/* More than a digit has values. */
enum { MANY = 70000 };

static int compare(const void *a, const void *b)
{
    const struct radix_row *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void check_same(const struct radix_row *found, const struct radix_row *expected,
                       uint32_t stays)
{
    for (uint32_t i = 0; i < stays; i++) {
        assert_true(found[i].key == expected[i].key);
        assert_int_equal(found[i].id, expected[i].id);
        assert_int_equal(found[i].first, expected[i].first);
        assert_int_equal(found[i].last, expected[i].last);
    }
}

/* Twice, as growth does where places are widened: the second time they come in another order. */
static void check_sort(const struct radix_row *made, uint32_t stays)
{
    static struct radix_row expected[MANY], reversed[MANY];
    struct arena arena;
    struct radix_room room;
    arena_init(&arena, SIZE_MAX / 2);
    struct radix_row *stay = arena_array(&arena, struct radix_row, stays);
    assert_non_null(stay);
    assert_true(radix_room_make(&room, stays, &arena));
    for (uint32_t i = 0; i < stays; i++) {
        stay[i] = expected[i] = made[i];
        reversed[stays - 1 - i] = made[i];
    }
    qsort(expected, stays, sizeof *expected, compare);
    stay = radix_sort(stay, stays, &room);
    check_same(stay, expected, stays);
    for (uint32_t i = 0; i < stays; i++)
        stay[i] = reversed[i];
    stay = radix_sort(stay, stays, &room);
    check_same(stay, expected, stays);
    arena_free(&arena);
}

/* A small generator of our own: the same numbers everywhere. */
static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 32;
}

/* How far numbers go: a key of two halves, each below its own bound. */
struct spread {
    uint64_t key_high, key_low, first;
    uint32_t id_from;
    bool shuffled;
};

static void make(struct radix_row *stay, uint32_t stays, const struct spread *of, uint64_t *seed)
{
    for (uint32_t i = 0; i < stays; i++) {
        uint32_t first = (uint32_t)(draw(seed) % of->first);
        stay[i] = (struct radix_row){
            .key = draw(seed) % of->key_high << 32 | draw(seed) % of->key_low,
            .id = of->id_from + i,
            .first = first,
            .last = (uint32_t)draw(seed),
        };
    }
    for (uint32_t i = stays; of->shuffled && i > 1; i--) {
        struct radix_row one = stay[i - 1];
        uint32_t other = (uint32_t)(draw(seed) % i);
        stay[i - 1] = stay[other];
        stay[other] = one;
    }
}

static const struct spread spreads[] = {
    { 1, 1, 1, 0, false }, /* all equal but for the id */
    { 1, 1, 1, 0, true },  /* the same, out of order: digits of the id decide */
    { 1, 7, 5, 0, false }, /* many of each key, in the order of their allocs */
    { 1, 7, 5, 0, true },
    { 1, 1, 70000, 0, true }, /* one place, more moments than a digit has values */
    { 1, 1, (uint64_t)1 << 32, 0, false },
    { 1, 70000, 3, 0, true }, /* keys beyond one digit */
    { 1, (uint64_t)1 << 32, 1, 0, true },
    { (uint64_t)1 << 32, 1, 2, 0, true },
    { (uint64_t)1 << 32, (uint64_t)1 << 32, (uint64_t)1 << 32, 0, true },
    { 3, 2, 70000, UINT32_MAX - MANY, true },
};

static void stays_are_sorted_as_by_comparing(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 0, 1, 2, 3, 1000, MANY };
    static struct radix_row made[MANY];
    uint64_t seed = 11;
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            make(made, counts[k], &spreads[i], &seed);
            check_sort(made, counts[k]);
        }
}

/* Two stays that differ in one bit, the larger first. */
static void every_bit_counts(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 128; bit++) {
        struct radix_row two[] = { { UINT64_MAX / 3, 7, 7, 1 }, { UINT64_MAX / 3, 7, 7, 2 } };
        uint32_t one = (uint32_t)1 << bit % 32;
        if (bit < 64)
            two[0].key ^= (uint64_t)1 << bit;
        else if (bit < 96)
            two[0].first ^= one;
        else
            two[0].id ^= one;
        if (compare(&two[0], &two[1]) < 0) {
            struct radix_row smaller = two[0];
            two[0] = two[1];
            two[1] = smaller;
        }
        check_sort(two, 2);
    }
}

/* The numbers of `rows` rows, drawn out of order where `shuffled`, by a column of one spread. */
static void check_order(const struct spread *of, uint32_t rows, bool falls, uint64_t *seed)
{
    static int64_t column[MANY];
    static uint32_t row[MANY], place[MANY];
    struct arena arena;
    struct radix_order_room room;
    arena_init(&arena, SIZE_MAX / 2);
    assert_true(radix_order_room_make(&room, MANY, &arena));
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t drawn = draw(seed) % of->key_high << 32 | draw(seed) % of->key_low;
        column[i] = (int64_t)(of->shuffled ? drawn ^ (uint64_t)(draw(seed) & 1) << 63 : drawn);
        uint32_t at = of->shuffled ? (uint32_t)(draw(seed) % (i + 1)) : i;
        row[i] = row[at];
        row[at] = i;
    }
    for (uint32_t i = 0; i < rows; i++)
        place[row[i]] = i;
    radix_order(column, falls, row, rows, &room);
    for (uint32_t i = 1; i < rows; i++) {
        int64_t before = column[row[i - 1]], here = column[row[i]];
        assert_true(falls ? before >= here : before <= here);
        if (before == here)
            assert_true(place[row[i - 1]] < place[row[i]]);
    }
    uint32_t *all = radix_ordered(column, rows, &arena);
    assert_non_null(all);
    for (uint32_t i = 1; i < rows; i++)
        assert_true(column[all[i - 1]] < column[all[i]] ||
                    (column[all[i - 1]] == column[all[i]] && all[i - 1] < all[i]));
    arena_free(&arena);
}

static void rows_are_ordered_by_a_column(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 0, 1, 2, 3, 1000, MANY };
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
        for (size_t k = 0; k < 2 * (sizeof counts / sizeof *counts); k++)
            check_order(&spreads[i], counts[k / 2], k % 2 != 0, &seed);
}

static void a_room_may_have_no_memory(void **state)
{
    (void)state;
    bool hit = true;
    long n = 0;
    for (; hit; n++) {
        struct arena arena;
        struct radix_room room;
        arena_init(&arena, SIZE_MAX / 2);
        fault_left = n;
        bool ok = radix_room_make(&room, MANY, &arena);
        hit = fault_left < 0;
        fault_left = -1;
        assert_int_equal(ok, !hit);
        arena_free(&arena);
    }
    assert_true(n > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_are_sorted_as_by_comparing),
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(rows_are_ordered_by_a_column),
        cmocka_unit_test(a_room_may_have_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
