#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/machine/rounding.h"
#include "allocator/replay/recorded.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/sample.h"
#include "model/recording.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Compared by member, since a struct may have padding. */
static void check_equal(const struct allocator_config *a, const struct allocator_config *b)
{
    for (uint32_t i = 0; i < ROUNDING_DIVISIONS; i++)
        assert_int_equal(a->rounding.divisions[i], b->rounding.divisions[i]);
    assert_int_equal(a->rounding.divides, b->rounding.divides);
    assert_int_equal(a->max_split_bytes, b->max_split_bytes);
    assert_int_equal(a->non_split_rounding_bytes, b->non_split_rounding_bytes);
    assert_int_equal(a->large_segment_bytes, b->large_segment_bytes);
    assert_true(a->gc_threshold == b->gc_threshold);
    assert_true(a->memory_fraction == b->memory_fraction);
    assert_int_equal(a->expandable, b->expandable);
}

static void check_set(struct allocator_config *c, const char *text)
{
    struct vrs_error err = { .message = "" };
    enum vrs_status status = config_set(c, str_from(text), &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, VRS_OK);
}

static struct allocator_config set(const char *text)
{
    struct allocator_config c = config_default();
    check_set(&c, text);
    return c;
}

static void check_refused(const char *text, const char *message)
{
    struct vrs_error err = { .message = "" };
    struct allocator_config before = set("max_split_size_mb:64,roundup_power2_divisions:[4:2]");
    struct allocator_config c = before;
    assert_int_equal(config_set(&c, str_from(text), &err), VRS_USAGE);
    assert_string_equal(err.message, message);
    assert_int_equal(err.status, VRS_USAGE);
    assert_int_equal(config_set(&c, str_from(text), NULL), VRS_USAGE);
    check_equal(&c, &before);
}

static void defaults_are_those_of_pytorch(void **state)
{
    (void)state;
    struct allocator_config c = config_default();
    assert_int_equal(c.max_split_bytes, UINT64_MAX);
    assert_int_equal(c.non_split_rounding_bytes, 20 * MIB);
    assert_int_equal(c.large_segment_bytes, 20 * MIB);
    assert_true(c.gc_threshold == 0);
    assert_true(c.memory_fraction == 1);
    assert_false(c.expandable);
    assert_false(c.rounding.divides);
}

