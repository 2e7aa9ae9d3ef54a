/* test_fragments.c - segments by hand: what is stranded, what pins it, what to move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <vramscope/vramscope.h>

#include "analysis/fragments.h"
#include "fault.h"
#include "sample.h"

enum { MEBI = 1 << 20 };

struct made {
    struct recording r;
    struct agreement agreement;
    struct arena keep, scratch;
    struct study study;
};

static void study_begin(struct made *m)
{
    struct naming_options options = { S(""), S("") };
    arena_init(&m->keep, SIZE_MAX / 2);
    arena_init(&m->scratch, SIZE_MAX / 2);
    struct study_place place = {
        .r = &m->r, .agreement = &m->agreement, .keep = &m->keep, .scratch = &m->scratch
    };
    sample_finish(&m->r);
    assert_int_equal(naming_make(&m->r, &options, &m->keep, &place.naming, NULL), VRS_OK);
    assert_int_equal(study_place_make(&place, NULL), VRS_OK);
    assert_int_equal(study_make(&place, 0, &m->study, NULL), VRS_OK);
}

static void study_end(struct made *m)
{
    arena_free(&m->keep);
    arena_free(&m->scratch);
    recording_free(&m->r);
}

static const struct fragments *at(struct made *m, int64_t event)
{
    struct fragments *f = NULL;
    assert_int_equal(fragments_compute(&m->study, event, &f, NULL), VRS_OK);
    assert_non_null(f);
    return f;
}

/* One whole free segment, one pinned by a small block, one by two halves, one full. */
static void plain_segments(void **state)
{
    (void)state;
    struct made m = { .agreement = { .refusal = REFUSED_NO_EVENTS } };
    sample_init(&m.r);
    sample_device(&m.r, 0);
    sample_segment(&m.r, (uint64_t)64 << 20, 20 * MEBI);
    sample_block(&m.r, 20 * MEBI, 0, BLOCK_INACTIVE);
    sample_segment(&m.r, (uint64_t)128 << 20, 100 * MEBI);
    sample_block(&m.r, 2 * MEBI, 2 * MEBI - 100, BLOCK_ALLOCATED);
    sample_block(&m.r, 98 * MEBI, 0, BLOCK_INACTIVE);
    sample_segment(&m.r, (uint64_t)256 << 20, 40 * MEBI);
    sample_block(&m.r, 10 * MEBI, 10 * MEBI, BLOCK_PENDING);
    sample_block(&m.r, 12 * MEBI, 0, BLOCK_INACTIVE);
    sample_block(&m.r, 10 * MEBI, 10 * MEBI, BLOCK_ALLOCATED);
    sample_block(&m.r, 8 * MEBI, 0, BLOCK_INACTIVE);
    sample_segment(&m.r, (uint64_t)512 << 20, 20 * MEBI);
    sample_block(&m.r, 20 * MEBI, 20 * MEBI, BLOCK_ALLOCATED);
    study_begin(&m);
    const struct fragments *f = at(&m, -1);
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
    study_end(&m);
}

/* Pages of 20 MiB; a block in the middle of three keeps the page it lies in. */
static void expandable_pages(void **state)
{
    (void)state;
    struct made m = { .agreement = { .refusal = REFUSED_NO_EVENTS } };
    sample_init(&m.r);
    sample_device(&m.r, 0);
    uint32_t segment = sample_segment(&m.r, (uint64_t)1 << 30, 60 * MEBI);
    m.r.segments.expandable[segment] = 1;
    sample_block(&m.r, 25 * MEBI, 0, BLOCK_INACTIVE);
    sample_block(&m.r, 2 * MEBI, 2 * MEBI, BLOCK_ALLOCATED);
    sample_block(&m.r, 33 * MEBI, 0, BLOCK_INACTIVE);
    study_begin(&m);
    const struct fragments *f = at(&m, -1);
    assert_int_equal(f->group->returnable_bytes, 40 * MEBI);
    assert_int_equal(f->group->stranded_bytes, 18 * MEBI);
    assert_int_equal(f->group->largest_free_bytes, 33 * MEBI);
    assert_int_equal(f->pins, 1);
    assert_int_equal(f->pin->returned_bytes, 20 * MEBI);
    assert_int_equal(f->moves, 1);
    assert_int_equal(f->move->returned_bytes, 20 * MEBI);
    study_end(&m);
}

