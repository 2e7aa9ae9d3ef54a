/* test_replay.c - recordings that the model reproduces, and recordings that lie in one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/replay/program.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"
#include "allocator/replay/start_state.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/program_made.h"
#include "made/sample.h"
#include "model/recording.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A replay of the first device, with what it worked on. */
struct replayed {
    struct arena arena;
    struct allocator_config config;
    struct program program;
    struct start_state start;
    enum replay_refusal refusal;
    struct agreement a;
};

static enum vrs_status replay(const struct recording *r, struct replayed *x)
{
    struct vrs_error err = { .message = "" };
    arena_init(&x->arena, SIZE_MAX / 2);
    x->config = config_of_recording(r);
    x->refusal = REFUSED_NOT;
    x->a = (struct agreement){ .grade = GRADE_NONE };
    TRY(program_make(r, 0, &x->arena, &x->program, &x->refusal, &err));
    if (x->refusal == REFUSED_NOT)
        TRY(start_state_make(&x->program, &x->config, &x->arena, &x->start, &x->refusal, &err));
    if (x->refusal == REFUSED_NOT)
        TRY(replay_run(&x->program, &x->start, &x->config, NULL, &x->a, &err));
    return VRS_OK;
}

static struct agreement agreement_of(const struct recording *r)
{
    struct replayed x;
    assert_int_equal(replay(r, &x), VRS_OK);
    assert_int_equal(x.refusal, REFUSED_NOT);
    arena_free(&x.arena);
    return x.a;
}

static void check_refused(const struct recording *r, enum replay_refusal refusal)
{
    struct replayed x;
    assert_int_equal(replay(r, &x), VRS_OK);
    assert_int_equal(x.refusal == REFUSED_NOT ? x.a.refusal : x.refusal, refusal);
    assert_int_equal(x.a.grade, GRADE_NONE);
    arena_free(&x.arena);
}

static void check_exact(const struct recording *r, enum replay_grade grade)
{
    struct agreement a = agreement_of(r);
    assert_string_equal(disagreement_names[a.first.kind], "none");
    assert_int_equal(a.first.event, 0);
    assert_string_equal(replay_grade_names[a.grade], replay_grade_names[grade]);
    assert_int_equal(a.addresses, a.addresses_equal);
    assert_int_equal(a.new_memory, a.new_memory_equal);
    assert_int_equal(a.release_runs, a.release_runs_equal);
    assert_int_equal(a.final_blocks, a.final_blocks_equal);
    assert_int_equal(a.unexpected_segments + a.unknown_frees + a.size_clashes, 0);
    assert_true(a.final_blocks > 0);
}

static void store(struct recording *r, const char *settings)
{
    struct settings *s = &r->settings;
    sample_setting(r, "PYTORCH_CUDA_ALLOC_CONF", 0);
    uint32_t row = s->rows.len - 1;
    s->type[row] = SETTING_TEXT;
    s->text[row] = sample_string(r, settings).n;
}

struct scenario {
    struct way way;
    struct program_options program;
};

#define NO_END UINT64_MAX

/* With a capacity nothing is deferred: what a retry completes may fit the request, which goes on to
 * ask for new memory all the same, and a trace does not tell that from a model that is wrong. */
static const struct scenario scenarios[] = {
    { { .settings = "", .capacity = NO_END }, { 500, 1, 1, 30, false, false } },
    { { .settings = "", .capacity = NO_END, .ascend = true }, { 500, 3, 1, 30, true, true } },
    { { .settings = "", .capacity = 300 * MIB }, { 600, 2, 1, 30, false, true } },
    { { .settings = "", .capacity = 400 * MIB }, { 600, 2, 3, 30, false, false } },
    { { .settings = "roundup_power2_divisions:4", .capacity = NO_END },
      { 500, 2, 1, 50, false, true } },
    { { .settings = "max_split_size_mb:24", .capacity = NO_END }, { 500, 1, 1, 60, true, true } },
    { { .settings = "expandable_segments:True", .capacity = NO_END },
      { 600, 2, 1, 30, true, true } },
    { { .settings = "expandable_segments:True", .capacity = 400 * MIB },
      { 600, 2, 1, 60, false, true } },
    { { .settings = "expandable_segments:True,max_split_size_mb:24", .capacity = NO_END },
      { 500, 2, 2, 60, false, true } },
    { { .settings = "large_segment_size_mb:32", .capacity = 500 * MIB },
      { 500, 2, 1, 30, false, true } },
};

