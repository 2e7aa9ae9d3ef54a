#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/idtab.h"
#include "made/fault.h"

enum { IDS = 4000 };

/* How an id hashes: well, or so badly that all share a few slots. */
static uint64_t spread(uint32_t id)
{
    return hash_u64(id);
}

static uint64_t crowded(uint32_t id)
{
    return (uint64_t)(id % 7 + UINT32_MAX - 3) << 32;
}

typedef uint64_t (*hasher)(uint32_t id);

static uint32_t find(const struct idtab *t, uint64_t hash, uint32_t id)
{
    uint32_t at = idtab_first(t, hash);
    while (t->slot[at].id != 0 && t->slot[at].id != id)
        at = idtab_next(t, hash, at);
    return at;
}

static void check(hasher hash_of, uint32_t ids)
{
    struct idtab t = { 0 };
    bool in[IDS + 1] = { false };
    uint32_t used = 0, seed = 1;
    for (uint32_t step = 0; step < ids * 6; step++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t id = 1 + (seed >> 8) % ids;
        assert_true(idtab_reserve(&t));
        uint32_t at = find(&t, hash_of(id), id);
        assert_int_equal(t.slot[at].id == id, in[id]);
        if (in[id])
            idtab_remove(&t, at);
        else
            idtab_put(&t, hash_of(id), id);
        used += in[id] ? UINT32_MAX : 1;
        in[id] = !in[id];
        assert_int_equal(t.used, used);
        assert_true((uint64_t)t.used * 4 <= ((uint64_t)t.mask + 1) * 3);
    }
    for (uint32_t id = 1; id <= ids; id++)
        assert_int_equal(t.slot[find(&t, hash_of(id), id)].id == id, in[id]);
    idtab_free(&t);
    assert_null(t.slot);
}

static void ids_come_and_go(void **state)
{
    (void)state;
    check(spread, IDS);
    check(spread, 40);
    check(crowded, 300);
}

static void a_failed_growth_keeps_the_ids(void **state)
{
    (void)state;
    struct idtab t = { 0 };
    fault_left = 0;
    assert_false(idtab_reserve(&t));
    assert_null(t.slot);
    uint32_t id = 1;
    for (int growths = 0; growths < 4; id++) {
        uint32_t mask = t.mask;
        fault_left = 0;
        bool grown = !idtab_reserve(&t);
        fault_left = -1;
        assert_true(idtab_reserve(&t));
        growths += grown;
        assert_int_equal(t.mask != mask, grown);
        idtab_put(&t, spread(id), id);
        for (uint32_t i = 1; i <= id; i++)
            assert_int_equal(t.slot[find(&t, spread(i), i)].id, i);
    }
    idtab_free(&t);
}

/* Larger, smaller and larger again; smaller ones stay in the memory of the largest. */
static void a_table_is_restarted(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 0, 1, 3, 4, 1000, 7, 0, 500, 1001, IDS };
    struct idtab t = { 0 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_true(idtab_restart(&t, counts[i]));
        assert_true(t.room > t.mask && t.mask / 2 >= counts[i]);
        assert_int_equal(t.used, 0);
        for (uint32_t id = 1; id <= counts[i]; id++) {
            uint32_t at = find(&t, spread(id), id);
            assert_int_equal(t.slot[at].id, 0);
            idtab_put(&t, spread(id), id);
        }
        for (uint32_t id = 1; id <= counts[i]; id++)
            assert_int_equal(t.slot[find(&t, spread(id), id)].id, id);
    }
    /* One that takes more than it was said to grows as any other. */
    assert_true(idtab_restart(&t, 1));
    for (uint32_t id = 1; id <= IDS; id++) {
        assert_true(idtab_reserve(&t));
        idtab_put(&t, spread(id), id);
    }
    assert_int_equal(t.used, IDS);
    idtab_free(&t);
    fault_left = 0;
    assert_false(idtab_restart(&t, 5));
    assert_null(t.slot);
    fault_left = -1;
    idtab_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_come_and_go),
        cmocka_unit_test(a_failed_growth_keeps_the_ids),
        cmocka_unit_test(a_table_is_restarted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
