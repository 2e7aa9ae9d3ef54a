#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/table.h"
#include "made/fault.h"

/* One column of every type. */
struct zoo {
    struct table rows;
    uint8_t *a;
    uint16_t *b;
    uint32_t *c;
    uint64_t *d;
    int64_t *e;
    double *f;
};

static const struct column columns[] = {
    { "a", offsetof(struct zoo, a), COLUMN_U8 },  { "b", offsetof(struct zoo, b), COLUMN_U16 },
    { "c", offsetof(struct zoo, c), COLUMN_U32 }, { "d", offsetof(struct zoo, d), COLUMN_U64 },
    { "e", offsetof(struct zoo, e), COLUMN_I64 }, { "f", offsetof(struct zoo, f), COLUMN_F64 },
};
static const struct table_kind kind = { "zoo", columns, 6 };

static bool push(struct zoo *z, uint32_t n)
{
    if (!table_reserve(z, &kind, 1))
        return false;
    uint32_t i = z->rows.len++;
    z->a[i] = (uint8_t)n;
    z->b[i] = (uint16_t)n;
    z->c[i] = n;
    z->d[i] = (uint64_t)n << 32;
    z->e[i] = -(int64_t)n;
    z->f[i] = n / 2.0;
    return true;
}

static void check_row(const struct zoo *z, uint32_t i, uint32_t n)
{
    assert_int_equal(z->a[i], (uint8_t)n);
    assert_int_equal(z->b[i], (uint16_t)n);
    assert_int_equal(z->c[i], n);
    assert_int_equal(z->d[i], (uint64_t)n << 32);
    assert_int_equal(z->e[i], -(int64_t)n);
    assert_true(z->f[i] == n / 2.0);
}

static void widths_are_those_of_c(void **state)
{
    (void)state;
    static const size_t widths[] = { 1, 2, 4, 8, 8, 8 };
    for (enum column_type type = COLUMN_U8; type <= COLUMN_F64; type++)
        assert_int_equal(column_width(type), widths[type]);
}

static void columns_grow_together(void **state)
{
    (void)state;
    struct zoo z = { .rows.max = 3000 };
    for (uint32_t n = 0; n < 3000; n++)
        assert_true(push(&z, n));
    assert_false(push(&z, 3000));
    assert_int_equal(z.rows.len, 3000);
    table_trim(&z, &kind);
    assert_int_equal(z.rows.cap, 3000);
    for (uint32_t n = 0; n < 3000; n++)
        check_row(&z, n, n);
    table_free(&z, &kind);
    assert_null(z.a);
    assert_int_equal(z.rows.len, 0);
}

