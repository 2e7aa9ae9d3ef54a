#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/pool.h"
#include "base/str.h"
#include "made/fault.h"
#include "profiler/names.h"
#include "vramscope/error.h"

static void check_name(struct names *n, str name)
{
    uint32_t id = names_id(n, name);
    assert_true(str_equal(names_text(n, id), name));
    assert_int_equal(names_id(n, name), id);
}

static void equal_bytes_have_one_id(void **state)
{
    (void)state;
    struct names n;
    assert_true(names_init(&n, 100));
    assert_int_equal(names_id(&n, S("")), NAME_NONE);
    assert_int_equal(names_id(&n, S("forward")), NAME_FIRST);
    assert_int_equal(names_id(&n, S("backward")), NAME_FIRST + 1);
    assert_int_equal(names_id(&n, S("forward")), NAME_FIRST);
    assert_true(str_equal(names_text(&n, NAME_NONE), S("")));
    assert_true(str_equal(names_text(&n, NAME_OTHER), S("(other)")));
    assert_true(str_equal(names_text(&n, 12345), S("")));
    names_free(&n);
}

static void a_name_is_any_bytes(void **state)
{
    (void)state;
    struct names n;
    char every[256];
    for (int i = 0; i < 256; i++)
        every[i] = (char)i;
    assert_true(names_init(&n, 1000));
    check_name(&n, (str){ every, sizeof every });
    for (size_t i = 0; i < sizeof every; i++)
        check_name(&n, (str){ every + i, 1 });
    check_name(&n, (str){ "a\0b", 3 });
    check_name(&n, (str){ "a\0c", 3 });
    assert_int_not_equal(names_id(&n, (str){ "a\0b", 3 }), names_id(&n, (str){ "a\0c", 3 }));
    check_name(&n, S("\xed\xa0\x80")); /* a lone surrogate */
    assert_int_equal(names_refused(&n), 0);
    names_free(&n);
}

static str numbered(char *room, size_t size, uint32_t i)
{
    int len = snprintf(room, size, "name %u", i);
    return (str){ room, (size_t)len };
}

static void what_finds_no_room_is_other(void **state)
{
    (void)state;
    enum { MOST = 500 };
    struct names n;
    char room[32];
    assert_true(names_init(&n, MOST));
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(names_id(&n, numbered(room, sizeof room, i)), NAME_FIRST + i);
    assert_int_equal(names_id(&n, S("one more")), NAME_OTHER);
    assert_int_equal(names_id(&n, S("one more")), NAME_OTHER);
    assert_int_equal(names_refused(&n), 2);
    assert_int_equal(names_id(&n, numbered(room, sizeof room, 7)), NAME_FIRST + 7);
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(names_path(&n, 0, NAME_FIRST + i), NAME_FIRST + i);
    assert_int_equal(names_path(&n, NAME_FIRST, NAME_FIRST), NAME_OTHER);
    assert_int_equal(names_path(&n, 0, NAME_FIRST + 7), NAME_FIRST + 7);
    assert_int_equal(names_refused(&n), 3);
    names_free(&n);
}

static void a_path_is_its_parent_and_a_name(void **state)
{
    (void)state;
    struct names n;
    assert_true(names_init(&n, 100));
    uint32_t step = names_id(&n, S("step")), forward = names_id(&n, S("forward"));
    uint32_t outer = names_path(&n, NAME_NONE, step);
    uint32_t inner = names_path(&n, outer, forward);
    assert_int_equal(names_path(&n, outer, forward), inner);
    assert_int_not_equal(names_path(&n, NAME_NONE, forward), inner);
    assert_int_not_equal(names_path(&n, inner, step), outer);
    struct path p = names_path_at(&n, inner);
    assert_int_equal(p.parent, outer);
    assert_int_equal(p.name, forward);
    p = names_path_at(&n, NAME_OTHER);
    assert_int_equal(p.parent, NAME_NONE);
    assert_int_equal(p.name, NAME_OTHER);
    p = names_path_at(&n, 999);
    assert_int_equal(p.name, NAME_NONE);
    names_free(&n);
}

/* Enough of both that arrays, indexes and text grow. */
enum { MANY = 300 };

static enum vrs_status intern_many(void *arg)
{
    (void)arg;
    struct names n;
    char room[32];
    if (!names_init(&n, 1000)) {
        names_free(&n);
        return VRS_NOMEM;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        str name = numbered(room, sizeof room, i);
        uint32_t id = names_id(&n, name);
        uint32_t path = names_path(&n, i % 7 == 0 ? 0 : NAME_FIRST, id);
        assert_true(id == NAME_OTHER || str_equal(names_text(&n, id), name));
        assert_true(path == NAME_OTHER || names_path_at(&n, path).name == id);
    }
    enum vrs_status status = names_refused(&n) == 0 ? VRS_OK : VRS_NOMEM;
    names_free(&n);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fault_each(intern_many, NULL, NULL);
}

enum { THREADS = 8, TURNS = 5000, DIFFERENT = 400 };

struct shared {
    struct names names;
    uint32_t wrong[THREADS];
};

static void intern(void *arg, uint32_t i, uint32_t thread)
{
    (void)thread;
    struct shared *s = arg;
    char room[32];
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        str name = numbered(room, sizeof room, (turn * (i + 1)) % DIFFERENT);
        uint32_t id = names_id(&s->names, name);
        uint32_t path = names_path(&s->names, 0, id);
        s->wrong[i] += !str_equal(names_text(&s->names, id), name);
        s->wrong[i] += names_path_at(&s->names, path).name != id;
    }
}

static void threads_share_ids(void **state)
{
    (void)state;
    static struct shared s;
    assert_true(names_init(&s.names, 1000));
    pool_run(THREADS, &(struct pool_work){ THREADS, intern, NULL, &s });
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(s.wrong[i], 0);
    assert_int_equal(s.names.name.len, DIFFERENT + NAME_FIRST);
    assert_int_equal(s.names.path.len, DIFFERENT + NAME_FIRST);
    names_free(&s.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_have_one_id),
        cmocka_unit_test(a_name_is_any_bytes),
        cmocka_unit_test(what_finds_no_room_is_other),
        cmocka_unit_test(a_path_is_its_parent_and_a_name),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_share_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