static void what_the_rules_made_is_reproduced(void **state) /* 10 */
{
    static struct program_made p;
    (void)state;
    for (uint32_t i = 0; i < 3 * COUNT(scenarios); i++) {
        struct recording r;
        program_draw(&p, i + 1, &scenarios[i / 3].program);
        program_record(&p, &scenarios[i / 3].way, &r);
        store(&r, scenarios[i / 3].way.settings);
        check_exact(&r, GRADE_EXACT);
        recording_free(&r);
    }
}

/* The trace without its older half: blocks that ended in it have sizes that no file tells.  What is
 * not known is slack whose owner nothing reveals, and where a reservation begins whose lowest pages
 * were not mapped. */
static void windows_are_reproduced_nearly(void **state) /* 9 */
{
    static struct program_made p;
    uint64_t inferred = 0, exact = 0, runs = 0;
    (void)state;
    for (uint32_t i = 0; i < 4 * COUNT(scenarios); i++) {
        const struct scenario *s = &scenarios[i / 4];
        struct recording r;
        struct way half = s->way;
        program_draw(&p, i + 100, &s->program);
        program_record(&p, &s->way, &r);
        half.first_event = r.events.rows.len / 2;
        while (r.events.action[half.first_event] != ACTION_ALLOC)
            half.first_event++; /* not inside a request */
        half.first_event++;
        recording_free(&r);
        program_record(&p, &half, &r);
        store(&r, s->way.settings);
        struct agreement a = agreement_of(&r);
        inferred += a.inferred;
        runs++;
        exact += grade_is_exact(a.grade);
        assert_int_not_equal(a.grade, GRADE_NONE);
        assert_int_equal(a.size_clashes, 0);
        recording_free(&r);
    }
    assert_true(inferred > 200);
    assert_true(exact * 10 >= runs * 9);
}

/* One segment of 20 MiB with a block of 5.5 MiB for a request of 5, older than the trace; its
 * neighbour above was freed before the trace too. */
static void slack_is_corrected(void **state) /* 9 */
{
    struct recording r;
    (void)state;
    sample_init(&r);
    sample_device(&r, 0);
    sample_segment(&r, 0x10000000, 20 * MIB);
    sample_block(&r, 5 * MIB + MIB / 2, 0, BLOCK_INACTIVE);
    sample_block(&r, 2 * MIB, 2 * MIB, BLOCK_ALLOCATED);
    sample_block(&r, 12 * MIB + MIB / 2, 0, BLOCK_INACTIVE);
    sample_events(&r, "a 10580000 2097152; r 10000000 5242880; c 10000000 5242880");
    sample_finish(&r);
    struct agreement a = agreement_of(&r);
    assert_string_equal(replay_grade_names[a.grade], "exact after correction");
    assert_int_equal(a.corrected, 1);
    assert_int_equal(a.inferred, 1);
    assert_int_equal(a.preexisting, 1);
    assert_int_equal(a.active.start_bytes, 5 * MIB + MIB / 2);
    assert_int_equal(a.active.peak_bytes, 7 * MIB + MIB / 2);
    assert_int_equal(a.active.peak_event, 0);
    assert_int_equal(a.active.peak_last_event, 1);
    assert_int_equal(a.allocated.peak_last_event, 0);
    assert_int_equal(a.active.end_bytes, 2 * MIB);
    recording_free(&r);
}

