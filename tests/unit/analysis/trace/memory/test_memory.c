#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/memory/memory.h"
#include "base/arena.h"
#include "base/fail.h"
#include "made/fault.h"
#include "made/traced.h"

/* A trace that begins at 1000 with one operator, and these instants. */
static void make(struct traced *m, const char *instants, struct memory *ret)
{
    traced_begin(m);
    traced_spans(m, "op a 1/1 1000+1000");
    traced_memory(m, instants);
    traced_study(m);
    assert_int_equal(memory_make(&m->study, &m->arena, ret, NULL), VRS_OK);
}

static void totals_tell_the_curve(void **state)
{
    (void)state;
    static const struct {
        const char *instants;
        int64_t base, final, peak, peak_ns, reserved;
        uint64_t breaks;
    } cases[] = {
        { "1/0 1100 512 t512 r1024", 0, 512, 512, 1100, 1024, 0 },
        { "1/0 1100 512 t812 r1024; 1/0 1200 -300 t512 r2048; 1/0 1300 -512 t0 r0", 300, 0, 812,
          1100, 2048, 0 },
        /* The base is the peak. */
        { "1/0 1100 -200 t300 r9; 1/0 1200 100 t400 r8", 500, 400, 500, 1000, 9, 0 },
        { "1/0 1100 512 t512; 1/0 1200 8 t512; 1/0 1300 8 t528", 0, 528, 528, 1300, 0, 2 },
        /* The first instant of the peak, and events of one moment as in the file. */
        { "1/0 1100 512 t512; 1/0 1200 8 t520; 1/0 1200 -8 t512; 1/0 1300 8 t520", 0, 520, 520,
          1200, 0, 0 },
        { "1/0 1300 -512 t0; 1/0 1100 512 t512", 0, 0, 512, 1100, 0, 0 }, /* by time */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        struct memory memory;
        make(&m, cases[i].instants, &memory);
        assert_int_equal(memory.rows, 1);
        const struct memory_row *r = &memory.row[0];
        assert_true(r->has_totals);
        assert_int_equal(r->base, cases[i].base);
        assert_int_equal(r->final, cases[i].final);
        assert_int_equal(r->peak, cases[i].peak);
        assert_int_equal(r->peak_ns, cases[i].peak_ns);
        assert_int_equal(r->peak_reserved, cases[i].reserved);
        assert_int_equal(r->chain_breaks, cases[i].breaks);
        traced_end(&m);
    }
}