static void a_request_is_rounded_by_the_entry_of_its_size(void **state)
{
    (void)state;
    static const struct {
        const char *divisions;
        uint64_t request, block;
    } cases[] = {
        { "1", 0, 512 },
        { "1", 511, 512 },
        { "1", 1200, 1536 },
        { "1", 5 * MIB + 1, 5 * MIB + 512 },
        { "2", 1024, 1024 },
        { "2", 1025, 1536 },
        { "2", 1537, 2048 },
        { "2", 2049, 3072 },
        { "2", 5 * MIB + 1, 6 * MIB },
        { "4", 1200, 1536 },
        { "4", 3000, 3072 },
        { "4", MIB, MIB },
        { "4", MIB + 1, 5 * MIB / 4 },
        { "4", 5 * MIB + 1, 6 * MIB },
        { "8", 4096, 4096 },
        { "8", 4097, 4608 },
        { "8", 9 * MIB + 1, 10 * MIB },
        { "16", 8193, 8704 },
        { "16", 8191, 8192 },
        { "1024", 3000, 3072 },
        { "1024", 3 * MIB + 1, 3 * MIB + 2048 },
        { "1024", (uint64_t)1 << 40, (uint64_t)1 << 40 },
        { "9223372036854775808", 5 * MIB + 1, 5 * MIB + 512 },
        /* Each entry speaks for a power of two, the first for all below, the last for all above. */
        { "[1:4]", MIB + 1, 5 * MIB / 4 },
        { "[1:4]", 3000, 3072 },
        { "[1:4]", 2 * MIB + 1, 2 * MIB + 512 },
        { "[2:2]", MIB + 1, 3 * MIB / 2 },
        { "[2:2]", 2 * MIB + 1, 3 * MIB },
        { "[2:2]", 4 * MIB + 1, 4 * MIB + 512 },
        { "[>:2]", MIB + 1, MIB + 512 },
        { "[>:2]", 2 * MIB + 1, 3 * MIB },
        { "[>:2]", ((uint64_t)64 << 30) + 1, (uint64_t)96 << 30 },
        { "[32768:1]", ((uint64_t)64 << 30) + 1, ((uint64_t)64 << 30) + 512 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[80] = "roundup_power2_divisions:";
        assert_true(strlen(text) + strlen(cases[i].divisions) < sizeof text);
        memcpy(text + strlen(text), cases[i].divisions, strlen(cases[i].divisions) + 1);
        struct allocator_config c = set(text);
        assert_int_equal(rounding_apply(&c.rounding, cases[i].request), cases[i].block);
    }
}

static void lists_fill_the_table(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        uint64_t divisions[ROUNDING_DIVISIONS];
    } cases[] = {
        { "[]", { 0 } },
        { "[1:0]", { 0 } },
        { "8", { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 } },
        { "[256:1,512:2,1024:4,>:8]", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8 } },
        { "[ 256 : 1 , 512 : 2 , ]", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 2 } },
        { "[4:2,32:16]", { 2, 2, 2, 0, 0, 16 } },
        { "[32:16,4:2]", { 16, 16, 2, 16, 16, 16 } },
        { "[>:8]", { 0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 } },
        { "[>:8,2:4]", { 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 } },
        { "[32768:2,>:8]", { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
        { "[1:2,9223372036854775808:4]", { [0] = 2, [15] = 4 } },
        { "4,roundup_power2_divisions:[1:2]", { 2 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[120] = "roundup_power2_divisions:";
        assert_true(strlen(text) + strlen(cases[i].list) < sizeof text);
        memcpy(text + strlen(text), cases[i].list, strlen(cases[i].list) + 1);
        struct allocator_config c = set("roundup_power2_divisions:32");
        check_set(&c, text);
        bool divides = false;
        for (uint32_t k = 0; k < ROUNDING_DIVISIONS; k++) {
            assert_int_equal(c.rounding.divisions[k], cases[i].divisions[k]);
            divides |= cases[i].divisions[k] > 1;
        }
        assert_int_equal(c.rounding.divides, divides);
    }
}

static void segments_have_three_kinds_of_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint64_t block, segment;
    } cases[] = {
        { "", 512, 2 * MIB },
        { "", MIB, 2 * MIB },
        { "", MIB + 512, 20 * MIB },
        { "", 10 * MIB - 512, 20 * MIB },
        { "", 10 * MIB, 10 * MIB },
        { "", 10 * MIB + 512, 12 * MIB },
        { "", 12 * MIB, 12 * MIB },
        { "", (uint64_t)1 << 40, (uint64_t)1 << 40 },
        { "", UINT64_MAX - 5, UINT64_MAX - 5 },
        { "large_segment_size_mb:12", MIB, 2 * MIB },
        { "large_segment_size_mb:12", MIB + 512, 12 * MIB },
        { "large_segment_size_mb:12", 10 * MIB - 512, 12 * MIB },
        { "large_segment_size_mb:12", 14 * MIB, 14 * MIB },
        { "large_segment_size_mb:64", 10 * MIB - 512, 64 * MIB },
        { "large_segment_size_mb:64", 10 * MIB, 10 * MIB },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct allocator_config c = set(cases[i].settings);
        assert_int_equal(config_segment_bytes(&c, cases[i].block), cases[i].segment);
    }
}

static void a_string_sets_what_it_names(void **state)
{
    (void)state;
    struct allocator_config c = set(" max_split_size_mb:128, max_non_split_rounding_mb : 40,"
                                    "garbage_collection_threshold:0.8,\texpandable_segments:True,"
                                    "large_segment_size_mb:32,per_process_memory_fraction:0.5,");
    assert_int_equal(c.max_split_bytes, 128 * MIB);
    assert_int_equal(c.non_split_rounding_bytes, 40 * MIB);
    assert_true(c.gc_threshold == 0.8);
    assert_true(c.expandable);
    assert_int_equal(c.large_segment_bytes, 32 * MIB);
    assert_true(c.memory_fraction == 0.5);

    struct allocator_config before = c;
    check_set(&c, "");
    check_set(&c, " \r\n");
    check_equal(&c, &before);
    check_set(&c, "expandable_segments:False");
    before.expandable = false;
    check_equal(&c, &before);
    check_set(&c, "max_split_size_mb:64,max_split_size_mb:256");
    assert_int_equal(c.max_split_bytes, 256 * MIB);
}