static void private_pools_are_apart(void **state)
{
    (void)state;
    struct made m = { .agreement = { .refusal = REFUSED_NO_EVENTS } };
    pool_id pool = { 0 };
    sample_init(&m.r);
    assert_true(pools_intern(&m.r.pools, 0, 7, &pool));
    sample_device(&m.r, 0);
    uint32_t segment = sample_segment(&m.r, (uint64_t)1 << 30, 20 * MEBI);
    m.r.segments.pool[segment] = pool.n;
    sample_block(&m.r, 5 * MEBI, 5 * MEBI, BLOCK_ALLOCATED);
    sample_block(&m.r, 15 * MEBI, 0, BLOCK_INACTIVE);
    sample_segment(&m.r, (uint64_t)2 << 30, 2 * MEBI);
    m.r.segments.size_class[1] = CLASS_SMALL;
    sample_block(&m.r, 512, 500, BLOCK_ALLOCATED);
    sample_block(&m.r, 2 * MEBI - 512, 0, BLOCK_INACTIVE);
    study_begin(&m);
    const struct fragments *f = at(&m, -1);
    assert_int_equal(f->groups, 1);
    assert_int_equal(f->pools, 1);
    assert_int_equal(f->pool->free_bytes, 15 * MEBI);
    assert_int_equal(f->pool->pool_ids[1], 7);
    assert_int_equal(f->pins, 1);
    assert_int_equal(f->total.stranded_bytes, 2 * MEBI - 512);
    /* Small memory serves small requests. */
    assert_int_equal(f->group->servable_bytes, MEBI);
    study_end(&m);
}

/* A stream that asks for nothing in the second half, and one that does. */
static void streams_left_behind(void **state)
{
    (void)state;
    struct made m = { .agreement = { .refusal = REFUSED_INCONSISTENT } };
    uint16_t side = 0;
    sample_init(&m.r);
    assert_true(streams_intern(&m.r.streams, 77, &side));
    sample_device(&m.r, 0);
    sample_segment(&m.r, 0x10000000, 2 * MEBI);
    sample_block(&m.r, 512, 500, BLOCK_ALLOCATED);
    sample_block(&m.r, 2 * MEBI - 512, 0, BLOCK_INACTIVE);
    uint32_t segment = sample_segment(&m.r, 0x20000000, 2 * MEBI);
    m.r.segments.stream[segment] = side;
    sample_block(&m.r, 2 * MEBI, 0, BLOCK_INACTIVE);
    sample_events(&m.r, "a 20000000 512; f 20000000 512; n ? ?; n ? ?; a 10000000 500");
    m.r.events.stream[0] = m.r.events.stream[1] = side;
    study_begin(&m);
    const struct fragments *f = at(&m, 4);
    assert_int_equal(f->streams, 1);
    assert_int_equal(f->stream->stream, 77);
    assert_int_equal(f->stream->bytes, 2 * MEBI);
    assert_int_equal(f->stream->last_event, 0);
    study_end(&m);
}

/* Sizes that no machine has: sums wrap, nothing else. */
static void hostile_sizes(void **state)
{
    (void)state;
    struct made m = { .agreement = { .refusal = REFUSED_NO_EVENTS } };
    sample_init(&m.r);
    sample_device(&m.r, 0);
    for (int i = 0; i < 3; i++) {
        uint32_t segment = sample_segment(&m.r, UINT64_MAX - 4096, UINT64_MAX - 7);
        m.r.segments.expandable[segment] = i > 0;
        sample_block(&m.r, UINT64_MAX - 9, 5, BLOCK_ALLOCATED);
        sample_block(&m.r, UINT64_MAX / 2, 0, BLOCK_INACTIVE);
        sample_block(&m.r, 1, UINT64_MAX - 1, BLOCK_ALLOCATED);
    }
    study_begin(&m);
    const struct fragments *f = at(&m, -1);
    assert_int_equal(f->groups, 1);
    assert_true(f->moves <= FRAGMENT_MOVES_MOST);
    study_end(&m);
}

