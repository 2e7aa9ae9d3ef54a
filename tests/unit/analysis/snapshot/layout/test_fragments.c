/* test_fragments.c - segments by hand: what is stranded, what pins it, what to move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/layout/fragments.h"
#include "made/answered.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/ids.h"
#include "model/recording.h"
#include "vramscope/snapshot.h"

enum { MEBI = 1 << 20 };

/* An allocator that no replay says anything about. */
static void begin(struct studied *s, enum replay_refusal refusal)
{
    studied_begin(s);
    s->agreement.refusal = refusal;
}

static const struct fragments *at(struct studied *s, int64_t event)
{
    struct fragments *f = NULL;
    assert_int_equal(fragments_compute(&s->proven, event, &f, NULL), VRS_OK);
    assert_non_null(f);
    return f;
}

/* One whole free segment, one pinned by a small block, one by two halves, one full. */
static void plain_segments(void **state)
{
    (void)state;
    struct studied s;
    begin(&s, REFUSED_NO_EVENTS);
    sample_segment(&s.r, (uint64_t)64 << 20, 20 * MEBI);
    sample_block(&s.r, 20 * MEBI, 0, BLOCK_INACTIVE);
    sample_segment(&s.r, (uint64_t)128 << 20, 100 * MEBI);
    sample_block(&s.r, 2 * MEBI, 2 * MEBI - 100, BLOCK_ALLOCATED);
    sample_block(&s.r, 98 * MEBI, 0, BLOCK_INACTIVE);
    sample_segment(&s.r, (uint64_t)256 << 20, 40 * MEBI);
    sample_block(&s.r, 10 * MEBI, 10 * MEBI, BLOCK_PENDING);
    sample_block(&s.r, 12 * MEBI, 0, BLOCK_INACTIVE);
    sample_block(&s.r, 10 * MEBI, 10 * MEBI, BLOCK_ALLOCATED);
    sample_block(&s.r, 8 * MEBI, 0, BLOCK_INACTIVE);
    sample_segment(&s.r, (uint64_t)512 << 20, 20 * MEBI);
    sample_block(&s.r, 20 * MEBI, 20 * MEBI, BLOCK_ALLOCATED);
    studied_make(&s, "");
    const struct fragments *f = at(&s, -1);
    assert_int_equal(f->groups, 1);
    const struct fragment_group *g = f->group;
    assert_int_equal(g->reserved_bytes, 180 * MEBI);
    assert_int_equal(g->active_bytes, 42 * MEBI);
    assert_int_equal(g->pending_bytes, 10 * MEBI);
    assert_int_equal(g->slack_bytes, 100);
    assert_int_equal(g->free_bytes, 138 * MEBI);
    assert_int_equal(g->returnable_bytes, 20 * MEBI);
    assert_int_equal(g->stranded_bytes, 118 * MEBI);
    assert_int_equal(g->largest_free_bytes, 98 * MEBI);
    assert_int_equal(g->servable_bytes, 98 * MEBI);

    assert_int_equal(f->pins, 2);
    assert_int_equal(f->pin[0].stranded_bytes, 98 * MEBI);
    assert_int_equal(f->pin[0].returned_bytes, 100 * MEBI);
    assert_int_equal(f->pin[1].stranded_bytes, 20 * MEBI);
    assert_int_equal(f->pin[1].blocks, 2);
    /* 100 for 2, then 40 for 20: the first alone is not nine tenths. */
    assert_int_equal(f->moves, 3);
    assert_int_equal(f->move[0].bytes, 2 * MEBI);
    assert_int_equal(f->move[0].returned_bytes, 100 * MEBI);
    assert_int_equal(f->move[0].age_events, -1);
    assert_int_equal(f->move[1].returned_bytes, 0);
    assert_int_equal(f->move[2].returned_bytes, 40 * MEBI);
    studied_end(&s);
}

/* Blocks of 21 MiB pin 19 MiB: that is stranded, but to move them wins less than it moves; at 20
 * MiB of each it is worth a row. */
