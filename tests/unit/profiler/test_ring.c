#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"
#include "made/fault.h"
#include "profiler/ring.h"

/* A row whose halves tell whether it was copied whole. */
struct row {
    uint64_t number, same;
};

static void check_capacity(uint32_t asked, uint32_t got)
{
    struct ring r;
    assert_true(ring_init(&r, sizeof(struct row), asked));
    assert_int_equal(r.capacity, got);
    ring_free(&r);
}

static void the_capacity_is_a_power_of_two(void **state)
{
    (void)state;
    check_capacity(0, 1 << 10);
    check_capacity(1 << 10, 1 << 10);
    check_capacity((1 << 10) + 1, 1 << 11);
    check_capacity(65536, 65536);
    check_capacity((1 << 24) - 1, 1 << 24);
    check_capacity(UINT32_MAX, 1 << 24);
}

static void add(struct ring *r, uint64_t number)
{
    struct row row = { number, number };
    assert_int_equal(ring_add(r, &row), number);
}

static void check_counts(struct ring *r, uint64_t first, uint64_t next, uint64_t lost)
{
    struct ring_counts c = ring_counts(r);
    assert_int_equal(c.first, first);
    assert_int_equal(c.next, next);
    assert_int_equal(c.lost, lost);
}

static void check_copy(struct ring *r, uint64_t from, uint32_t most, uint64_t first, uint32_t count)
{
    static struct row rows[3000];
    uint64_t at = 0;
    assert_int_equal(ring_copy(r, from, most, rows, &at), count);
    assert_int_equal(at, first);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(rows[i].number, first + i);
}

static void the_last_rows_are_kept(void **state)
{
    (void)state;
    struct ring r;
    assert_true(ring_init(&r, sizeof(struct row), 2048));
    check_counts(&r, 0, 0, 0);
    check_copy(&r, 0, 3000, 0, 0);
    for (uint64_t i = 0; i < 2048; i++)
        add(&r, i);
    check_counts(&r, 0, 2048, 0);
    check_copy(&r, 0, 3000, 0, 2048);
    for (uint64_t i = 2048; i < 10000; i++)
        add(&r, i);
    check_counts(&r, 10000 - 2048, 10000, 10000 - 2048);
    check_copy(&r, 0, 3000, 10000 - 2048, 2048);
    check_copy(&r, 9990, 4, 9990, 4);
    check_copy(&r, 9990, 3000, 9990, 10);
    check_copy(&r, 10000, 3000, 10000, 0);
    check_copy(&r, UINT64_MAX, 3000, UINT64_MAX, 0);
    ring_clear(&r);
    check_counts(&r, 10000, 10000, 0);
    check_copy(&r, 0, 3000, 10000, 0);
    add(&r, 10000);
    check_copy(&r, 0, 3000, 10000, 1);
    ring_free(&r);
}

static void a_ring_of_several_chunks_wraps(void **state)
{
    (void)state;
    struct ring r;
    assert_true(ring_init(&r, sizeof(struct row), 1 << 14));
    for (uint64_t i = 0; i < 40000; i++)
        add(&r, i);
    assert_int_equal(r.chunk.len, 4);
    for (uint64_t from = 40000 - (1 << 14); from + 3000 < 40000; from += 1000)
        check_copy(&r, from, 3000, from, 3000);
    ring_free(&r);
}

static void a_row_without_memory_is_counted(void **state)
{
    (void)state;
    struct ring r;
    struct row row = { 0, 0 };
    assert_true(ring_init(&r, sizeof row, 1024));
    for (long n = 0; n < 2; n++) { /* the list of chunks, and a chunk */
        fault_left = n;
        assert_int_equal(ring_add(&r, &row), UINT64_MAX);
        assert_int_equal(fault_left, -1);
    }
    check_counts(&r, 0, 0, 2);
    add(&r, 0);
    check_counts(&r, 0, 1, 2);
    check_copy(&r, 0, 3000, 0, 1);
    ring_free(&r);
}

enum { WRITERS = 6, THREADS = 8, TURNS = 4000, ROWS = 64 };

struct shared {
    struct ring ring;
    uint32_t torn[THREADS];
};

static void add_or_copy(void *arg, uint32_t i, uint32_t thread)
{
    (void)thread;
    struct shared *s = arg;
    struct row rows[ROWS];
    uint64_t from = 0;
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        if (i < WRITERS) {
            ring_add(&s->ring, &(struct row){ i * TURNS + turn, i * TURNS + turn });
            continue;
        }
        uint32_t got = ring_copy(&s->ring, from, ROWS, rows, &from);
        for (uint32_t k = 0; k < got; k++)
            s->torn[i] += rows[k].number != rows[k].same;
        from += got;
    }
}

static void rows_are_copied_whole_while_others_add(void **state)
{
    (void)state;
    static struct shared s;
    assert_true(ring_init(&s.ring, sizeof(struct row), 1024));
    pool_run(THREADS, &(struct pool_work){ THREADS, add_or_copy, NULL, &s });
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(s.torn[i], 0);
    check_counts(&s.ring, WRITERS * TURNS - 1024, WRITERS * TURNS, WRITERS * TURNS - 1024);
    ring_free(&s.ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_capacity_is_a_power_of_two),
        cmocka_unit_test(the_last_rows_are_kept),
        cmocka_unit_test(a_ring_of_several_chunks_wraps),
        cmocka_unit_test(a_row_without_memory_is_counted),
        cmocka_unit_test(rows_are_copied_whole_while_others_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