/* A good recording, for lies: two small blocks, a large one of its own segment, a release. */
static const char good[] = "A 10000000 2097152; a 10000000 512; A 20000000 31457280; "
                           "a 20000000 31457280; a 10000200 1024; r 10000000 512; "
                           "c 10000000 512; r 20000000 31457280; c 20000000 31457280; "
                           "F 20000000 31457280; n ? 1024; a 10000000 100";

static void make(struct recording *r, const char *events, uint64_t first_block)
{
    sample_init(r);
    sample_device(r, 0);
    uint32_t s = sample_segment(r, 0x10000000, 2 * MIB);
    r->segments.size_class[s] = CLASS_SMALL;
    sample_block(r, first_block, 100, BLOCK_ALLOCATED);
    sample_block(r, 1536 - first_block, 1024, BLOCK_ALLOCATED);
    sample_block(r, 2 * MIB - 1536, 0, BLOCK_INACTIVE);
    sample_events(r, events);
    sample_finish(r);
}

static void a_good_one_agrees(void **state)
{
    struct recording r;
    (void)state;
    make(&r, good, 512);
    check_exact(&r, GRADE_EXACT);
    struct agreement a = agreement_of(&r);
    assert_int_equal(a.release_runs, 1);
    assert_int_equal(a.snapshots_equal, 1);
    assert_int_equal(a.new_memory, 2);
    assert_int_equal(a.runs_by_sequence[RUN_EMPTY_CACHE], 1);
    recording_free(&r);
}

static void check_lie(const char *events, enum disagreement kind, int64_t event)
{
    struct recording r;
    make(&r, events, 512);
    struct agreement a = agreement_of(&r);
    assert_string_equal(disagreement_names[a.first.kind], disagreement_names[kind]);
    assert_int_equal(a.first.event, event);
    assert_false(grade_is_exact(a.grade));
    recording_free(&r);
}

static void each_disagreement_is_found_where_it_is(void **state) /* 10.3 */
{
    (void)state;
    check_lie("A 10000000 2097152; a 10000000 512; a 10000200 1024; a 10001000 512; "
              "r 10001000 512; c 10001000 512; r 10000000 512; c 10000000 512; a 10000000 100",
              WRONG_ADDRESS, 3);
    check_lie("A 10000000 2097152; a 10000000 512; a 10000200 1024; a 10000100 100; "
              "r 10000100 100; c 10000100 100; r 10000000 512; c 10000000 512; a 10000000 100",
              ADDRESS_TAKEN, 3);
    check_lie("A 10000000 2097152; a 10000000 100; A 30000000 2097152; a 10000200 1024; "
              "F 30000000 2097152",
              SEGMENT_NOT_ASKED, 3);
    check_lie("A 10000000 2097152; a 10000000 100; a 10000200 1024; a 20000000 20971520",
              SEGMENT_MISSING, 3);
    check_lie("A 10000000 2097152; a 10000000 100; a 10000200 1024; A 20000000 23068672; "
              "a 20000000 20971520; f 20000000 20971520; F 20000000 23068672",
              SEGMENT_DIFFERS, 4);
    check_lie("A 10000000 2097152; a 10000000 100; a 10000200 1024; r 12340000 512", UNKNOWN_FREE,
              3);
    check_lie("A 10000000 2097152; a 10000000 512; a 10000200 1024; r 10000000 500; "
              "c 10000000 512; a 10000000 100",
              SIZE_CLASH, 3);
    check_lie("A 10000000 2097152; a 10000000 512; a 10000200 1024; F 10000000 2097152; "
              "c 10000000 512; A 10000000 2097152; a 10000000 100",
              RELEASE_IMPOSSIBLE, 3);
    check_lie("A 10000000 2097152; a 10000000 100; a 10000200 1024; A 20000000 31457280; "
              "a 20000000 31457280; A 40000000 31457280; a 40000000 31457280; "
              "f 20000000 31457280; f 40000000 31457280; F 40000000 31457280; "
              "x; F 20000000 31457280",
              RELEASE_DIFFERS, 9);
    check_lie("A 10000000 2097152; a 10000000 100; a 10000200 1024; n ? 1024", SNAPSHOT_DIFFERS, 3);
    struct recording r;
    make(&r, "A 10000000 2097152; a 10000000 100; a 10000200 1024", 256);
    struct agreement a = agreement_of(&r);
    assert_int_equal(a.first.kind, FINAL_DIFFERS);
    assert_int_equal(a.first.event, 3);
    assert_int_equal(a.first.recorded_bytes, 256);
    recording_free(&r);
}