static void moves_win_what_they_move(void **state)
{
    (void)state;
    for (uint64_t more = 0; more < 2; more++) {
        struct studied s;
        begin(&s, REFUSED_NO_EVENTS);
        sample_segment(&s.r, (uint64_t)64 << 20, 40 * MEBI);
        sample_block(&s.r, (10 + more) * MEBI, (10 + more) * MEBI, BLOCK_ALLOCATED);
        sample_block(&s.r, 10 * MEBI, 0, BLOCK_INACTIVE);
        sample_block(&s.r, 10 * MEBI, 10 * MEBI, BLOCK_ALLOCATED);
        sample_block(&s.r, (10 - more) * MEBI, 0, BLOCK_INACTIVE);
        uint32_t segment = sample_segment(&s.r, (uint64_t)1 << 30, 20 * MEBI);
        s.r.segments.expandable[segment] = 1;
        sample_block(&s.r, (10 + more) * MEBI, (10 + more) * MEBI, BLOCK_ALLOCATED);
        sample_block(&s.r, (10 - more) * MEBI, 0, BLOCK_INACTIVE);
        studied_make(&s, "");
        const struct fragments *f = at(&s, -1);
        assert_int_equal(f->total.stranded_bytes, (30 - 2 * more) * MEBI);
        assert_int_equal(f->pins, 2);
        assert_int_equal(f->moves, more == 0 ? 3 : 0);
        studied_end(&s);
    }
}

/* Pages of 20 MiB; a block in the middle of three keeps the page it lies in. */
static void expandable_pages(void **state)
{
    (void)state;
    struct studied s;
    begin(&s, REFUSED_NO_EVENTS);
    uint32_t segment = sample_segment(&s.r, (uint64_t)1 << 30, 60 * MEBI);
    s.r.segments.expandable[segment] = 1;
    sample_block(&s.r, 25 * MEBI, 0, BLOCK_INACTIVE);
    sample_block(&s.r, 2 * MEBI, 2 * MEBI, BLOCK_ALLOCATED);
    sample_block(&s.r, 33 * MEBI, 0, BLOCK_INACTIVE);
    studied_make(&s, "");
    const struct fragments *f = at(&s, -1);
    assert_int_equal(f->group->returnable_bytes, 40 * MEBI);
    assert_int_equal(f->group->stranded_bytes, 18 * MEBI);
    assert_int_equal(f->group->largest_free_bytes, 33 * MEBI);
    assert_int_equal(f->pins, 1);
    assert_int_equal(f->pin->returned_bytes, 20 * MEBI);
    assert_int_equal(f->moves, 1);
    assert_int_equal(f->move->returned_bytes, 20 * MEBI);
    studied_end(&s);
}

static void private_pools_are_apart(void **state)
{
    (void)state;
    struct studied s;
    pool_id pool = { 0 };
    begin(&s, REFUSED_NO_EVENTS);
    assert_true(pools_intern(&s.r.pools, 0, 7, &pool));
    uint32_t segment = sample_segment(&s.r, (uint64_t)1 << 30, 20 * MEBI);
    s.r.segments.pool[segment] = pool.n;
    sample_block(&s.r, 5 * MEBI, 5 * MEBI, BLOCK_ALLOCATED);
    sample_block(&s.r, 15 * MEBI, 0, BLOCK_INACTIVE);
    sample_segment(&s.r, (uint64_t)2 << 30, 2 * MEBI);
    s.r.segments.size_class[1] = CLASS_SMALL;
    sample_block(&s.r, 512, 500, BLOCK_ALLOCATED);
    sample_block(&s.r, 2 * MEBI - 512, 0, BLOCK_INACTIVE);
    studied_make(&s, "");
    const struct fragments *f = at(&s, -1);
    assert_int_equal(f->groups, 1);
    assert_int_equal(f->pools, 1);
    assert_int_equal(f->pool->free_bytes, 15 * MEBI);
    assert_int_equal(f->pool->pool_ids[1], 7);
    assert_int_equal(f->pins, 1);
    assert_int_equal(f->total.stranded_bytes, 2 * MEBI - 512);
    /* Small memory serves small requests. */
    assert_int_equal(f->group->servable_bytes, MEBI);
    studied_end(&s);
}