static void sizes_may_be_at_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint64_t max_split, non_split_rounding, large_segment;
    } cases[] = {
        { "max_split_size_mb:20", 20 * MIB, 20 * MIB, 20 * MIB },
        { "max_split_size_mb:+0020", 20 * MIB, 20 * MIB, 20 * MIB },
        { "max_split_size_mb:4398046511103", 4398046511103 * MIB, 20 * MIB, 20 * MIB },
        { "max_split_size_mb:4398046511104", UINT64_MAX, 20 * MIB, 20 * MIB },
        { "max_split_size_mb:18446744073709551615", UINT64_MAX, 20 * MIB, 20 * MIB },
        { "max_split_size_mb:12,large_segment_size_mb:12", 12 * MIB, 20 * MIB, 12 * MIB },
        { "large_segment_size_mb:11", UINT64_MAX, 20 * MIB, 11 * MIB },
        { "large_segment_size_mb:1048576", UINT64_MAX, 20 * MIB, 1048576 * MIB },
        { "max_non_split_rounding_mb:20", UINT64_MAX, 20 * MIB, 20 * MIB },
        { "max_non_split_rounding_mb:18446744073709551615", UINT64_MAX, ENDLESS_BYTES, 20 * MIB },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct allocator_config c = set(cases[i].settings);
        assert_int_equal(c.max_split_bytes, cases[i].max_split);
        assert_int_equal(c.non_split_rounding_bytes, cases[i].non_split_rounding);
        assert_int_equal(c.large_segment_bytes, cases[i].large_segment);
    }
    assert_true(set("per_process_memory_fraction:0").memory_fraction == 0);
    assert_true(set("per_process_memory_fraction:1.0").memory_fraction == 1);
    assert_true(set("garbage_collection_threshold:1e-9").gc_threshold == 1e-9);
}

static void keys_that_change_nothing_are_accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "backend:native",
        "release_lock_on_cudamalloc:True",
        "release_lock_on_hipmalloc:False",
        "graph_capture_record_stream_reuse:True",
        "throw_on_cudamalloc_oom:False",
        "expandable_segments_reserve:1.5",
        "expandable_segments_reserve:40G",
        "expandable_segments_reserve_by_class:[small:4G,large:0.5]",
        "expandable_segments_reserve_by_class:40G",
        "pinned_use_cuda_host_register:True",
        "pinned_use_hip_host_register:True",
        "pinned_num_register_threads:1",
        "pinned_num_register_threads:128",
        "pinned_use_background_threads:False",
        "pinned_reserve_segment_size_mb:512",
        "pinned_max_round_threshold_mb:0",
        "pinned_max_cached_size_mb:7",
        "pinned_free_catch_all:True",
    };
    struct allocator_config none = config_default();
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct allocator_config c = set(texts[i]);
        check_equal(&c, &none);
    }
}

