/* test_whatif.c - questions about programs, answered a second time by the naive allocator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/replay/program.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"
#include "allocator/replay/start_state.h"
#include "allocator/whatif/run_recording.h"
#include "allocator/whatif/whatif.h"
#include "base/arena.h"
#include "base/fail.h"
#include "made/fault.h"
#include "made/program_made.h"
#include "made/sample.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/verify.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NO_END UINT64_MAX

/* A recording, ready to be asked. */
struct asked {
    struct recording r;
    struct arena arena;
    struct allocator_config config; /* of the question */
    struct program program;
    struct start_state start;
    uint8_t *change_of_stack;
    struct site_change change;
    struct whatif_question q;
};

static enum vrs_status prepare(struct asked *x)
{
    struct vrs_error err = { .message = "" };
    enum replay_refusal refusal;
    struct allocator_config recorded = config_of_recording(&x->r);
    arena_init(&x->arena, SIZE_MAX / 2);
    TRY(program_make(&x->r, 0, &x->arena, &x->program, &refusal, &err));
    assert_int_equal(refusal, REFUSED_NOT);
    TRY(start_state_make(&x->program, &recorded, &x->arena, &x->start, &refusal, &err));
    assert_int_equal(refusal, REFUSED_NOT);
    return VRS_OK;
}

/* Takes x->r; asks for the settings of `settings`. */
static void begin(struct asked *x, const char *settings)
{
    x->config = config_from(settings);
    x->change_of_stack = NULL;
    x->q = (struct whatif_question){ .config = &x->config, .capacity_bytes = UNKNOWN_U64 };
    assert_int_equal(prepare(x), VRS_OK);
}

static void change(struct asked *x, uint32_t stack, struct site_change what)
{
    free(x->change_of_stack);
    x->change_of_stack = calloc(x->r.code.stacks.rows.len, 1);
    assert_non_null(x->change_of_stack);
    x->change_of_stack[stack] = 1;
    x->change = what;
    x->q.change = &x->change;
    x->q.change_of_stack = x->change_of_stack;
}

static void end(struct asked *x)
{
    free(x->change_of_stack);
    arena_free(&x->arena);
    recording_free(&x->r);
}

static struct whatif_answer ask(struct asked *x)
{
    struct whatif_answer a;
    struct vrs_error err = { .message = "" };
    assert_int_equal(whatif_run(&x->program, &x->start, &x->q, &a, &err), VRS_OK);
    return a;
}

static void check(const struct whatif_answer *a, const struct expected *e)
{
    assert_int_equal(a->reserved.bytes, e->reserved);
    assert_int_equal(a->active.bytes, e->active);
    assert_int_equal(a->requested.bytes, e->requested);
    assert_int_equal(a->new_memory, e->new_memory);
    assert_int_equal(a->retries, e->retries);
    assert_int_equal(a->ran_out, e->ran_out);
    if (a->ran_out)
        assert_int_equal(a->oom.event, e->event);
    assert_true(a->lower_bound_bytes < a->reserved.bytes + SMALL_SEGMENT_BYTES);
    assert_int_equal(a->served_oom_event, -1);
}

static const char *const recorded_settings[] = { "", "expandable_segments:True" };

/* Each is asked of each recording. */
static const struct way ways[] = {
    { .settings = "", .capacity = NO_END },
    { .settings = "", .capacity = NO_END, .ascend = true },
    { .settings = "expandable_segments:True", .capacity = NO_END },
    { .settings = "roundup_power2_divisions:4", .capacity = NO_END },
    { .settings = "max_split_size_mb:24", .capacity = NO_END },
    { .settings = "large_segment_size_mb:40", .capacity = NO_END },
    { .settings = "", .capacity = 400 * MIB },
    { .settings = "", .capacity = 250 * MIB },
    { .settings = "max_split_size_mb:24", .capacity = 400 * MIB },
    { .settings = "expandable_segments:True", .capacity = 300 * MIB },
    { .settings = "", .capacity = NO_END, .drop = true },
    { .settings = "", .capacity = 300 * MIB, .drop = true },
    { .settings = "", .capacity = NO_END, .scale = 0.5 },
    { .settings = "", .capacity = NO_END, .scale = 1e-9 },
    { .settings = "", .capacity = NO_END, .scale = 1.7 },
    { .settings = "", .capacity = NO_END, .begin = 100, .end = 400 },
    { .settings = "expandable_segments:True", .capacity = 350 * MIB, .begin = 3, .end = 250 },
};