/* 8.1: what a failed attempt mapped is there when the retry releases everything. */
static void maps_before_a_retry_are_taken_in(void **state)
{
    struct recording r;
    (void)state;
    sample_init(&r);
    sample_device(&r, 0);
    uint32_t s = sample_segment(&r, 0x10000000, 20 * MIB);
    r.segments.expandable[s] = 1;
    sample_block(&r, 20 * MIB, 20 * MIB, BLOCK_ALLOCATED);
    /* A block of 20 MiB between two holes of 20: the first hole is mapped, then the device is full,
     * so that both go back. */
    sample_events(&r, "M 10000000 20971520; a 10000000 20971520; "
                      "M 11400000 20971520; a 11400000 20971520; "
                      "M 12800000 20971520; a 12800000 20971520; "
                      "M 13c00000 20971520; a 13c00000 20971520; "
                      "f 11400000 20971520; U 11400000 20971520; "
                      "f 12800000 20971520; f 13c00000 20971520");
    sample_events(&r, "M 11400000 20971520; U 11400000 62914560; "
                      "o 0 104857600");
    sample_finish(&r);
    struct agreement a = agreement_of(&r);
    assert_string_equal(disagreement_names[a.first.kind], "none");
    assert_int_equal(a.grade, GRADE_EXACT);
    assert_int_equal(a.release_runs_equal, 2);
    recording_free(&r);
}

static void what_cannot_be_replayed_is_refused(void **state)
{
    struct recording r;
    (void)state;
    make(&r, good, 512);
    r.devices.parts[0] = PART_SEGMENTS;
    check_refused(&r, REFUSED_CUT);
    r.devices.kind[0] = DEVICE_HOST;
    check_refused(&r, REFUSED_HOST);
    recording_free(&r);
    make(&r, "", 512);
    check_refused(&r, REFUSED_NO_EVENTS);
    recording_free(&r);
    make(&r, "n ? 0", 512);
    check_refused(&r, REFUSED_NO_EVENTS);
    recording_free(&r);
    make(&r, "a ? 512", 512);
    check_refused(&r, REFUSED_INCONSISTENT);
    recording_free(&r);
    make(&r, "F 10100000 20971520; a 10000000 100", 512); /* overlaps what is there at the end */
    check_refused(&r, REFUSED_INCONSISTENT);
    recording_free(&r);
    make(&r, "A 7000000000000000 2097152; a 10000000 100", 512);
    check_refused(&r, REFUSED_INCONSISTENT);
    recording_free(&r);
}

static void too_many_streams_are_refused(void **state)
{
    struct recording r;
    (void)state;
    make(&r, "", 512);
    for (uint32_t i = 0; i < LANES_MAX + 1; i++) {
        char text[40];
        snprintf(text, sizeof text, "a %x 512", 0x30000000 + i * 512);
        sample_events(&r, text);
        assert_true(streams_intern(&r.streams, i, &r.events.stream[i]));
    }
    check_refused(&r, REFUSED_LANES);
    recording_free(&r);
}

/* Causes of releases. */