static void wrong_values_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "max_split_size_mb:5", "max_split_size_mb must be at least 20, not 5" },
        { "max_split_size_mb:19", "max_split_size_mb must be at least 20, not 19" },
        { "expandable_segments:True,max_split_size_mb:0",
          "max_split_size_mb must be at least 20, not 0" },
        { "large_segment_size_mb:128",
          "max_split_size_mb must be at least 128, which is large_segment_size_mb, not 64" },
        { "max_split_size_mb:-1", "max_split_size_mb must be a whole number, not -1" },
        { "max_split_size_mb:128MB", "max_split_size_mb must be a whole number, not 128MB" },
        { "max_split_size_mb:0x40", "max_split_size_mb must be a whole number, not 0x40" },
        { "max_split_size_mb:18446744073709551616",
          "max_split_size_mb must be a whole number, not 18446744073709551616" },
        { "max_non_split_rounding_mb:19", "max_non_split_rounding_mb must be at least 20, not 19" },
        { "large_segment_size_mb:10", "large_segment_size_mb must be more than 10, not 10" },
        { "large_segment_size_mb:1048577",
          "large_segment_size_mb must be at most 1048576, not 1048577" },
        { "garbage_collection_threshold:0",
          "garbage_collection_threshold must be more than 0 and less than 1, not 0" },
        { "garbage_collection_threshold:1.0",
          "garbage_collection_threshold must be more than 0 and less than 1, not 1.0" },
        { "garbage_collection_threshold:nan",
          "garbage_collection_threshold must be a number, not nan" },
        { "per_process_memory_fraction:1.01",
          "per_process_memory_fraction must be from 0 to 1, not 1.01" },
        { "per_process_memory_fraction:-0.5",
          "per_process_memory_fraction must be from 0 to 1, not -0.5" },
        { "per_process_memory_fraction:80%",
          "per_process_memory_fraction must be a number, not 80%" },
        { "expandable_segments:true",
          "expandable_segments must be True or False, not true; the nearest is True" },
        { "throw_on_cudamalloc_oom:FALSE",
          "throw_on_cudamalloc_oom must be True or False, not FALSE; the nearest is False" },
        { "expandable_segments:1", "expandable_segments must be True or False, not 1" },
        { "expandable_segments:Tru", "expandable_segments must be True or False, not Tru" },
        { "pinned_num_register_threads:0",
          "pinned_num_register_threads must be a power of two up to 128, not 0" },
        { "pinned_num_register_threads:6",
          "pinned_num_register_threads must be a power of two up to 128, not 6" },
        { "pinned_num_register_threads:256",
          "pinned_num_register_threads must be a power of two up to 128, not 256" },
        { "pinned_max_cached_size_mb:x",
          "pinned_max_cached_size_mb must be a whole number, not x" },
        { "expandable_segments_reserve:G",
          "expandable_segments_reserve must be a fraction or a size as in 40G, not G" },
        { "expandable_segments_reserve:-1G",
          "expandable_segments_reserve must be a fraction or a size as in 40G, not -1G" },
        { "backend:default", "backend must be native or cudaMallocAsync, not default" },
        { "backend:cudaMallocAsync", "backend:cudaMallocAsync is another allocator, which writes "
                                     "no snapshots and is not modelled" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_refused(cases[i].text, cases[i].message);
}

static void wrong_divisions_are_refused(void **state)
{
    (void)state;
#define KEY "roundup_power2_divisions"
    static const struct {
        const char *text, *message;
    } cases[] = {
        { KEY ":3", KEY " must be a power of two (1 is none), not 3" },
        { KEY ":0", KEY " must be a power of two (1 is none), not 0" },
        { KEY ":>", KEY " must be a whole number, not >" },
        { KEY ":[4:3]", "a value of " KEY " must be a power of two or 0, not 3" },
        { KEY ":[4:x]", KEY " must be a whole number, not x" },
        { KEY ":[3:4]", "an interval of " KEY " must be a power of two or >, not 3" },
        { KEY ":[0:4]", "an interval of " KEY " must be a power of two or >, not 0" },
        { KEY ":[<:4]", "an interval of " KEY " must be a power of two or >, not <" },
        { KEY ":[4]", "\":\" and a value must follow 4" },
        { KEY ":[4:]", KEY " has no value" },
        { KEY ":[4:[4:2]]", KEY " takes a single value, not a list" },
        { KEY ":[4:2", "the list of " KEY " must be of the form [256:1,512:2,>:8]" },
        { KEY ":[4:2,", "the list of " KEY " must be of the form [256:1,512:2,>:8]" },
        { KEY ":[4:2:", "the list of " KEY " must be of the form [256:1,512:2,>:8]" },
        { KEY ":[,4:2]", "the list of " KEY " must be of the form [256:1,512:2,>:8]" },
    };
#undef KEY
    for (size_t i = 0; i < COUNT(cases); i++)
        check_refused(cases[i].text, cases[i].message);
}