static void sums_are_as_low_as_they_can_be(void **state)
{
    (void)state;
    static const struct {
        const char *instants;
        int64_t base, final, peak, peak_ns;
    } cases[] = {
        { "0/-1 1100 512", 0, 512, 512, 1100 },
        { "0/-1 1100 -512", 512, 0, 512, 1000 },
        { "0/-1 1100 100; 0/-1 1200 -400; 0/-1 1300 50", 300, 50, 400, 1100 },
        { "0/-1 1100 100; 0/-1 1200 -100; 0/-1 1300 100", 0, 100, 100, 1100 },
        { "0/-1 1100 100 t100; 0/-1 1200 -300", 200, 0, 300, 1100 }, /* one total is missing */
        { "0/-1 1100 0", 0, 0, 0, 1000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        struct memory memory;
        make(&m, cases[i].instants, &memory);
        const struct memory_row *r = &memory.row[0];
        assert_false(r->has_totals);
        assert_int_equal(r->base, cases[i].base);
        assert_int_equal(r->final, cases[i].final);
        assert_int_equal(r->peak, cases[i].peak);
        assert_int_equal(r->peak_ns, cases[i].peak_ns);
        traced_end(&m);
    }
}

static void counts_of_both_directions(void **state)
{
    (void)state;
    struct traced m;
    struct memory memory;
    make(&m, "1/0 1 512; 1/0 2 0; 1/0 3 -100; 1/0 4 -12; 1/0 5 24", &memory);
    const struct memory_row *r = &memory.row[0];
    assert_int_equal(r->events, 5);
    assert_int_equal(r->allocs, 2);
    assert_int_equal(r->frees, 2);
    assert_int_equal(r->alloc_bytes, 536);
    assert_int_equal(r->free_bytes, 112);
    traced_end(&m);
}

static void blocks_by_their_address(void **state)
{
    (void)state;
    static const struct {
        const char *instants;
        bool has;
        uint64_t orphans, twice, alive;
        int64_t bytes;
    } cases[] = {
        { "1/0 1 512 a64", true, 0, 0, 1, 512 },
        { "1/0 1 512 a64; 1/0 2 -512 a64", true, 0, 0, 0, 0 },
        { "1/0 1 -512 a64; 1/0 2 8 a64", true, 1, 0, 1, 8 },
        { "1/0 1 512 a64; 1/0 2 8 a64; 1/0 3 -8 a64; 1/0 4 -512 a64", true, 1, 1, 0, 0 },
        { "1/0 1 512 a64; 1/0 2 8 a64", true, 0, 1, 1, 8 },
        { "1/0 1 512 a64; 1/0 2 0 a64; 1/0 3 0 a64", true, 1, 0, 0, 0 },
        { "1/0 1 512 a64; 1/0 2 8", false, 0, 0, 0, 0 }, /* one address is missing */
        { "1/0 1 512 a0; 1/0 2 8 a1; 1/0 3 -512 a0", true, 0, 0, 1, 8 },
        { "1/0 3 -512 a64; 1/0 2 512 a64; 1/0 1 512 a64", true, 0, 1, 0, 0 }, /* by time */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        struct memory memory;
        make(&m, cases[i].instants, &memory);
        const struct memory_row *r = &memory.row[0];
        assert_int_equal(r->has_addresses, cases[i].has);
        assert_int_equal(r->free_without_alloc, cases[i].orphans);
        assert_int_equal(r->alloc_on_live_address, cases[i].twice);
        assert_int_equal(r->alive_at_end, cases[i].alive);
        assert_int_equal(r->alive_at_end_bytes, cases[i].bytes);
        traced_end(&m);
    }
}

static void devices_by_their_text(void **state)
{
    (void)state;
    struct traced m;
    struct memory memory;
    make(&m, "1/2 1 1; 1/10 1 2; 0/-1 1 4; 1/2 3 8; 20/0 1 16; 2/0 1 32", &memory);
    static const struct {
        int64_t type, number, bytes;
    } wanted[] = { { 0, -1, 4 }, { 1, 10, 2 }, { 1, 2, 9 }, { 2, 0, 32 }, { 20, 0, 16 } };
    assert_int_equal(memory.rows, 5);
    for (uint32_t i = 0; i < memory.rows; i++) {
        assert_int_equal(memory.row[i].device_type, wanted[i].type);
        assert_int_equal(memory.row[i].device_number, wanted[i].number);
        assert_int_equal(memory.row[i].alloc_bytes, wanted[i].bytes);
    }
    traced_end(&m);
}

/* More devices than any machine has: those beyond 255 are one, and none loses an event to it. */
static void more_devices_than_a_machine_has(void **state)
{
    (void)state;
    enum { DEVICES = 300, KEPT = 255 };
    struct traced m;
    struct memory memory;
    traced_begin(&m);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < DEVICES; i++) {
            char text[32];
            snprintf(text, sizeof text, "1/%d %d 1", i, turn * DEVICES + i);
            traced_memory(&m, text);
        }
    }
    traced_study(&m);
    assert_int_equal(memory_make(&m.study, &m.arena, &memory, NULL), VRS_OK);
    assert_int_equal(memory.rows, KEPT + 1);
    for (uint32_t i = 0; i < memory.rows; i++)
        assert_int_equal(memory.row[i].events,
                         memory.row[i].device_number == KEPT ? 2 * (DEVICES - KEPT) : 2);
    traced_end(&m);
}

static void no_instant(void **state)
{
    (void)state;
    struct traced m;
    struct memory memory;
    make(&m, "", &memory);
    assert_int_equal(memory.rows, 0);
    traced_end(&m);
}

struct again {
    struct traced *m;
    struct arena arena;
};

static enum vrs_status memory_again(void *arg)
{
    struct again *a = arg;
    struct memory memory;
    arena_init(&a->arena, SIZE_MAX / 2);
    enum vrs_status status = memory_make(&a->m->study, &a->arena, &memory, NULL);
    arena_free(&a->arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    struct traced m;
    struct memory memory;
    struct again again = { .m = &m };
    make(&m, "1/0 1 512 a64 t512; 1/1 1 512 a64; 1/0 2 -512 a64 t0", &memory);
    fault_each(memory_again, NULL, &again);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_tell_the_curve),
        cmocka_unit_test(sums_are_as_low_as_they_can_be),
        cmocka_unit_test(counts_of_both_directions),
        cmocka_unit_test(blocks_by_their_address),
        cmocka_unit_test(devices_by_their_text),
        cmocka_unit_test(more_devices_than_a_machine_has),
        cmocka_unit_test(no_instant),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