static void ask_this_way(struct asked *x, const struct program_made *p, const struct way *w)
{
    struct scope scope = { w->begin, w->end };
    struct site_change what = { .kind = CHANGE_DROP };
    struct expected e;
    begin(x, w->settings);
    x->q.capacity_bytes = w->capacity;
    x->q.addresses_ascend = w->ascend;
    if (w->scale > 0)
        what = (struct site_change){ .kind = CHANGE_SCALE, .factor = w->scale };
    if (w->end > 0)
        what = (struct site_change){ .kind = CHANGE_FREE_EARLY, .scope = &scope, .scopes = 1 };
    if (w->drop || w->scale > 0 || w->end > 0)
        change(x, site_stack(&x->r, 1), what);
    program_expect(p, w, &e);
    struct whatif_answer a = ask(x);
    check(&a, &e);
    free(x->change_of_stack);
    arena_free(&x->arena);
}

static void questions_have_the_naive_answer(void **state) /* 11 */
{
    static struct program_made p;
    static const struct program_options options[] = {
        { 500, 1, 1, 30, false, true },
        { 600, 2, 1, 30, true, true },
        { 600, 3, 2, 60, true, false },
    };
    uint32_t ran_out = 0;
    (void)state;
    for (uint32_t i = 0; i < 4 * COUNT(options); i++) {
        struct way recorded = { .settings = recorded_settings[i & 1], .capacity = NO_END };
        struct asked x;
        program_draw(&p, i + 50, &options[i / 4]);
        program_record(&p, &recorded, &x.r);
        for (uint32_t k = 0; k < COUNT(ways); k++) {
            struct expected e;
            ask_this_way(&x, &p, &ways[k]);
            program_expect(&p, &ways[k], &e);
            ran_out += e.ran_out;
        }
        recording_free(&x.r);
    }
    assert_true(ran_out > 5);
}

static void the_identities_hold(void **state) /* 11.2 */
{
    static struct program_made p;
    static const struct program_options options = { 500, 2, 1, 40, false, true };
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct way recorded = { .settings = recorded_settings[i & 1],
                                .capacity = i < 4 ? NO_END : 420 * MIB };
        struct asked x;
        struct identities id;
        program_draw(&p, i + 7, &options);
        program_record(&p, &recorded, &x.r);
        begin(&x, recorded.settings);
        assert_int_equal(whatif_identities(&x.program, &x.start, &x.config, &id, NULL), VRS_OK);
        assert_true(id.reproduces);
        assert_int_equal(id.parted_event, -1);
        if (i < 4) {
            assert_true(id.reproduces_at_capacity);
            assert_int_equal(id.first_oom_at_capacity, -2);
        } else if (p.ran_out) {
            assert_int_equal(id.recorded_capacity_bytes, 420 * MIB);
            assert_int_equal(id.first_oom_at_capacity, x.program.events - 1);
        }
        end(&x);
    }
}

/* Questions about a few lines. */

/* Two stacks, for the allocations named in `sites` (one digit an event; 0: none). */
static void make(struct asked *x, const char *events, const char *sites)
{
    struct recording *r = &x->r;
    sample_init(r);
    sample_device(r, 0);
    sample_events(r, events);
    for (uint32_t i = 0; sites[i] != '\0'; i++) {
        struct line line = { sites[i] == '1' ? "one" : "two", "/a.py", 1 };
        if (sites[i] != '0')
            r->events.stack[i] = sample_stack(r, &line, 1).n;
    }
    sample_finish(r);
    begin(x, "");
}

static uint32_t stack_of_event(const struct asked *x, uint32_t event)
{
    return x->r.events.stack[event];
}

