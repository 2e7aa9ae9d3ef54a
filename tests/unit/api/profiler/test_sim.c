/* test_sim.c - simulated devices through the public calls: each allocation failing, dumps read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vramscope/sim.h>
#include <vramscope/snapshot.h>

#include <cmocka.h>

#include "made/fault.h"

#define MIB ((uint64_t)1 << 20)

struct bytes {
    char *at;
    size_t len;
};

static bool take(void *arg, const char *bytes, size_t len)
{
    struct bytes *b = arg;
    char *grown = realloc(b->at, b->len + len + 1);
    if (grown == NULL)
        return false;
    b->at = grown;
    memcpy(b->at + b->len, bytes, len);
    b->len += len;
    return true;
}

static bool refuse(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    (void)len;
    return false;
}

static bool counting(void *arg, const char *bytes, size_t len)
{
    (void)bytes;
    *(size_t *)arg += len;
    return true;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum vrs_status status_ = (call);                                                          \
        if (status_ != VRS_OK)                                                                     \
            return status_;                                                                        \
    } while (0)

/* Two allocations with stacks and a tag, a refused one, a free, a mark. */
static enum vrs_status use(struct vrs_sim *sim)
{
    struct vrs_sim_block a, b;
    struct vrs_sim_refusal refusal;
    struct vrs_sim_frame frame[2] = { { 0, 12 }, { 0, 34 } };
    struct vrs_sim_request r = { .size = sizeof r, .bytes = 30 * MIB };
    TRY(vrs_sim_code(sim, "train.py", 8, "step", 4, &frame[0].code, NULL));
    TRY(vrs_sim_code(sim, "train\xff.py", 9, "main", 4, &frame[1].code, NULL));
    r.stack = (struct vrs_sim_stack){ frame, 2 };
    TRY(vrs_sim_mark(sim, "step 1", 6, false, NULL));
    TRY(vrs_sim_alloc(sim, &r, &a, &refusal, NULL));
    r.tag = "weights";
    r.tag_len = 7;
    r.bytes = 500;
    r.pool = 2;
    r.device = 1;
    TRY(vrs_sim_alloc(sim, &r, &b, &refusal, NULL));
    r.bytes = 200 * MIB;
    enum vrs_status status = vrs_sim_alloc(sim, &r, &b, &refusal, NULL);
    if (status != VRS_LIMIT)
        return status;
    TRY(vrs_sim_record_stream(sim, &a, 5, NULL));
    TRY(vrs_sim_free(sim, &a, &r.stack, NULL));
    TRY(vrs_sim_utilisation(sim, 0, 50, 1000, NULL));
    TRY(vrs_sim_synchronize(sim, 0, NULL));
    TRY(vrs_sim_empty_cache(sim, 0, &r.stack, NULL));
    return vrs_sim_mark(sim, "step 1", 6, true, NULL);
}

static struct vrs_sim_options options(void)
{
    return (struct vrs_sim_options){ .size = sizeof(struct vrs_sim_options),
                                     .total_bytes = 100 * MIB,
                                     .devices = 2,
                                     .history_entries = 1000,
                                     .settings = "max_split_size_mb:64" };
}

static enum vrs_status from_end_to_end(void *arg)
{
    struct vrs_sim_options o = options();
    struct vrs_sim *sim = NULL;
    size_t *len = arg;
    struct vrs_sink sink = { counting, len };
    TRY(vrs_sim_make(&o, &sim, NULL));
    enum vrs_status status = use(sim);
    *len = 0;
    if (status == VRS_OK)
        status = vrs_sim_dump(sim, NULL, &sink, NULL);
    vrs_sim_close(sim);
    return status;
}

/* Memory that is only given back early may be had all the same: then the dump is whole. */
static void is_whole(void *arg)
{
    size_t whole = 0;
    assert_int_equal(from_end_to_end(&whole), VRS_OK);
    assert_int_equal(*(size_t *)arg, whole);
}

static void each_allocation_may_fail(void **state)
{
    size_t len = 0;
    (void)state;
    fault_each(from_end_to_end, is_whole, &len);
    assert_true(len > 500);
}

static const struct vrs_recording *first_of(const struct vrs_file *file)
{
    const struct vrs_recording *recording = NULL;
    assert_int_equal(vrs_recording(file, 0, &recording, NULL), VRS_OK);
    return recording;
}

static void a_dump_is_read_and_replayed_exactly(void **state)
{
    struct vrs_sim_options o = options();
    struct vrs_sim *sim;
    struct bytes bytes = { NULL, 0 }, json = { NULL, 0 };
    struct vrs_sink sink = { take, &bytes }, text = { take, &json };
    struct vrs_file *file;
    struct vrs_result *result;
    struct vrs_write_options write = { .size = sizeof write, .format = VRS_JSON };
    struct vrs_error err;
    (void)state;
    assert_int_equal(vrs_sim_make(&o, &sim, NULL), VRS_OK);
    assert_int_equal(use(sim), VRS_OK);
    assert_int_equal(vrs_sim_dump(sim, NULL, &sink, NULL), VRS_OK);
    vrs_sim_close(sim);
    assert_int_equal(vrs_open_bytes(bytes.at, bytes.len, "dump", NULL, &file, &err), VRS_OK);
    assert_int_equal(vrs_replay(first_of(file), NULL, &result, &err), VRS_OK);
    assert_int_equal(vrs_write(result, &write, &text, &err), VRS_OK);
    json.at[json.len] = '\0';
    const char *first = strstr(json.at, "\"grade\": \"exact\"");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "\"grade\": \"exact\""));
    vrs_result_free(result);
    vrs_close(file);
    free(bytes.at);
    free(json.at);
}

