#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/breakdown/peak.h"
#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/study/moment.h"
#include "base/arena.h"
#include "base/fail.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/ids.h"
#include "model/recording.h"

static const struct line allocator = { "malloc(unsigned long)", "??", 0 };
static const struct line node = {
    "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", "??", 0
};
static const struct line call = { "_call_impl", "/e/site-packages/torch/nn/modules/module.py", 9 };
static const struct line inner = { "forward", "/a/block.py", 31 };
static const struct line outer = { "forward", "/a/model.py", 84 };
static const struct line outer_too = { "forward", "/a/model.py", 85 };
static const struct line main_line = { "main", "/a/train.py", 7 };
static const struct line trainer = { "train", "/e/site-packages/trainer.py", 1 };

/* Seven allocations of four stacks; the last two are older than the recording.  Event 6 frees the
 * one of event 0. */
static void make(struct recording *r)
{
    sample_init(r);
    sample_device(r, 3);
    sample_segment(r, 0x1000, 2 << 20);
    sample_block(r, 1024, 600, BLOCK_ALLOCATED);  /* 1000 */
    sample_block(r, 1024, 1000, BLOCK_ALLOCATED); /* 1400 */
    sample_block(r, (2 << 20) - 2048, 0, BLOCK_INACTIVE);
    stack_id stacks[] = {
        sample_stack(r, (struct line[]){ allocator, inner, call, outer, main_line }, 5),
        sample_stack(r, (struct line[]){ inner, outer, outer, main_line }, 4),
        sample_stack(r, (struct line[]){ inner, outer_too, main_line }, 3),
        sample_stack(r, (struct line[]){ allocator, node }, 2),
        sample_stack(r, (struct line[]){ trainer, main_line }, 2),
    };
    sample_events(r, "a 9000 100; a a000 300; a b000 100; a c000 50; a d000 700; a 1000 600; "
                     "f 9000 100; f 90e000 40; f a000 300; f b000 100; f c000 50; f d000 700");
    const uint32_t stack_of[] = { 0, 1, 2, 3, 4, 0 };
    for (uint32_t i = 0; i < 6; i++)
        r->events.stack[i] = stacks[stack_of[i]].n;
    sample_finish(r);
}

static void put_rows(const struct peak *peak, char *to, size_t size)
{
    size_t len = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i < peak->rows; i++)
        len += (size_t)snprintf(to + len, size - len, "%s%.*s=%llu*%llu", i == 0 ? "" : "; ",
                                (int)peak->row[i].name.len, peak->row[i].name.ptr,
                                (unsigned long long)peak->row[i].bytes,
                                (unsigned long long)peak->row[i].count);
}

static void compute_sized(const struct recording *r, const struct block_sizes *sizes,
                          struct arena *arena, enum peak_by by, enum site_key key, int64_t at,
                          struct peak *ret)
{
    struct naming *naming;
    struct frame_class_options none = { { "", 0 }, { "", 0 } };
    struct peak_options options = { .by = by, .key = key, .at_event = at, .sizes = sizes };
    arena_init(arena, SIZE_MAX);
    assert_int_equal(naming_make(&r->code, &none, arena, &naming, NULL), VRS_OK);
    assert_int_equal(peak_compute(r, 0, &options, naming, arena, ret, NULL), VRS_OK);
}

/* Where nothing is replayed. */
static void compute(const struct recording *r, struct arena *arena, enum peak_by by,
                    enum site_key key, int64_t at, struct peak *ret)
{
    struct block_sizes sizes = { .bytes = NULL };
    assert_int_equal(block_sizes_round(r, &sizes, NULL), VRS_OK);
    compute_sized(r, &sizes, arena, by, key, at, ret);
    block_sizes_free(&sizes);
}

static void check(enum peak_by by, enum site_key key, int64_t at, const char *rows)
{
    struct recording r;
    struct arena arena;
    struct peak peak;
    char got[1024];
    make(&r);
    compute(&r, &arena, by, key, at, &peak);
    put_rows(&peak, got, sizeof got);
    assert_string_equal(got, rows);
    uint64_t bytes = 0, count = 0;
    for (uint32_t i = 0; i < peak.rows; i++) {
        bytes += peak.row[i].bytes;
        count += peak.row[i].count;
    }
    assert_int_equal(bytes, peak.live_bytes);
    assert_int_equal(count, peak.live_count);
    assert_int_equal(peak.total_bytes, (int64_t)bytes + peak.adjust_bytes);
    assert_int_equal(peak.total_bytes, curve_at(&r, 0, CURVE_REQUESTED, at));
    arena_free(&arena);
    recording_free(&r);
}

static void rows_are_the_live_set(void **state)
{
    (void)state;
    check(BY_CULPRIT, SITE_LINE, -1, "(no stack)=1040*2");
    check(BY_CULPRIT, SITE_LINE, 0, "(no stack)=1040*2; block.py:31 forward=100*1");
    check(BY_CULPRIT, SITE_LINE, 5,
          "block.py:31 forward=1100*4; (no stack)=1040*2; train.py:7 main=700*1; "
          "autograd:MmBackward0=50*1");
    check(BY_CULPRIT, SITE_LINE, 11, "(no stack)=1000*1; block.py:31 forward=600*1");
}