static const char recording_text[] =
    "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152,"
    " \"allocated_size\": 1024, \"active_size\": 1024, \"requested_size\": 1000, \"stream\": 0,"
    " \"segment_type\": \"small\", \"blocks\": ["
    "{\"address\": 4096, \"size\": 1024, \"requested_size\": 1000,"
    " \"state\": \"active_allocated\", \"frames\": []},"
    "{\"address\": 5120, \"size\": 2096128, \"requested_size\": 0, \"state\": \"inactive\","
    " \"frames\": []}]}],"
    "\"device_traces\": [["
    "{\"action\": \"segment_alloc\", \"addr\": 4096, \"size\": 2097152, \"stream\": 0,"
    " \"time_us\": 10, \"frames\": []},"
    "{\"action\": \"alloc\", \"addr\": 4096, \"size\": 1000, \"stream\": 0, \"time_us\": 11,"
    " \"frames\": [{\"name\": \"forward\", \"filename\": \"/home/user/model.py\", \"line\": 7}]},"
    "{\"action\": \"segment_alloc\", \"addr\": 8388608, \"size\": 20971520, \"stream\": 0,"
    " \"time_us\": 12, \"frames\": []},"
    "{\"action\": \"segment_free\", \"addr\": 8388608, \"size\": 20971520, \"stream\": 0,"
    " \"time_us\": 13, \"frames\": []}]]}";

struct sink_text {
    char at[1 << 16];
    size_t len;
};

static bool take(void *arg, const char *bytes, size_t len)
{
    struct sink_text *t = arg;
    if (len > sizeof t->at - 1 - t->len)
        return false;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return true;
}

/* Both answers of this analysis from the bytes to the text. */
static enum vrs_status whole_way(struct sink_text *text)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording = NULL;
    struct vrs_result *end = NULL, *event = NULL, *report = NULL;
    struct vrs_sink sink = { take, text };
    struct vrs_write_options json = { .size = sizeof json, .format = VRS_JSON };
    struct vrs_fragments_options at_event = { .size = sizeof at_event, .at = "2" };
    struct vrs_report_options timeline = { .size = sizeof timeline, .timeline = true };
    enum vrs_status status =
        vrs_open_bytes(recording_text, sizeof recording_text - 1, "run.json", NULL, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &recording, NULL);
    if (status == VRS_OK)
        status = vrs_fragments(recording, NULL, &end, NULL);
    if (status == VRS_OK)
        status = vrs_fragments(recording, &at_event, &event, NULL);
    if (status == VRS_OK)
        status = vrs_report(recording, &timeline, &report, NULL);
    vrs_close(file);
    if (status == VRS_OK)
        status = vrs_write(end, NULL, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(event, &json, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(report, &json, &sink, NULL);
    vrs_result_free(end);
    vrs_result_free(event);
    vrs_result_free(report);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static struct sink_text whole, text;
    assert_int_equal(whole_way(&whole), VRS_OK);
    assert_non_null(strstr(whole.at, "\"cause\": \"unknown\""));
    for (long n = 0;; n++) {
        text.len = 0;
        fault_left = n;
        enum vrs_status status = whole_way(&text);
        bool fired = fault_left < 0;
        fault_left = -1;
        if (!fired)
            return;
        assert_true(status == VRS_NOMEM || status == VRS_OK);
        if (status == VRS_OK)
            assert_string_equal(text.at, whole.at);
    }
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
        cmocka_unit_test(plain_segments),
        cmocka_unit_test(expandable_pages),
        cmocka_unit_test(private_pools_are_apart),
        cmocka_unit_test(streams_left_behind),
        cmocka_unit_test(hostile_sizes),
        cmocka_unit_test(words_are_checked),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
