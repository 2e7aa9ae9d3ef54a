/* test_budget.c - limits as people write them: sizes, shares, subjects, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/check/budget.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "base/str.h"

struct made {
    struct arena arena;
    struct budget budget;
    struct vrs_error err;
};

static void make(struct made *m)
{
    arena_init(&m->arena, SIZE_MAX / 2);
    m->err.message[0] = '\0';
    assert_int_equal(budget_make(&m->arena, &m->budget, NULL), VRS_OK);
}

static void done(struct made *m)
{
    budget_free(&m->budget);
    arena_free(&m->arena);
}

static enum vrs_status set(struct made *m, const char *name, const char *value)
{
    return budget_set(&m->budget, str_from(name), str_from(value), &m->err);
}

static void takes_size(const char *text, uint64_t bytes)
{
    struct made m;
    make(&m);
    assert_int_equal(set(&m, "max-peak", text), VRS_OK);
    assert_false(m.budget.limit[0].amount.relative);
    assert_true(m.budget.limit[0].amount.bytes == bytes);
    done(&m);
}

static void refuses(const char *name, const char *value, const char *words)
{
    struct made m;
    make(&m);
    assert_int_equal(set(&m, name, value), VRS_USAGE);
    if (strstr(m.err.message, words) == NULL)
        fail_msg("%s %s: \"%s\" lacks \"%s\"", name, value, m.err.message, words);
    assert_int_equal(m.budget.limits, 0);
    done(&m);
}

static void sizes_are_read(void **state)
{
    (void)state;
    takes_size("0", 0);
    takes_size("4351237119", UINT64_C(4351237119));
    takes_size("24GiB", UINT64_C(24) << 30);
    takes_size("24 gib", UINT64_C(24) << 30);
    takes_size("1.5GiB", UINT64_C(3) << 29);
    takes_size("1.5 GB", UINT64_C(1500000000));
    takes_size("0.000001TB", 1000000);
    takes_size("9223372036854775807", INT64_MAX);
    const char *const wrong[] = { "",
                                  "GiB",
                                  "-1",
                                  "1..5GiB",
                                  "1.GiB",
                                  "1.1234567GiB",
                                  "1 XiB",
                                  "1GiB x",
                                  "0x10",
                                  "1e9",
                                  "9223372036854775808",
                                  "8388608TiB" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuses("max-peak", wrong[i], "a size, such as 24GiB");
}

static void shares_are_of_something(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    assert_int_equal(set(&m, "max-delta", "2.5 %"), VRS_OK);
    struct amount a = m.budget.limit[0].amount;
    assert_true(a.relative);
    assert_int_equal(a.millionths, 25000);
    assert_int_equal(amount_of(a, 1000), 25);
    assert_int_equal(amount_of(a, 1039), 25);
    assert_int_equal(amount_of(a, 0), 0);
    assert_int_equal(amount_of(a, -5), 0);
    a.millionths = 2000000;
    assert_true(amount_of(a, INT64_MAX) == INT64_MAX);
    a.millionths = 1000000;
    assert_true(amount_of(a, INT64_MAX) == INT64_MAX);
    a.millionths = 999999;
    assert_true(amount_of(a, INT64_C(1000000000000000000)) == INT64_C(999999000000000000));
    assert_int_equal(amount_of((struct amount){ .bytes = 7 }, 1000), 7);
    done(&m);
    refuses("max-unknown-share", "1GiB", "a share");
    refuses("max-unknown-share", "25", "a share");
    refuses("max-unknown-share", "120%", "at most 100%");
    refuses("max-unknown-share", "100.0001%", "at most 100%");
    refuses("max-peak", "100001%", "a size");
    refuses("max-site-delta", "5%", "a size");
}

static bool site_matches(const struct pattern *site, str text)
{
    struct pattern_room room;
    bool found = false;
    assert_int_equal(pattern_room_make(&room, NULL), VRS_OK);
    assert_int_equal(pattern_matches(site, &room, text, &found, NULL), VRS_OK);
    pattern_room_free(&room);
    return found;
}

static void subjects_stand_before_the_last_equal(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    assert_int_equal(set(&m, "max-category", "kv_cache = 1GiB"), VRS_OK);
    assert_int_equal(set(&m, "max-device-peak", "3=2GiB"), VRS_OK);
    assert_int_equal(set(&m, "max-site", "a=b|c=1KiB"), VRS_OK);
    assert_int_equal(m.budget.limit[0].category, CATEGORY_KV_CACHE);
    assert_string_equal(m.budget.limit[0].name.ptr, "max-category kv_cache");
    assert_int_equal(m.budget.limit[1].device, 3);
    assert_string_equal(m.budget.limit[2].name.ptr, "max-site a=b|c");
    assert_int_equal(m.budget.limit[2].amount.bytes, 1024);
    assert_true(site_matches(m.budget.limit[2].site, S("xa=by")));
    assert_false(site_matches(m.budget.limit[2].site, S("xa=")));
    done(&m);
    refuses("max-category", "1GiB", "two parts");
    refuses("max-category", "=1GiB", "two parts");
    refuses("max-category", "weights=1GiB", "no category");
    refuses("max-device-peak", "x=1GiB", "a device's number");
    refuses("max-device-peak", "4294967296=1GiB", "a device's number");
    refuses("max-site", "[=1GiB", "does not take the expression \"[\": missing");
    refuses("max-site", "a=x", "a size");
}

static void a_later_limit_replaces_an_earlier(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    assert_int_equal(set(&m, "max-peak", "1"), VRS_OK);
    assert_int_equal(set(&m, "max-site", "a=1"), VRS_OK);
    assert_int_equal(set(&m, "max-site", "b=1"), VRS_OK);
    assert_int_equal(set(&m, "max-site", "a=2"), VRS_OK);
    assert_int_equal(set(&m, "max-peak", "2"), VRS_OK);
    assert_int_equal(m.budget.limits, 3);
    assert_int_equal(m.budget.limit[0].amount.bytes, 2);
    assert_int_equal(m.budget.limit[1].amount.bytes, 2);
    char name[] = "0000=1";
    for (int i = 0; i < BUDGET_LIMITS_MOST - 3; i++) {
        name[0] = (char)('0' + i / 1000);
        name[1] = (char)('0' + i / 100 % 10);
        name[2] = (char)('0' + i / 10 % 10);
        name[3] = (char)('0' + i % 10);
        assert_int_equal(set(&m, "max-device-peak", name), VRS_OK);
    }
    assert_int_equal(set(&m, "max-end", "1"), VRS_USAGE);
    assert_int_equal(set(&m, "max-peak", "3"), VRS_OK);
    done(&m);
}

static enum vrs_status read(struct made *m, const char *text)
{
    return budget_read(&m->budget, S("ci.budget"), str_from(text), &m->err);
}

static void files_name_their_lines(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    assert_int_equal(read(&m, "\xef\xbb\xbf# a card\r\n\r\nmax-peak = 1GiB # of one\r\n"
                              "\t no-oom\nno-retry = true\nmax-site = a#b=1\ncapacity=2GiB\n"
                              "tolerance = 1%"),
                     VRS_OK);
    assert_int_equal(m.budget.limits, 4);
    assert_string_equal(m.budget.limit[3].name.ptr, "max-site a#b");
    assert_true(m.budget.capacity_bytes == UINT64_C(2) << 30);
    assert_int_equal(m.budget.tolerance.millionths, 10000);
    assert_int_equal(read(&m, "\n\nmax-peak 1GiB"), VRS_USAGE);
    assert_non_null(strstr(m.err.message, "ci.budget:3: "));
    assert_int_equal(read(&m, "no-oom = false"), VRS_USAGE);
    assert_int_equal(read(&m, "max-peak = \xff"), VRS_USAGE);
    assert_int_equal(read(&m, "capacity = 0"), VRS_USAGE);
    assert_int_equal(read(&m, "= 1"), VRS_USAGE);
    done(&m);
}

/* Of two lines one is a mistake; an option is meant to replace a line. */
static void no_line_takes_another_back(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "max-peak = 1\nmax-peak = 2", "ci.budget:2: max-peak stands in line 1 already" },
        { "no-oom\n\nno-oom", "ci.budget:3: no-oom stands in line 1 already" },
        { "max-category = kv_cache=1\nmax-category = kv_cache = 1",
          "ci.budget:2: max-category kv_cache stands in line 1 already" },
        { "max-device-peak = 7=1\nmax-device-peak = 07=2",
          "ci.budget:2: max-device-peak 07 stands in line 1 already" },
        { "#\nmax-site = a=1\nmax-site = a=1", "ci.budget:3: max-site a stands in line 2 already" },
        { "capacity = 1\ncapacity = 1", "ci.budget:2: capacity stands in line 1 already" },
        { "tolerance = 1\ntolerance = 0", "ci.budget:2: tolerance stands in line 1 already" },
    };
    struct made m;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(&m);
        assert_int_equal(read(&m, cases[i].text), VRS_USAGE);
        if (strstr(m.err.message, cases[i].words) != m.err.message)
            fail_msg("\"%s\" is not \"%s\"", m.err.message, cases[i].words);
        done(&m);
    }
    make(&m);
    assert_int_equal(read(&m, "max-peak = 1\nmax-site = a=1\nmax-site = b=1\ncapacity = 1\n"
                              "max-device-peak = 1=1\nmax-device-peak = 2=1\n"
                              "max-category = input=1\nmax-category = buffer=1\nmax-end = 1"),
                     VRS_OK);
    assert_int_equal(set(&m, "max-peak", "2"), VRS_OK);
    assert_int_equal(set(&m, "max-peak", "3"), VRS_OK);
    assert_int_equal(set(&m, "capacity", "2"), VRS_OK);
    assert_int_equal(m.budget.limits, 8);
    assert_int_equal(m.budget.limit[0].amount.bytes, 3);
    assert_int_equal(m.budget.capacity_bytes, 2);
    done(&m);
}