static void wrong_shapes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "max_split_mb:64", "there is no setting max_split_mb; the nearest is max_split_size_mb" },
        { "roundup:4", "there is no setting roundup; the nearest is roundup_power2_divisions" },
        { "expandable_segment:True",
          "there is no setting expandable_segment; the nearest is expandable_segments" },
        { "Expandable_Segments:True",
          "there is no setting Expandable_Segments; the nearest is expandable_segments" },
        { "gc:0.5", "there is no setting gc; PyTorch's page on CUDA memory management has them" },
        { "a\x1b\xff"
          "b:1",
          "there is no setting a?\?b; PyTorch's page on CUDA memory management has them" },
        { "page_size:1g", "page_size belongs to another vendor's backend, which is not modelled" },
        { "multi_stream_lazy_reclaim:True",
          "multi_stream_lazy_reclaim belongs to another vendor's backend, which is not modelled" },
        { "expandable_segments", "\":\" and a value must follow expandable_segments" },
        { "expandable_segments=True",
          "there is no setting expandable_segments=True; the nearest is expandable_segments" },
        { "expandable_segments:", "expandable_segments has no value" },
        { "expandable_segments:,", "expandable_segments has no value" },
        { "expandable_segments:[True]", "expandable_segments takes a single value, not a list" },
        { "expandable_segments:True:False",
          "\",\" must follow the value of expandable_segments, not :" },
        { "roundup_power2_divisions:[4:2]]",
          "\",\" must follow the value of roundup_power2_divisions, not ]" },
        { "roundup_power2_divisions:[4:2]8",
          "\",\" must follow the value of roundup_power2_divisions, not 8" },
        { ",expandable_segments:True", "a setting must stand before \",\"" },
        { "expandable_segments:True,,", "a setting must stand before \",\"" },
        { "]", "a setting must stand before \"]\"" },
        { "pinned_free_catch_all:[a:b", "the list of pinned_free_catch_all is not closed" },
        { "pinned_free_catch_all:[[", "the list of pinned_free_catch_all is not closed" },
        { "pinned_free_catch_all:", "pinned_free_catch_all has no value" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_refused(cases[i].text, cases[i].message);
}

static void long_words_are_cut_in_messages(void **state)
{
    (void)state;
    static char text[1 << 20];
    struct vrs_error err = { .message = "" };
    struct allocator_config c = config_default();
    memset(text, '1', sizeof text);
    assert_int_equal(config_set(&c, (str){ text, sizeof text }, &err), VRS_USAGE);
    assert_true(strlen(err.message) < 160);
    assert_non_null(strstr(err.message, "1...; PyTorch"));
    /* A number of that length is none, though it is one to its last digit. */
    memcpy(text, "max_split_size_mb:", 18);
    memset(text + 18, '0', sizeof text - 20);
    assert_int_equal(config_set(&c, (str){ text, sizeof text }, &err), VRS_USAGE);
    assert_non_null(strstr(err.message, "must be a whole number, not 000"));
    memset(text, ',', sizeof text);
    config_take(&c, (str){ text, sizeof text });
    memset(text, '[', sizeof text);
    config_take(&c, (str){ text, sizeof text });
    struct allocator_config none = config_default();
    check_equal(&c, &none);
}

static void words_around_the_longest_are_read_whole_or_cut(void **state)
{
    (void)state;
    for (size_t len = 70; len < 100; len++) {
        char text[128] = "max_split_size_mb:";
        struct allocator_config c = config_default();
        memset(text + 18, '0', len);
        memcpy(text + 18 + len - 2, "64", 3);
        assert_int_equal(config_set(&c, str_from(text), NULL), len < 80 ? VRS_OK : VRS_USAGE);
        assert_int_equal(c.max_split_bytes, len < 80 ? 64 * MIB : UINT64_MAX);
    }
}