static void check_cause(const char *events, const char *frame, uint32_t first, uint8_t cause,
                        bool by_stack)
{
    struct recording r;
    struct replayed x;
    make(&r, events, 512);
    if (frame != NULL) {
        struct line lines[] = { { frame, "/x/torch/cuda/memory.py", 1 }, { "main", "/a.py", 2 } };
        r.events.stack[first] = sample_stack(&r, lines, 2).n;
    }
    assert_int_equal(replay(&r, &x), VRS_OK);
    assert_int_equal(x.program.runs, 1);
    assert_int_equal(x.program.run[0].first, first);
    assert_int_equal(x.program.run[0].cause, cause);
    assert_int_equal(x.program.run[0].by_stack, by_stack);
    arena_free(&x.arena);
    recording_free(&r);
}

static void the_cause_of_a_release_is_judged(void **state) /* 10.1 */
{
    static const char malloc_name[] =
        "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long)";
    static const char empty[] = "F 20000000 2097152; F 30000000 2097152; a 10000000 100";
    static const char retry[] = "F 20000000 2097152; A 20000000 2097152; a 20000000 100";
    (void)state;
    check_cause(empty, NULL, 0, RUN_EMPTY_CACHE, false);
    check_cause(retry, NULL, 0, RUN_RETRY, false);
    check_cause("F 20000000 2097152; o 0 512", NULL, 0, RUN_RETRY, false);
    check_cause("F 20000000 2097152; A 20000000 2097152; o 0 512", NULL, 0, RUN_RETRY, false);
    check_cause("F 20000000 2097152; A 20000000 2097152; n ? 9", NULL, 0, RUN_EMPTY_CACHE, false);
    check_cause("F 20000000 2097152", NULL, 0, RUN_EMPTY_CACHE, false);
    check_cause(retry, "empty_cache", 0, RUN_EMPTY_CACHE, true);
    check_cause(retry, "c10::Native::emptyCache()", 0, RUN_EMPTY_CACHE, true);
    check_cause(empty, malloc_name, 0, RUN_RETRY, true);
    check_cause(retry, "my_empty_cache", 0, RUN_RETRY, false);
    check_cause(empty, "mallocator", 0, RUN_EMPTY_CACHE, false);
}

/* Slots and lanes. */

static void a_slot_stands_for_an_address(void **state)
{
    struct recording r;
    struct replayed x;
    (void)state;
    make(&r, good, 512);
    assert_int_equal(replay(&r, &x), VRS_OK);
    const uint32_t *slot = x.program.slot;
    assert_int_equal(slot[0], NO_ROW);
    assert_int_equal(slot[5], slot[1]);
    assert_int_equal(slot[6], slot[1]);
    assert_int_equal(slot[7], slot[3]);
    assert_int_not_equal(slot[4], slot[1]);
    assert_int_equal(slot[9], NO_ROW);
    assert_true(x.program.slots <= 3);
    assert_int_equal(program_reserved_start(&x.program), 0);
    arena_free(&x.arena);
    recording_free(&r);
}

static void every_allocation_may_fail(void **state)
{
    static struct program_made p;
    struct recording r;
    struct program_options options = { 300, 2, 1, 30, true, true };
    struct way half = { .settings = "", .capacity = 300 * MIB, .first_event = 120 };
    (void)state;
    program_draw(&p, 5, &options);
    program_record(&p, &half, &r);
    for (long n = 0;; n++) {
        struct replayed x;
        fault_left = n;
        enum vrs_status status = replay(&r, &x);
        bool fired = fault_left < 0;
        fault_left = -1;
        arena_free(&x.arena);
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        if (!fired)
            break;
    }
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_one_agrees),
        cmocka_unit_test(what_the_rules_made_is_reproduced),
        cmocka_unit_test(windows_are_reproduced_nearly),
        cmocka_unit_test(slack_is_corrected),
        cmocka_unit_test(each_disagreement_is_found_where_it_is),
        cmocka_unit_test(maps_before_a_retry_are_taken_in),
        cmocka_unit_test(what_cannot_be_replayed_is_refused),
        cmocka_unit_test(too_many_streams_are_refused),
        cmocka_unit_test(the_cause_of_a_release_is_judged),
        cmocka_unit_test(a_slot_stands_for_an_address),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