static void running_out_has_facts(void **state) /* 15 */
{
    struct asked x;
    (void)state;
    make(&x,
         "a 1000000 5242880; a 2000000 5242880; a 3000000 31457280; f 1000000 5242880; "
         "f 3000000 31457280; a 4000000 41943040; f 4000000 41943040; f 2000000 5242880",
         "");
    x.q.capacity_bytes = 50 * MIB;
    struct whatif_answer a = ask(&x);
    assert_true(a.ran_out);
    assert_int_equal(a.oom.event, 5);
    assert_int_equal(a.oom.want_bytes, 40 * MIB);
    assert_int_equal(a.oom.segment_bytes, 40 * MIB);
    assert_int_equal(a.oom.reserved_bytes, 20 * MIB);
    assert_int_equal(a.oom.active_bytes, 5 * MIB);
    assert_int_equal(a.oom.largest_free_bytes, 10 * MIB);
    assert_int_equal(a.oom.returnable_bytes, 0);
    assert_int_equal(a.oom.stranded_bytes, 15 * MIB);
    assert_int_equal(a.retries, 1);
    assert_int_equal(a.reserved.bytes, 50 * MIB);
    assert_int_equal(a.reserved.event, 2);
    x.q.capacity_bytes = 60 * MIB; /* the retry is enough */
    a = ask(&x);
    assert_false(a.ran_out);
    assert_int_equal(a.retries, 1);
    x.q.capacity_bytes = 90 * MIB;
    a = ask(&x);
    assert_int_equal(a.retries, 0);
    assert_int_equal(a.lower_bound_bytes, 46 * MIB);
    end(&x);
}

static void the_smallest_capacity_is_found(void **state) /* 11.3 */
{
    struct asked x;
    struct capacity_answer c;
    (void)state;
    make(&x,
         "a 1000000 5242880; a 2000000 5242880; a 3000000 31457280; f 1000000 5242880; "
         "f 3000000 31457280; a 4000000 41943040; f 4000000 41943040; f 2000000 5242880",
         "");
    struct whatif_answer a = ask(&x);
    assert_int_equal(whatif_smallest(&x.program, &x.start, &x.q, &a, &c, NULL), VRS_OK);
    assert_int_equal(c.bytes, 60 * MIB);
    assert_int_equal(c.retries, 1);
    assert_true(c.checked);
    end(&x);
}

static void an_oom_that_is_served_ends_the_run(void **state) /* 11.1 */
{
    struct asked x;
    (void)state;
    make(&x,
         "a 1000000 41943040; o 10485760 31457280; a 5000000 99999999; f 5000000 99999999; "
         "f 1000000 41943040",
         "01");
    struct whatif_answer a = ask(&x);
    assert_int_equal(a.served_oom_event, 1);
    assert_int_equal(a.reserved.bytes, 70 * MIB);
    assert_int_equal(a.active.bytes, 70 * MIB);
    assert_false(a.ran_out);
    x.q.capacity_bytes = 60 * MIB;
    a = ask(&x);
    assert_int_equal(a.served_oom_event, -1);
    assert_int_equal(a.oom.event, 1);
    x.q.identity = true;
    x.q.capacity_bytes = UNKNOWN_U64;
    a = ask(&x);
    assert_int_equal(a.served_oom_event, -1);
    assert_true(a.reserved.bytes > 130 * MIB);
    x.q.identity = false;
    change(&x, stack_of_event(&x, 1), (struct site_change){ .kind = CHANGE_DROP });
    a = ask(&x);
    assert_int_equal(a.served_oom_event, -1);
    assert_true(a.reserved.bytes > 130 * MIB);
    end(&x);
}

/* Site 1 is freed at the end of the innermost scope it was made in. */
static void scopes_may_be_nested(void **state) /* 11.1 */
{
    static const struct scope scopes[] = { { 0, 6 }, { 1, 3 }, { 1, 2 }, { 4, 4 }, { 7, 99 } };
    struct asked x;
    (void)state;
    make(&x,
         "a 1000000 10485760; a 2000000 10485760; a 3000000 10485760; n ? 0; a 4000000 20971520; "
         "n ? 0; a 5000000 31457280; f 1000000 10485760; f 2000000 10485760; "
         "f 3000000 10485760; f 4000000 20971520; f 5000000 31457280",
         "111000000000");
    struct whatif_answer a = ask(&x);
    assert_int_equal(a.active.bytes, 80 * MIB);
    change(&x, stack_of_event(&x, 0),
           (struct site_change){ .kind = CHANGE_FREE_EARLY, .scope = scopes, .scopes = 5 });
    a = ask(&x);
    /* Event 1's goes before 2, event 2's before 3, event 0's before 6: 30, 20 or 30, then 50. */
    assert_int_equal(a.active.bytes, 50 * MIB);
    assert_int_equal(a.active.event, 6);
    assert_int_equal(a.reserved.bytes, 70 * MIB);
    end(&x);
}

