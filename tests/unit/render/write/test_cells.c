#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "made/fault.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/text.h"

static const struct style plain = { .width = 80, .ascii = true };

static void check_cell(str cell, const char *expected)
{
    assert_non_null(cell.ptr);
    assert_string_equal(cell.ptr, expected);
    assert_int_equal(cell.len, strlen(expected));
}

static void a_value_is_a_cell(void **state)
{
    (void)state;
    struct cells cells;
    struct buf to;
    buf_init(&to, 64);
    cells_init(&cells, &plain);
    check_cell(cell_bytes(&cells, -1536), "-1.50 KiB");
    check_cell(cell_known_bytes(&cells, 1536), "1.50 KiB");
    check_cell(cell_known_bytes(&cells, UINT64_MAX), "-");
    check_cell(cell_share(&cells, 0.5), "50.0 %");
    check_cell(cell_share(&cells, -1), "-");
    check_cell(cell_count(&cells, 48120), "48,120");
    check_cell(cell_number(&cells, 48120), "48120");
    check_cell(cell_event(&cells, 48120, "start"), "48120");
    check_cell(cell_event(&cells, 0, "start"), "0");
    check_cell(cell_event(&cells, -1, "start"), "start");
    check_cell(cell_text(&cells, S("a.py:1\n")), "a.py:1\\x0a");
    check_cell(cell_other(&cells, 1, "row"), "other (1 row)");
    check_cell(cell_other(&cells, 1200, "row"), "other (1,200 rows)");
    cells_free(&cells, &to);
    assert_false(to.failed);
    buf_free(&to);
}

static void parts_are_joined_into_one_cell(void **state)
{
    (void)state;
    struct cells cells;
    struct buf to;
    buf_init(&to, 64);
    cells_init(&cells, &plain);
    check_cell(cell_end(&cells), "");
    buf_text(&cells.text, "about ");
    str first = cell_bytes(&cells, 1024);
    buf_text(&cells.text, "other");
    check_cell(cell_end(&cells), "other");
    check_cell(first, "about 1.00 KiB");
    cells_free(&cells, &to);
    buf_free(&to);
}

static void lines_stand_under_a_row(void **state)
{
    (void)state;
    static const struct text_column column[] = { { .heading = "a" }, { .heading = "b" } };
    struct cells cells;
    struct buf to;
    buf_init(&to, 1 << 10);
    cells_init(&cells, &plain);
    str *cell = cells_array(&cells, 3, 2);
    assert_non_null(cell);
    cell[0] = cell_number(&cells, 1);
    buf_text(&cells.text, "  under it\n");
    cell_end_lines(&cells, cell + 2);
    buf_text(&cells.text, "  one line\n  another");
    cell_end_lines(&cells, cell + 4);
    struct text_table table = { column, 2, 3, cell, 0 };
    text_table(&to, &plain, &table);
    cells_free(&cells, &to);
    buf_char(&to, '\0');
    assert_string_equal(to.at, "a  b\n1\n  under it\n  one line\n  another\n");
    buf_free(&to);
}

static void a_failure_is_handed_on(void **state)
{
    (void)state;
    long n = 0;
    for (bool failed = true; failed; n++) {
        struct cells cells;
        struct buf to;
        buf_init(&to, 64);
        cells_init(&cells, &plain);
        fault_left = n;
        str *cell = cells_array(&cells, 1, 2);
        if (cell != NULL) {
            cell[0] = cell_count(&cells, 7);
            buf_text(&cells.text, "a line");
            cell_end_lines(&cells, cell);
        }
        failed = fault_left < 0;
        fault_left = -1;
        cells_free(&cells, &to);
        assert_int_equal(to.failed, failed);
        buf_free(&to);
    }
    assert_true(n > 2);
    struct cells cells;
    struct buf to;
    buf_init(&to, 64);
    cells_init(&cells, &plain);
    assert_null(cells_array(&cells, SIZE_MAX / 2, 4));
    cells_free(&cells, &to);
    assert_true(to.failed);
    buf_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_a_cell),
        cmocka_unit_test(parts_are_joined_into_one_cell),
        cmocka_unit_test(lines_stand_under_a_row),
        cmocka_unit_test(a_failure_is_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