static void rows_follow_the_grouping(void **state)
{
    (void)state;
    check(BY_LINE, SITE_LINE, 5,
          "block.py:31 forward=1100*4; (no stack)=1040*2; train.py:7 main=700*1; "
          "autograd:MmBackward0=50*1");
    check(BY_OWNER, SITE_LINE, 5,
          "block.py:31 forward=1100*4; (no stack)=1040*2; trainer.py:1 train=700*1; "
          "autograd:MmBackward0=50*1");
    check(BY_FILE, SITE_LINE, 5,
          "/a/block.py=1100*4; (no stack)=1040*2; /a/train.py=700*1; autograd:MmBackward0=50*1");
    check(BY_FUNCTION, SITE_LINE, 5,
          "forward=1100*4; (no stack)=1040*2; main=700*1; autograd:MmBackward0=50*1");
    check(BY_MODULE, SITE_LINE, 5,
          "(no stack)=1040*2; model.py:84 > block.py:31=1000*3; (no module)=750*2; "
          "model.py:85 > block.py:31=100*1");
    check(BY_SIZE, SITE_LINE, 5,
          "1000=1000*1; 700=700*1; 600=600*1; 300=300*1; 100=200*2; "
          "50=50*1; 40=40*1");
    check(BY_POOL, SITE_LINE, 5, "default=2850*7; unknown=40*1");
    check(BY_STREAM, SITE_LINE, 5, "0=2890*8");
    check(BY_AGE, SITE_LINE, 5,
          "older than the recording=1040*2; 1 event=700*1; 0 events=600*1; 4-7 events=400*2; "
          "2-3 events=150*2");
}

static void check_age(int64_t at_event, int64_t born, const char *name)
{
    char got[PEAK_AGE_NAME_MOST];
    peak_age_name(peak_age_class(at_event, born), got);
    assert_string_equal(got, name);
}

static void ages_have_a_class_on_either_side_of_the_moment(void **state)
{
    (void)state;
    check_age(6, -1, "older than the recording");
    check_age(-1, -1, "older than the recording");
    check_age(6, 6, "0 events");
    check_age(6, 5, "1 event");
    check_age(6, 3, "2-3 events");
    check_age(6, 0, "4-7 events");
    check_age(UINT32_MAX, 0, "2147483648-4294967295 events");
    check_age(6, 7, "not yet");
    check_age(-1, 0, "not yet");
    check_age(0, UINT32_MAX, "not yet");
}

static void sites_merge_what_their_key_drops(void **state)
{
    (void)state;
    check(BY_SITE, SITE_EXACT, 5,
          "size:1000=1000*1; block.py:31 forward=700*2; train.py:7 main=700*1; "
          "block.py:31 forward=300*1; block.py:31 forward=100*1; autograd:MmBackward0=50*1; "
          "size:40=40*1");
    check(BY_SITE, SITE_LINE, 5,
          "size:1000=1000*1; block.py:31 forward=1000*3; train.py:7 main=700*1; "
          "block.py:31 forward=100*1; autograd:MmBackward0=50*1; size:40=40*1");
    check(BY_SITE, SITE_FUNCTION_IN_FILE, 5,
          "block.py:31 forward=1100*4; size:1000=1000*1; train.py:7 main=700*1; "
          "autograd:MmBackward0=50*1; size:40=40*1");
    check(BY_SITE, SITE_FUNCTION, 5,
          "block.py:31 forward=1100*4; size:1000=1000*1; train.py:7 main=700*1; "
          "autograd:MmBackward0=50*1; size:40=40*1");
}

static void rows_tell_the_rest(void **state)
{
    (void)state;
    struct recording r;
    struct arena arena;
    struct peak peak;
    make(&r);
    compute(&r, &arena, BY_CULPRIT, SITE_LINE, 5, &peak);
    const struct peak_row *row = &peak.row[0];
    assert_int_equal(row->largest_bytes, 600);
    assert_int_equal(row->oldest_event, 0);
    assert_int_equal(row->stack.n, r.events.stack[5]);
    assert_true(row->median_age_events == 3.5);
    assert_true(row->slack_bytes == UNKNOWN_U64);
    assert_true(row->share_ratio > 0.38 && row->share_ratio < 0.381);
    assert_true(peak.row[1].median_age_events < 0);
    assert_int_equal(peak.row[1].oldest_event, -1);
    arena_free(&arena);
    compute(&r, &arena, BY_STREAM, SITE_LINE, 11, &peak);
    assert_int_equal(peak.rows, 1);
    assert_null(peak.row[0].culprit.ptr);
    assert_null(peak.row[0].owner.ptr);
    assert_int_equal(peak.row[0].slack_bytes, 2048 - 1600);
    arena_free(&arena);
    recording_free(&r);
}