static void what_a_recording_came_with_is_no_failure_of_a_question(void **state)
{
    (void)state;
    struct allocator_config c = config_default();
    c.max_split_bytes = 5 * MIB;
    check_set(&c, "expandable_segments:True");
    assert_true(c.expandable);
    assert_int_equal(c.max_split_bytes, 5 * MIB);
    assert_int_equal(config_set(&c, S("large_segment_size_mb:12"), NULL), VRS_USAGE);
    check_set(&c, "large_segment_size_mb:12,max_split_size_mb:12");
}

static void a_string_of_a_file_is_taken_item_by_item(void **state)
{
    (void)state;
    static const struct {
        const char *file, *same_as;
    } cases[] = {
        { "", "" },
        { "nonsense", "" },
        { ",,:,[", "" },
        { "future_key:7,expandable_segments:True", "expandable_segments:True" },
        { "expandable_segments:true,max_split_size_mb:64", "max_split_size_mb:64" },
        { "max_split_size_mb:5,expandable_segments:True", "expandable_segments:True" },
        { "future:[a:1,b:2],large_segment_size_mb:12", "large_segment_size_mb:12" },
        { "roundup_power2_divisions:[3:1,4:2],max_split_size_mb:64", "max_split_size_mb:64" },
        { "max_split_size_mb:64x,max_split_size_mb:32", "max_split_size_mb:32" },
        { "expandable_segments:True:x,backend:cudaMallocAsync,large_segment_size_mb:16",
          "large_segment_size_mb:16" },
        { "page_size:1g,per_process_memory_fraction:0.25", "per_process_memory_fraction:0.25" },
        { "max_split_size_mb:64,[,expandable_segments:True", "max_split_size_mb:64" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct allocator_config c = config_default(), same = set(cases[i].same_as);
        config_take(&c, str_from(cases[i].file));
        check_equal(&c, &same);
    }
}

static void add_text(struct recording *r, const char *text)
{
    sample_setting(r, "PYTORCH_CUDA_ALLOC_CONF", 0);
    uint32_t row = r->settings.rows.len - 1;
    r->settings.type[row] = SETTING_TEXT;
    r->settings.text[row] = sample_string(r, text).n;
}

static void add_typed(struct recording *r, const char *name, enum setting_type type, double value)
{
    sample_setting(r, name, (int64_t)value);
    uint32_t row = r->settings.rows.len - 1;
    r->settings.type[row] = (uint8_t)type;
    r->settings.real[row] = value;
}

static void without_settings_the_segments_tell_expandable(void **state)
{
    (void)state;
    static const struct {
        bool segment;
        const char *events, *text;
        bool expandable;
    } cases[] = {
        { false, "", NULL, false },
        { false, "A 1000 2097152; a 1000 512", NULL, false },
        { false, "A 1000 2097152; M 1000 2097152", NULL, true },
        { true, "", NULL, true },
        { true, "", "max_split_size_mb:64", true },
        { true, "", "expandable_segments:False", false },
        { false, "", "expandable_segments:True", true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct recording r;
        sample_init(&r);
        sample_device(&r, 0);
        sample_segment(&r, 4096, 2 * MIB);
        uint32_t second = sample_segment(&r, (uint64_t)1 << 40, 2 * MIB);
        r.segments.expandable[second] = cases[i].segment;
        sample_events(&r, cases[i].events);
        if (cases[i].text != NULL)
            add_text(&r, cases[i].text);
        struct allocator_config c = config_of_recording(&r), expected = config_default();
        if (cases[i].text != NULL)
            config_take(&expected, str_from(cases[i].text));
        expected.expandable = cases[i].expandable;
        check_equal(&c, &expected);
        recording_free(&r);
    }
}

static void the_dict_is_believed_before_the_string(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    add_text(&r, "max_split_size_mb:64,roundup_power2_divisions:8,garbage_collection_threshold:0.5,"
                 "expandable_segments:True,large_segment_size_mb:12,future:1,"
                 "max_non_split_rounding_mb:24,per_process_memory_fraction:0.5");
    struct allocator_config c = config_of_recording(&r);
    assert_int_equal(c.max_split_bytes, 64 * MIB);
    assert_int_equal(c.rounding.divisions[0], 8);
    assert_true(c.gc_threshold == 0.5);
    assert_true(c.expandable);

    sample_setting(&r, "max_split_size", 128 * (int64_t)MIB);
    sample_setting(&r, "roundup_power2_divisions.4", 2);
    add_typed(&r, "garbage_collection_threshold", SETTING_FLOAT, 0.75);
    add_typed(&r, "expandable_segments", SETTING_BOOL, 0);
    c = config_of_recording(&r);
    assert_int_equal(c.max_split_bytes, 128 * MIB);
    assert_int_equal(c.rounding.divisions[0], 0);
    assert_int_equal(c.rounding.divisions[2], 2);
    assert_true(c.rounding.divides);
    assert_true(c.gc_threshold == 0.75);
    assert_false(c.expandable);
    /* What the dict never holds. */
    assert_int_equal(c.large_segment_bytes, 12 * MIB);
    assert_int_equal(c.non_split_rounding_bytes, 24 * MIB);
    assert_true(c.memory_fraction == 0.5);
    recording_free(&r);
}

static void a_dict_of_nothing_set_overrides_the_string_too(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    add_text(&r,
             "max_split_size_mb:64,garbage_collection_threshold:0.5,roundup_power2_divisions:8");
    sample_setting(&r, "max_split_size", -1);
    sample_setting(&r, "garbage_collection_threshold", 0);
    sample_setting(&r, "roundup_power2_divisions.1", 0);
    struct allocator_config c = config_of_recording(&r), none = config_default();
    check_equal(&c, &none);
    recording_free(&r);
}

static void what_cannot_be_a_setting_is_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum setting_type type;
        double value;
    } cases[] = {
        { "max_split_size", SETTING_INT, 0 },
        { "max_split_size", SETTING_INT, -7 },
        { "max_split_size", SETTING_INT, 4611686018427387904.0 },
        { "max_split_size", SETTING_FLOAT, 3e7 },
        { "max_split_size", SETTING_TEXT, 3e7 },
        { "garbage_collection_threshold", SETTING_FLOAT, 1 },
        { "garbage_collection_threshold", SETTING_FLOAT, -0.5 },
        { "garbage_collection_threshold", SETTING_INT, 1 },
        { "garbage_collection_threshold", SETTING_TEXT, 0.5 },
        { "expandable_segments", SETTING_TEXT, 1 },
        { "expandable_segments", SETTING_FLOAT, 1 },
        { "roundup_power2_divisions.4", SETTING_INT, 3 },
        { "PYTORCH_CUDA_ALLOC_CONF", SETTING_INT, 1 },
        { "large_segment_size_mb", SETTING_INT, 64 },
    };
    struct allocator_config none = config_default();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct recording r;
        sample_init(&r);
        add_typed(&r, cases[i].name, cases[i].type, cases[i].value);
        struct allocator_config c = config_of_recording(&r);
        check_equal(&c, &none);
        recording_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_pytorch),
        cmocka_unit_test(a_request_is_rounded_by_the_entry_of_its_size),
        cmocka_unit_test(lists_fill_the_table),
        cmocka_unit_test(segments_have_three_kinds_of_sizes),
        cmocka_unit_test(a_string_sets_what_it_names),
        cmocka_unit_test(sizes_may_be_at_their_limits),
        cmocka_unit_test(keys_that_change_nothing_are_accepted),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(wrong_divisions_are_refused),
        cmocka_unit_test(wrong_shapes_are_refused),
        cmocka_unit_test(long_words_are_cut_in_messages),
        cmocka_unit_test(words_around_the_longest_are_read_whole_or_cut),
        cmocka_unit_test(what_a_recording_came_with_is_no_failure_of_a_question),
        cmocka_unit_test(a_string_of_a_file_is_taken_item_by_item),
        cmocka_unit_test(without_settings_the_segments_tell_expandable),
        cmocka_unit_test(the_dict_is_believed_before_the_string),
        cmocka_unit_test(a_dict_of_nothing_set_overrides_the_string_too),
        cmocka_unit_test(what_cannot_be_a_setting_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