/* Addresses handed out twice without a free, inside a scope: the slot is in one list only. */
static void a_slot_used_again_in_a_scope_ends(void **state)
{
    static const struct scope scopes[] = { { -1, 9 }, { 2, 8 }, { 3, 7 } };
    struct asked x;
    (void)state;
    make(&x,
         "a 1000000 512; a 2000000 512; a 1000000 512; a 1000000 512; a 2000000 512; "
         "f 1000000 512; a 1000000 512; a 1000000 512; n ? 0; f 1000000 512; f 2000000 512",
         "11111011000");
    change(&x, stack_of_event(&x, 0),
           (struct site_change){ .kind = CHANGE_FREE_EARLY, .scope = scopes, .scopes = 3 });
    struct whatif_answer a = ask(&x);
    assert_true(a.active.bytes >= 1024);
    assert_true(a.active.bytes <= 8 * 512);
    end(&x);
}

/* A block older than the recording, and the cache of the start. */
static void the_start_can_be_changed_and_must_fit(void **state) /* 11.1 */
{
    struct asked x;
    (void)state;
    sample_init(&x.r);
    sample_device(&x.r, 0);
    sample_segment(&x.r, 0x10000000, 40 * MIB);
    uint32_t block = sample_block(&x.r, 40 * MIB, 40 * MIB, BLOCK_ALLOCATED);
    struct line line = { "one", "/a.py", 1 };
    x.r.blocks.stack[block] = sample_stack(&x.r, &line, 1).n;
    sample_segment(&x.r, 0x20000000, 60 * MIB);
    sample_block(&x.r, 60 * MIB, 0, BLOCK_INACTIVE);
    sample_events(&x.r, "a 20000000 1048576000; f 20000000 1048576000");
    sample_finish(&x.r);
    begin(&x, "");
    x.q.capacity_bytes = 90 * MIB; /* the cache is dropped before event 0 */
    struct whatif_answer a = ask(&x);
    assert_true(a.ran_out);
    assert_int_equal(a.oom.event, 0);
    assert_int_equal(a.reserved.bytes, 40 * MIB);
    assert_int_equal(a.active_start_bytes, 40 * MIB);
    x.q.capacity_bytes = 30 * MIB;
    a = ask(&x);
    assert_int_equal(a.oom.event, -1);
    assert_int_equal(a.oom.reserved_bytes, 40 * MIB);
    assert_int_equal(a.oom.stranded_bytes, 0);
    change(&x, x.r.blocks.stack[block], (struct site_change){ .kind = CHANGE_DROP });
    a = ask(&x);
    assert_int_equal(a.oom.event, 0);
    assert_int_equal(a.active_start_bytes, 0);
    x.q.capacity_bytes = UNKNOWN_U64;
    a = ask(&x);
    assert_int_equal(a.active.bytes, 1000 * MIB);
    assert_int_equal(a.reserved.bytes, 1100 * MIB);
    end(&x);
}

/* Made runs. */

static enum vrs_status make_run(const struct asked *x, struct recording *ret,
                                struct whatif_answer *a)
{
    struct vrs_error err = { .message = "" };
    TRY(run_recording_begin(ret, &x->r, x->q.config, &err));
    TRY(run_recording_add(ret, &x->program, &x->start, &x->q, a, &err));
    return run_recording_finish(ret, &err);
}