static void misuse_is_named(void **state)
{
    struct vrs_sim_options o = options();
    struct vrs_sim *sim;
    struct vrs_sim_block a;
    struct vrs_sim_frame frame = { 77, 1 };
    struct vrs_sim_request r = { .size = sizeof r, .bytes = 1000 };
    struct vrs_sim_history_options h = { .size = sizeof h, .stacks = (enum vrs_sim_stacks)9 };
    struct vrs_sink deaf = { refuse, NULL };
    struct vrs_error err;
    (void)state;
    o.settings = "max_split_size:20";
    assert_int_equal(vrs_sim_make(&o, &sim, &err), VRS_USAGE);
    assert_non_null(strstr(err.message, "max_split_size"));
    o.settings = NULL;
    assert_int_equal(vrs_sim_make(&o, &sim, &err), VRS_OK);
    assert_int_equal(vrs_sim_devices(sim), 2);
    r.stack = (struct vrs_sim_stack){ &frame, 1 };
    assert_int_equal(vrs_sim_alloc(sim, &r, &a, NULL, &err), VRS_USAGE);
    assert_non_null(strstr(err.message, "77"));
    r.stack.frames = 0;
    r.device = 2;
    assert_int_equal(vrs_sim_alloc(sim, &r, &a, NULL, &err), VRS_USAGE);
    r.device = 0;
    r.bytes = 101 * MIB;
    assert_int_equal(vrs_sim_alloc(sim, &r, &a, NULL, &err), VRS_LIMIT);
    r.bytes = 1;
    assert_int_equal(vrs_sim_alloc(sim, &r, &a, NULL, &err), VRS_OK);
    assert_int_equal(vrs_sim_free(sim, &a, NULL, &err), VRS_OK);
    assert_int_equal(vrs_sim_free(sim, &a, NULL, &err), VRS_USAGE);
    assert_int_equal(vrs_sim_record_stream(sim, &a, 1, &err), VRS_USAGE);
    assert_int_equal(vrs_sim_utilisation(sim, 0, 101, 1, &err), VRS_USAGE);
    assert_int_equal(vrs_sim_utilisation(sim, 0, -1, 1, &err), VRS_USAGE);
    assert_int_equal(vrs_sim_utilisation(sim, 2, 1, 1, &err), VRS_USAGE);
    assert_int_equal(vrs_sim_fail_next(sim, 2, 1, &err), VRS_USAGE);
    assert_int_equal(vrs_sim_set_current(sim, 2, &err), VRS_USAGE);
    assert_int_equal(vrs_sim_history_start(sim, &h, &err), VRS_USAGE);
    assert_int_equal(vrs_sim_dump(sim, NULL, &deaf, &err), VRS_IO);
    vrs_sim_close(sim);
    vrs_sim_close(NULL);
}

/* More marks than the history has entries: the newest stay. */
static void marks_are_bounded(void **state)
{
    struct vrs_sim_options o = options();
    struct vrs_sim *sim;
    struct bytes bytes = { NULL, 0 };
    struct vrs_sink sink = { take, &bytes };
    struct vrs_file *file;
    struct vrs_span name;
    (void)state;
    o.history_entries = 10;
    assert_int_equal(vrs_sim_make(&o, &sim, NULL), VRS_OK);
    for (char c = 'a'; c <= 'z'; c++)
        assert_int_equal(vrs_sim_mark(sim, &c, 1, false, NULL), VRS_OK);
    assert_int_equal(vrs_sim_dump(sim, NULL, &sink, NULL), VRS_OK);
    assert_int_equal(vrs_open_bytes(bytes.at, bytes.len, "dump", NULL, &file, NULL), VRS_OK);
    assert_int_equal(vrs_column(first_of(file), "marks.name", &name, NULL), VRS_OK);
    assert_in_range(name.count, 5, 10);
    size_t len;
    const uint32_t *ids = name.data;
    const char *last = vrs_string(first_of(file), ids[name.count - 1], &len);
    assert_int_equal(len, 1);
    assert_int_equal(last[0], 'z');
    vrs_close(file);
    vrs_sim_history_stop(sim);
    assert_false(vrs_sim_history_on(sim));
    assert_int_equal(vrs_sim_mark(sim, "x", 1, false, NULL), VRS_OK);
    vrs_sim_close(sim);
    free(bytes.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_dump_is_read_and_replayed_exactly),
        cmocka_unit_test(misuse_is_named),
        cmocka_unit_test(marks_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