/* The same rows, once a replay has told every block; then with one that it has not, and where
 * nobody has asked. */
static void replayed_blocks_have_slack(void **state)
{
    (void)state;
    static const uint64_t slack[] = { 924 + 724 + 924 + 424, 24 + 984, 836, 974 };
    struct recording r;
    struct arena arena;
    struct peak peak;
    struct block_sizes sizes = { .bytes = NULL };
    make(&r);
    assert_int_equal(block_sizes_round(&r, &sizes, NULL), VRS_OK);
    for (uint32_t i = 0; i < sizes.rows.len; i++)
        if (sizes.source[i] == SOURCE_ROUNDED) {
            sizes.source[i] = SOURCE_REPLAYED;
            sizes.bytes[i] += 512;
        }
    compute_sized(&r, &sizes, &arena, BY_CULPRIT, SITE_LINE, 5, &peak);
    assert_int_equal(peak.rows, 4);
    for (uint32_t i = 0; i < peak.rows; i++)
        assert_int_equal(peak.row[i].slack_bytes, slack[i]);
    arena_free(&arena);
    sizes.source[0] = SOURCE_ROUNDED;
    compute_sized(&r, &sizes, &arena, BY_CULPRIT, SITE_LINE, 5, &peak);
    assert_true(peak.row[0].slack_bytes == UNKNOWN_U64);
    for (uint32_t i = 1; i < peak.rows; i++)
        assert_int_equal(peak.row[i].slack_bytes, slack[i]);
    arena_free(&arena);
    compute_sized(&r, NULL, &arena, BY_STREAM, SITE_LINE, 11, &peak);
    assert_true(peak.row[0].slack_bytes == UNKNOWN_U64);
    arena_free(&arena);
    block_sizes_free(&sizes);
    recording_free(&r);
}

static void contradictions_are_adjusted(void **state)
{
    (void)state;
    struct recording r;
    struct arena arena;
    struct peak peak;
    sample_init(&r);
    sample_device(&r, 0);
    sample_events(&r, "a 1000 10; a 1000 20; n 0 0");
    sample_finish(&r);
    compute(&r, &arena, BY_CULPRIT, SITE_LINE, 1, &peak);
    assert_int_equal(peak.total_bytes, 0);
    assert_int_equal(peak.live_bytes, 20);
    assert_int_equal(peak.adjust_bytes, -20);
    arena_free(&arena);
    recording_free(&r);
}

static void a_ring_of_one_has_only_its_end(void **state)
{
    (void)state;
    struct recording r;
    struct arena arena;
    struct peak peak;
    int64_t at;
    sample_init(&r);
    sample_device(&r, 0);
    sample_segment(&r, 0x1000, 2 << 20);
    sample_block(&r, 1024, 600, BLOCK_ALLOCATED);
    sample_events(&r, "c 9000 100");
    sample_finish(&r);
    compute(&r, &arena, BY_CULPRIT, SITE_LINE, -1, &peak);
    assert_int_equal(peak.at_event, 0);
    assert_int_equal(peak.total_bytes, 600);
    assert_int_equal(moment_find(&r, 0, (struct moment){ .kind = AT_PEAK }, &at, NULL), VRS_OK);
    assert_int_equal(at, 0);
    assert_int_equal(moment_find(&r, 0, (struct moment){ .kind = AT_START }, &at, NULL), VRS_OK);
    assert_int_equal(at, 0);
    arena_free(&arena);
    recording_free(&r);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct recording r;
    make(&r);
    static const enum peak_by bys[] = { BY_CULPRIT, BY_SITE, BY_MODULE, BY_AGE };
    for (size_t i = 0; i < sizeof bys / sizeof *bys; i++) {
        bool fired = true;
        for (long n = 0; fired; n++) {
            struct arena arena;
            struct naming *naming;
            struct frame_class_options none = { { "", 0 }, { "", 0 } };
            struct peak_options options = { .by = bys[i], .key = SITE_LINE, .at_event = 5 };
            struct peak peak;
            arena_init(&arena, SIZE_MAX);
            fault_left = n;
            enum vrs_status status = naming_make(&r.code, &none, &arena, &naming, NULL);
            if (status == VRS_OK)
                status = peak_compute(&r, 0, &options, naming, &arena, &peak, NULL);
            fired = fault_left < 0;
            fault_left = -1;
            arena_free(&arena);
            assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        }
    }
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_live_set),
        cmocka_unit_test(rows_follow_the_grouping),
        cmocka_unit_test(ages_have_a_class_on_either_side_of_the_moment),
        cmocka_unit_test(sites_merge_what_their_key_drops),
        cmocka_unit_test(rows_tell_the_rest),
        cmocka_unit_test(replayed_blocks_have_slack),
        cmocka_unit_test(contradictions_are_adjusted),
        cmocka_unit_test(a_ring_of_one_has_only_its_end),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