static void rows_are_gathered(void **state)
{
    (void)state;
    static const struct {
        uint32_t row[4], count;
    } cases[] = { { { 3, 1, 2, 0 }, 4 }, { { 2 }, 1 }, { { 1, 1, 1 }, 3 }, { { 0 }, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct zoo z = { .rows.max = 10 };
        for (uint32_t n = 0; n < 4; n++)
            assert_true(push(&z, n + 70000));
        assert_true(table_gather(&z, &kind, cases[i].row, cases[i].count));
        assert_int_equal(z.rows.len, cases[i].count);
        for (uint32_t k = 0; k < cases[i].count; k++)
            check_row(&z, k, cases[i].row[k] + 70000);
        assert_true(cases[i].count == 0 || push(&z, 5));
        table_free(&z, &kind);
    }
}

static void trimming_an_empty_table_frees_it(void **state)
{
    (void)state;
    struct zoo z = { .rows.max = 10 };
    assert_true(table_reserve(&z, &kind, 5));
    table_trim(&z, &kind);
    assert_null(z.f);
    assert_int_equal(z.rows.cap, 0);
}

enum { MANY = 1 << 19 }; /* rows whose wider columns have large pages */

static void rows_that_were_expected_move_nothing(void **state)
{
    (void)state;
    static const uint64_t likely[] = { 0, MANY / 2, UINT64_MAX };
    for (size_t i = 0; i < sizeof likely / sizeof *likely; i++) {
        struct zoo z = { .rows.max = MANY };
        assert_true(push(&z, 0));
        table_expect(&z, &kind, UINT64_MAX, likely[i]);
        assert_int_equal(z.rows.len, 1);
        assert_int_equal(z.rows.cap, MANY);
        const struct zoo before = z;
        for (uint32_t n = 1; n < MANY; n++)
            assert_true(push(&z, n));
        assert_ptr_equal(z.a, before.a);
        assert_ptr_equal(z.d, before.d);
        assert_ptr_equal(z.f, before.f);
        for (uint32_t n = 0; n < MANY; n++)
            check_row(&z, n, n);
        table_free(&z, &kind);
    }
}

/* Past the rows from which on columns have large pages. */
static void large_tables_grow_too(void **state)
{
    (void)state;
    enum { ROWS = 3 << 20 };
    struct zoo z = { .rows.max = ROWS };
    for (uint32_t n = 0; n < ROWS; n++)
        assert_true(push(&z, n));
    for (uint32_t n = 0; n < ROWS; n += 1000)
        check_row(&z, n, n);
    table_free(&z, &kind);
}

/* The third column gets less room than the others, which all then count on. */
static void columns_of_a_large_table_may_get_different_room(void **state)
{
    (void)state;
    enum { ROWS = 6 << 20 };
    struct zoo z = { .rows.max = ROWS };
    for (uint32_t n = 0; n < ROWS; n++) {
        bool large = z.rows.len == z.rows.cap && z.rows.cap >= 1 << 20;
        fault_left = large ? 2 : -1;
        assert_true(push(&z, n));
        assert_int_equal(fault_left, -1);
    }
    for (uint32_t n = 0; n < ROWS; n += 100)
        check_row(&z, n, n);
    table_free(&z, &kind);
}

static void few_expected_rows_are_left_to_come(void **state)
{
    (void)state;
    struct zoo z = { .rows.max = MANY };
    table_expect(&z, &kind, 100, 100);
    assert_null(z.a);
    assert_int_equal(z.rows.cap, 0);
}

static void what_cannot_be_expected_can_be_had(void **state)
{
    (void)state;
    for (long n = 0; n < 6; n++) {
        struct zoo z = { .rows.max = MANY };
        fault_left = n;
        table_expect(&z, &kind, MANY, MANY);
        assert_int_equal(fault_left, -1);
        assert_int_equal(z.rows.cap, 0);
        assert_true(push(&z, 7));
        check_row(&z, 0, 7);
        table_free(&z, &kind);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const uint32_t row[] = { 5, 4, 3 };
    bool fired = true;
    for (long n = 0; fired; n++) {
        struct zoo z = { .rows.max = 100 };
        uint32_t pushed = 0;
        fault_left = n;
        bool ok = true;
        while (ok && pushed < 60) {
            ok = push(&z, pushed);
            pushed += ok;
        }
        assert_int_equal(z.rows.len, pushed);
        for (uint32_t i = 0; i < pushed; i++)
            check_row(&z, i, i);
        ok = ok && table_gather(&z, &kind, row, 3);
        fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(ok, !fired);
        assert_true(z.rows.len <= z.rows.cap);
        table_free(&z, &kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_those_of_c),
        cmocka_unit_test(columns_grow_together),
        cmocka_unit_test(rows_are_gathered),
        cmocka_unit_test(trimming_an_empty_table_frees_it),
        cmocka_unit_test(rows_that_were_expected_move_nothing),
        cmocka_unit_test(large_tables_grow_too),
        cmocka_unit_test(columns_of_a_large_table_may_get_different_room),
        cmocka_unit_test(few_expected_rows_are_left_to_come),
        cmocka_unit_test(what_cannot_be_expected_can_be_had),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