static void what_limits_need_is_asked_for(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    assert_int_equal(budget_check(&m.budget, true, &m.err), VRS_USAGE);
    assert_int_equal(set(&m, "max-unknown-share", "5%"), VRS_OK);
    assert_int_equal(budget_check(&m.budget, false, &m.err), VRS_OK);
    assert_int_equal(set(&m, "headroom", "1GiB"), VRS_OK);
    assert_int_equal(budget_check(&m.budget, false, &m.err), VRS_USAGE);
    assert_int_equal(set(&m, "capacity", "24GiB"), VRS_OK);
    assert_int_equal(budget_check(&m.budget, false, &m.err), VRS_OK);
    assert_int_equal(set(&m, "max-peak", "105%"), VRS_OK);
    assert_int_equal(budget_check(&m.budget, false, &m.err), VRS_USAGE);
    assert_int_equal(budget_check(&m.budget, true, &m.err), VRS_OK);
    assert_int_equal(set(&m, "max-peak", "1"), VRS_OK);
    assert_int_equal(set(&m, "tolerance", "0"), VRS_OK);
    assert_int_equal(budget_check(&m.budget, false, &m.err), VRS_USAGE);
    assert_non_null(strstr(m.err.message, "tolerance"));
    assert_int_equal(budget_check(&m.budget, true, &m.err), VRS_OK);
    assert_int_equal(set(&m, "no-new-site", "0"), VRS_OK);
    assert_int_equal(budget_check(&m.budget, false, &m.err), VRS_USAGE);
    assert_non_null(strstr(m.err.message, "--baseline"));
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(shares_are_of_something),
        cmocka_unit_test(subjects_stand_before_the_last_equal),
        cmocka_unit_test(a_later_limit_replaces_an_earlier),
        cmocka_unit_test(files_name_their_lines),
        cmocka_unit_test(no_line_takes_another_back),
        cmocka_unit_test(what_limits_need_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