/* A stream that asks for nothing in the second half, and one that does. */
static void streams_left_behind(void **state)
{
    (void)state;
    struct studied s;
    uint16_t side = 0;
    begin(&s, REFUSED_INCONSISTENT);
    assert_true(streams_intern(&s.r.streams, 77, &side));
    sample_segment(&s.r, 0x10000000, 2 * MEBI);
    sample_block(&s.r, 512, 500, BLOCK_ALLOCATED);
    sample_block(&s.r, 2 * MEBI - 512, 0, BLOCK_INACTIVE);
    uint32_t segment = sample_segment(&s.r, 0x20000000, 2 * MEBI);
    s.r.segments.stream[segment] = side;
    sample_block(&s.r, 2 * MEBI, 0, BLOCK_INACTIVE);
    sample_events(&s.r, "a 20000000 512; f 20000000 512; n ? ?; n ? ?; a 10000000 500");
    s.r.events.stream[0] = s.r.events.stream[1] = side;
    studied_make(&s, "");
    const struct fragments *f = at(&s, 4);
    assert_int_equal(f->streams, 1);
    assert_int_equal(f->stream->stream, 77);
    assert_int_equal(f->stream->bytes, 2 * MEBI);
    assert_int_equal(f->stream->last_event, 0);
    studied_end(&s);
}

/* Sizes that no machine has: sums wrap, nothing else. */
static void hostile_sizes(void **state)
{
    (void)state;
    struct studied s;
    begin(&s, REFUSED_NO_EVENTS);
    for (int i = 0; i < 3; i++) {
        uint32_t segment = sample_segment(&s.r, UINT64_MAX - 4096, UINT64_MAX - 7);
        s.r.segments.expandable[segment] = i > 0;
        sample_block(&s.r, UINT64_MAX - 9, 5, BLOCK_ALLOCATED);
        sample_block(&s.r, UINT64_MAX / 2, 0, BLOCK_INACTIVE);
        sample_block(&s.r, 1, UINT64_MAX - 1, BLOCK_ALLOCATED);
    }
    studied_make(&s, "");
    const struct fragments *f = at(&s, -1);
    assert_int_equal(f->groups, 1);
    assert_true(f->moves <= FRAGMENT_MOVES_MOST);
    studied_end(&s);
}

static const char growth[] =
    ", {\"action\": \"segment_alloc\", \"addr\": 8388608, \"size\": 20971520, \"stream\": 0,"
    " \"time_us\": 12, \"frames\": []},"
    "{\"action\": \"segment_free\", \"addr\": 8388608, \"size\": 20971520, \"stream\": 0,"
    " \"time_us\": 13, \"frames\": []}";

/* Both answers of this analysis. */
static enum vrs_status ask(const struct vrs_recording *r, struct vrs_result *to[ANSWERS_MOST])
{
    struct vrs_fragments_options at_event = { .size = sizeof at_event, .at = "2" };
    struct vrs_report_options timeline = { .size = sizeof timeline, .timeline = true };
    enum vrs_status status = vrs_fragments(r, NULL, &to[0], NULL);
    if (status == VRS_OK)
        status = vrs_fragments(r, &at_event, &to[1], NULL);
    return status == VRS_OK ? vrs_report(r, &timeline, &to[2], NULL) : status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const struct asking asking = { .recording = recording_of_tensor("forward", growth),
                                   .ask = ask };
    assert_non_null(strstr(answered(&asking), "\"cause\": \"unknown\""));
    answered_without_memory(&asking);
}

static void words_are_checked(void **state)
{
    (void)state;
    struct vrs_fragments_options o = { .size = sizeof o, .at = "reserved-peak" };
    assert_int_equal(vrs_fragments_check(&o, NULL), VRS_OK);
    o.at = "yesterday";
    assert_int_equal(vrs_fragments_check(&o, NULL), VRS_USAGE);
    assert_int_equal(vrs_fragments_check(NULL, NULL), VRS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_segments),      cmocka_unit_test(moves_win_what_they_move),
        cmocka_unit_test(expandable_pages),    cmocka_unit_test(private_pools_are_apart),
        cmocka_unit_test(streams_left_behind), cmocka_unit_test(hostile_sizes),
        cmocka_unit_test(words_are_checked),   cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
