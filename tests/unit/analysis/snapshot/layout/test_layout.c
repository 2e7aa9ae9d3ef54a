/* test_layout.c - where blocks lay at every moment of a run, beside the run that ended there. */
#include "analysis/snapshot/layout/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/replay/block_sizes.h"
#include "allocator/replay/prove.h"
#include "allocator/replay/replay.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/program_made.h"
#include "made/sample.h"
#include "model/recording.h"

/* The part of a study that a layout needs. */
struct laid {
    struct study study;
    struct proven_study proven;
};

static void study(const struct recording *r, const struct proof *proof, struct arena *arena,
                  struct laid *ret)
{
    ret->study =
        (struct study){ .r = r, .events = r->devices.events[0], .traced = true, .scratch = arena };
    assert_int_equal(lifetimes_make(r, 0, arena, &ret->study.lifetimes, NULL), VRS_OK);
    ret->proven = proven_study_of(&ret->study, proof, NULL);
}

static struct layout laid(const struct laid *of, int64_t event)
{
    struct layout l;
    bool known = false;
    assert_int_equal(layout_at(&of->proven, event, of->study.scratch, &l, &known, NULL), VRS_OK);
    assert_true(known);
    return l;
}

/* Blocks fill their segments, free ones never touch, and the sums are those of the curves. */
static void check_sound(const struct laid *of, const struct layout *l)
{
    const struct study *s = &of->study;
    uint64_t reserved = 0, active = 0, requested = 0;
    for (uint32_t i = 0; i < l->segments; i++) {
        const struct layout_segment *segment = &l->segment[i];
        uint64_t at = segment->address;
        bool free_before = false;
        for (uint32_t k = 0; k < segment->blocks; k++) {
            const struct layout_block *b = &l->block[segment->first_block + k];
            assert_int_equal(b->address, at);
            assert_int_equal(b->segment, i);
            assert_true(b->size > 0 && b->requested <= b->size);
            assert_false(free_before && b->state == BLOCK_INACTIVE);
            assert_true((b->lifetime == NO_ROW) == (b->state == BLOCK_INACTIVE));
            free_before = b->state == BLOCK_INACTIVE;
            at += b->size;
        }
        assert_int_equal(at, segment->address + segment->size);
        assert_true(layout_returnable(l, segment) <= layout_segment_free(segment));
        reserved += segment->size;
        active += segment->active;
        requested += segment->requested;
    }
    assert_int_equal(reserved, curve_at(s->r, 0, CURVE_RESERVED, l->event));
    assert_int_equal(requested, curve_at(s->r, 0, CURVE_REQUESTED, l->event));
    uint64_t living = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (lifetime_alive(&s->lifetimes.at[i], l->event))
            living += proven_block(&of->proven, i).bytes;
    assert_int_equal(active, living);
    assert_int_equal(l->lost_bytes, 0);
}

static bool has_block(const struct layout *l, const struct layout_block *b)
{
    for (uint32_t i = 0; i < l->blocks; i++)
        if (l->block[i].address == b->address)
            return l->block[i].size == b->size && l->block[i].state == b->state &&
                   l->block[i].requested == b->requested;
    return false;
}

static const struct way ways[] = {
    { "", UINT64_MAX, false, false, 0, 0, 0, 0 },
    { "expandable_segments:True", UINT64_MAX, false, false, 0, 0, 0, 0 },
    { "", (uint64_t)600 << 20, false, false, 0, 0, 0, 0 },
    { "expandable_segments:True", (uint64_t)600 << 20, false, false, 0, 0, 0, 0 },
};
enum { WAYS = sizeof ways / sizeof *ways, OPS = 400 };

static struct program_made made;

struct run {
    struct recording r;
    struct agreement agreement;
    struct proof proof;
};

static void record(uint32_t seed, uint32_t ops, const struct way *way, struct run *ret)
{
    struct program_options options = { OPS, 2, 1, 30, true, true };
    program_draw(&made, seed, &options);
    made.ops = ops < made.ops ? ops : made.ops;
    program_record(&made, way, &ret->r);
    ret->proof = (struct proof){ .agreement = &ret->agreement };
    assert_int_equal(prove_recording(&ret->r, UINT32_MAX, &ret->proof, NULL), VRS_OK);
}

static void forget(struct run *run)
{
    block_sizes_free(&run->proof.block_sizes);
    recording_free(&run->r);
}