static void check_made(struct recording *made, const struct whatif_answer *a)
{
    struct vrs_error err = { .message = "" };
    struct arena arena;
    struct program p;
    struct start_state start;
    enum replay_refusal refusal;
    struct agreement agreement;
    struct whatif_answer again;
    enum vrs_status verified = verify_recording(made, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(verified, VRS_OK);
    struct allocator_config c = config_of_recording(made);
    arena_init(&arena, SIZE_MAX / 2);
    assert_int_equal(program_make(made, 0, &arena, &p, &refusal, &err), VRS_OK);
    assert_int_equal(refusal, REFUSED_NOT);
    assert_int_equal(start_state_make(&p, &c, &arena, &start, &refusal, &err), VRS_OK);
    assert_int_equal(refusal, REFUSED_NOT);
    assert_int_equal(replay_run(&p, &start, &c, NULL, &agreement, &err), VRS_OK);
    assert_string_equal(disagreement_names[agreement.first.kind], "none");
    assert_int_equal(agreement.grade, GRADE_EXACT);
    assert_int_equal(agreement.active.peak_bytes, a->active.bytes);
    struct whatif_question q = { .config = &c, .capacity_bytes = UNKNOWN_U64, .identity = true };
    assert_int_equal(whatif_run(&p, &start, &q, &again, &err), VRS_OK);
    assert_true(again.same_curve);
    assert_int_equal(again.reserved.bytes, a->reserved.bytes);
    assert_int_equal(again.active.bytes, a->active.bytes);
    assert_int_equal(again.requested.bytes, a->requested.bytes);
    arena_free(&arena);
}

static void run_recordings_are_recordings(void **state)
{
    static struct program_made p;
    static const struct program_options options = { 500, 2, 2, 40, false, true };
    static const struct way made_ways[] = {
        { .settings = "", .capacity = NO_END },
        { .settings = "", .capacity = 300 * MIB },
        { .settings = "expandable_segments:True", .capacity = 300 * MIB },
        { .settings = "roundup_power2_divisions:[1:4,8:2],large_segment_size_mb:32",
          .capacity = NO_END },
        { .settings = "max_split_size_mb:24,max_non_split_rounding_mb:30", .capacity = NO_END },
        { .settings = "expandable_segments:True", .capacity = NO_END, .scale = 0.5 },
    };
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(made_ways); i++) {
        const struct way *w = &made_ways[i / 2];
        struct way recorded = { .settings = recorded_settings[i & 1], .capacity = NO_END };
        struct asked x;
        struct recording made;
        struct whatif_answer a;
        program_draw(&p, i + 90, &options);
        program_record(&p, &recorded, &x.r);
        begin(&x, w->settings);
        x.q.capacity_bytes = w->capacity;
        if (w->scale > 0)
            change(&x, site_stack(&x.r, 1),
                   (struct site_change){ .kind = CHANGE_SCALE, .factor = w->scale });
        assert_true(recording_init(&made, 1 << 20, 1 << 20));
        assert_int_equal(make_run(&x, &made, &a), VRS_OK);
        check_made(&made, &a);
        recording_free(&made);
        end(&x);
    }
}

static void every_allocation_may_fail(void **state)
{
    static struct program_made p;
    static const struct program_options options = { 160, 2, 1, 40, true, true };
    static const struct scope scopes[] = { { 0, 90 }, { 20, 60 } };
    struct way recorded = { .settings = "", .capacity = NO_END };
    struct asked x;
    uint32_t forgiven = 0;
    (void)state;
    program_draw(&p, 3, &options);
    program_record(&p, &recorded, &x.r);
    begin(&x, "expandable_segments:True");
    change(&x, site_stack(&x.r, 1),
           (struct site_change){ .kind = CHANGE_FREE_EARLY, .scope = scopes, .scopes = 2 });
    x.q.capacity_bytes = 200 * MIB;
    for (long n = 0;; n++) {
        struct recording made;
        struct whatif_answer a;
        struct identities id;
        assert_true(recording_init(&made, 1 << 20, 1 << 20));
        fault_left = n;
        enum vrs_status status = make_run(&x, &made, &a);
        if (status == VRS_OK)
            status = whatif_identities(&x.program, &x.start, &x.config, &id, NULL);
        bool fired = fault_left < 0;
        fault_left = -1;
        recording_free(&made);
        /* Columns are trimmed at the end, and stay as they are where that fails. */
        if (fired && status == VRS_OK)
            forgiven++;
        else
            assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        if (!fired)
            break;
    }
    assert_in_range(forgiven, 0, 5);
    end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_have_the_naive_answer),
        cmocka_unit_test(the_identities_hold),
        cmocka_unit_test(running_out_has_facts),
        cmocka_unit_test(the_smallest_capacity_is_found),
        cmocka_unit_test(an_oom_that_is_served_ends_the_run),
        cmocka_unit_test(scopes_may_be_nested),
        cmocka_unit_test(a_slot_used_again_in_a_scope_ends),
        cmocka_unit_test(the_start_can_be_changed_and_must_fit),
        cmocka_unit_test(run_recordings_are_recordings),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