/* The state after an event is the final state of the same program, had it ended there. */
static void states_equal_shorter_runs(void **state)
{
    uint32_t compared = 0;
    (void)state;
    for (uint32_t i = 0; i < 3 * WAYS; i++) {
        struct run whole;
        struct arena arena;
        record(i + 7, OPS, &ways[i / 3], &whole);
        assert_true(grade_is_exact(whole.agreement.grade));
        arena_init(&arena, SIZE_MAX);
        struct laid s;
        study(&whole.r, &whole.proof, &arena, &s);
        for (uint32_t ops = 20; ops < OPS; ops += 60) {
            struct run part;
            record(i + 7, ops, &ways[i / 3], &part);
            int64_t last = (int64_t)part.r.devices.events[0] - 1;
            if (last >= 0 && last + 1 < (int64_t)s.study.events) {
                struct laid t;
                study(&part.r, &part.proof, &arena, &t);
                struct layout have = laid(&s, last), want = laid(&t, last);
                assert_true(have.exact && want.exact);
                check_sound(&s, &have);
                check_sound(&t, &want);
                assert_int_equal(have.blocks, want.blocks);
                for (uint32_t k = 0; k < want.blocks; k++)
                    assert_true(has_block(&have, &want.block[k]));
                compared++;
            }
            forget(&part);
        }
        forget(&whole);
        arena_free(&arena);
    }
    assert_true(compared > 4 * WAYS);
}

static void every_event_is_sound(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WAYS; i++) {
        struct run run;
        struct arena arena;
        record(i + 91, OPS, &ways[i], &run);
        arena_init(&arena, SIZE_MAX);
        struct laid s;
        study(&run.r, &run.proof, &arena, &s);
        for (int64_t event = -1; event < (int64_t)s.study.events; event++) {
            struct arena_mark mark = arena_mark(&arena);
            struct layout l = laid(&s, event);
            check_sound(&s, &l);
            arena_release(&arena, mark);
        }
        forget(&run);
        arena_free(&arena);
    }
}

/* Two allocations that cannot both be there: the second is cut short, and it says so. */
static void contradictions_are_told(void **state)
{
    (void)state;
    struct recording r;
    struct arena arena;
    struct agreement a = { .grade = GRADE_POOR };
    struct proof proof = { .agreement = &a };
    struct layout l;
    bool known = true;
    sample_init(&r);
    sample_device(&r, 0);
    sample_segment(&r, 0x200000, 2 << 20);
    sample_block(&r, 2 << 20, 0, BLOCK_INACTIVE);
    sample_events(&r, "a 200000 4096; a 200800 4096; a 900000 512; f 200000 4096; f 200800 4096; "
                      "f 900000 512");
    sample_finish(&r);
    arena_init(&arena, SIZE_MAX);
    assert_int_equal(block_sizes_round(&r, &proof.block_sizes, NULL), VRS_OK);
    struct laid s;
    study(&r, &proof, &arena, &s);
    l = laid(&s, 2);
    assert_false(l.exact);
    assert_int_equal(l.lost_bytes, 2048 + 512);
    assert_int_equal(l.block[0].size, 2048);
    l = laid(&s, 5);
    assert_true(l.exact);
    r.devices.parts[0] = PART_SEGMENTS;
    assert_int_equal(layout_at(&s.proven, 2, &arena, &l, &known, NULL), VRS_OK);
    assert_false(known);
    r.devices.parts[0] = PART_SEGMENTS | PART_TRACE | PART_ANCHOR;
    block_sizes_free(&proof.block_sizes);
    recording_free(&r);
    arena_free(&arena);
}

static void whole_pages_are_counted_from_the_segment(void **state)
{
    (void)state;
    struct layout l = { .page_bytes = LARGE_SEGMENT_BYTES };
    struct layout_segment large = { .address = 1000, .expandable = true };
    struct layout_segment small = { .address = 1000, .expandable = true, .small = true };
    uint64_t page = LARGE_SEGMENT_BYTES;
    assert_int_equal(layout_whole_pages(&l, &large, 1000, 1000 + page), page);
    assert_int_equal(layout_whole_pages(&l, &large, 1001, 1000 + page), 0);
    assert_int_equal(layout_whole_pages(&l, &large, 1001, 1000 + 3 * page - 1), page);
    assert_int_equal(layout_whole_pages(&l, &large, 1000 + page, 1000 + 3 * page), 2 * page);
    assert_int_equal(layout_whole_pages(&l, &small, 1001, 1000 + 3 * SMALL_SEGMENT_BYTES),
                     2 * SMALL_SEGMENT_BYTES);
    assert_int_equal(layout_whole_pages(&l, &large, 5, 4), 0);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct run run;
    record(3, OPS, &ways[1], &run);
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct laid s;
    study(&run.r, &run.proof, &arena, &s);
    for (long n = 0;; n++) {
        struct arena mine;
        struct layout l;
        bool known;
        arena_init(&mine, SIZE_MAX);
        fault_left = n;
        enum vrs_status status = layout_at(&s.proven, s.study.events / 2, &mine, &l, &known, NULL);
        bool fired = fault_left < 0;
        fault_left = -1;
        arena_free(&mine);
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        if (!fired)
            break;
    }
    forget(&run);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_equal_shorter_runs),
        cmocka_unit_test(every_event_is_sound),
        cmocka_unit_test(contradictions_are_told),
        cmocka_unit_test(whole_pages_are_counted_from_the_segment),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
