#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made/answered.h"
#include "made/fault.h"
#include "render/page/unpack.h"
#include "render/write/base64.h"
#include "vramscope/snapshot.h"

static void check_base64(const char *bytes, size_t len, const char *text)
{
    struct buf b;
    buf_init(&b, SIZE_MAX);
    base64_put(&b, bytes, len);
    buf_char(&b, '\0');
    assert_false(b.failed);
    assert_string_equal(b.at, text);
    assert_int_equal(base64_length(len), strlen(text));
    buf_free(&b);
}

/* The vectors of RFC 4648. */
static void bytes_become_letters(void **state)
{
    (void)state;
    check_base64("", 0, "");
    check_base64("f", 1, "Zg==");
    check_base64("fo", 2, "Zm8=");
    check_base64("foo", 3, "Zm9v");
    check_base64("foob", 4, "Zm9vYg==");
    check_base64("\xff\xfe\x00", 3, "//4A");
}

static uint64_t number(const void *from, uint32_t row)
{
    return ((const uint64_t *)from)[row];
}

static struct page_packed packed(struct page_chunks *blocks, const struct page_column *column,
                                 const uint64_t *values, uint32_t rows)
{
    struct page_packed p;
    assert_true(page_queue(blocks, column, values, rows, &p));
    assert_int_equal(page_pack_all(blocks, 1, NULL), VRS_OK);
    assert_int_equal(p.rows, rows);
    return p;
}

static void columns_leave_out_what_says_nothing(void **state)
{
    (void)state;
    static const struct page_column plain = { "a", PAGE_U64, PAGE_AS_IT_IS, NULL, number };
    static const struct page_column delta = { "b", PAGE_U32, PAGE_DELTA, NULL, number };
    static const struct page_column zigzag = { "c", PAGE_U32, PAGE_ZIGZAG, NULL, number };
    struct page_chunks blocks;
    assert_true(page_chunks_init(&blocks));
    const uint64_t same[] = { 7, 7, 7 }, few[] = { 1, 255, 3 }, more[] = { 1, 70000, 3 };
    struct page_packed p = packed(&blocks, &plain, same, 3);
    assert_true(p.constant && p.max == 7 && p.len == 0);
    assert_int_equal(packed(&blocks, &plain, few, 3).planes, 1);
    p = packed(&blocks, &plain, more, 3);
    assert_true(p.planes == 3 && p.max == 70000 && p.at > 0 && p.block == 0);
    const uint64_t rising[] = { 100000, 100001, 100003 }, falling[] = { 10, 9, 8 };
    assert_int_equal(packed(&blocks, &delta, rising, 3).planes, 3);
    assert_int_equal(packed(&blocks, &delta, falling, 3).planes, 4);
    assert_int_equal(packed(&blocks, &zigzag, falling, 3).planes, 1);
    assert_int_equal(packed(&blocks, &plain, NULL, 0).len, 0);
    blocks.where = PAGE_NEW_BLOCK;
    assert_int_equal(packed(&blocks, &plain, few, 3).block, 1);
    blocks.where = PAGE_COVER_BLOCK;
    assert_int_equal(packed(&blocks, &plain, few, 3).block, 0);
    page_chunks_free(&blocks);
}

/* Sizes that come again stand together; counters and noise do not. */
static void a_sample_says_how_numbers_are_laid_out(void **state)
{
    (void)state;
    enum { ROWS = 50000, SIZES = 97 };
    static const struct page_column column = { "a", PAGE_U32, PAGE_AS_IT_IS, NULL, number };
    static uint64_t again[ROWS], rising[ROWS];
    struct page_chunks blocks;
    uint32_t noise = 1;
    assert_true(page_chunks_init(&blocks));
    for (uint32_t i = 0; i < ROWS; i++) {
        noise = noise * 1664525 + 1013904223;
        again[i] = (noise >> 16) % SIZES * 12345677 & 0xffffff;
        rising[i] = i;
    }
    assert_false(packed(&blocks, &column, again, ROWS).shuffled);
    assert_true(packed(&blocks, &column, rising, ROWS).shuffled);
    page_chunks_free(&blocks);
}

/* What JavaScript cannot count is told, not rounded. */
static void large_numbers_are_clipped_and_counted(void **state)
{
    (void)state;
    static const struct page_column column = { "a", PAGE_U64, PAGE_AS_IT_IS, NULL, number };
    struct page_chunks blocks;
    assert_true(page_chunks_init(&blocks));
    const uint64_t values[] = { 1, PAGE_NUMBER_MOST, PAGE_NUMBER_MOST + 1, UINT64_MAX };
    assert_int_equal(packed(&blocks, &column, values, 4).max, PAGE_NUMBER_MOST);
    assert_int_equal(blocks.clipped, 2);
    page_chunks_free(&blocks);
}

static const char *text;
static uint32_t times; /* that the page has the recording */

/* What was written so far, with a NUL behind it; a page has its program in it. */
static struct {
    char at[1 << 20];
    size_t len;
} page;

static bool write_part(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    if (len >= sizeof page.at - page.len)
        return false;
    memcpy(page.at + page.len, bytes, len);
    page.len += len;
    page.at[page.len] = '\0';
    return true;
}

static const struct vrs_sink sink = { write_part, NULL };

static const struct vrs_view_options *options; /* NULL: all defaults */

static enum vrs_status write_page(void *arg)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *r[2] = { NULL, NULL };
    (void)arg;
    page.len = 0;
    enum vrs_status status = vrs_open_bytes(text, strlen(text), "run.json", NULL, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &r[0], NULL);
    r[1] = r[0];
    if (status == VRS_OK)
        status = vrs_view(r, times, options, &sink, NULL);
    vrs_close(file);
    return status;
}

/* Where memory that is given back early is only a read, the page is the same. */
static void page_is_whole(void *arg)
{
    assert_string_equal(page.at, arg);
}

/* Of the recording and options that are set; `page` is then the page that nothing failed of. */
static void each_allocation_fails(void)
{
    static char whole[sizeof page.at];
    assert_int_equal(write_page(NULL), VRS_OK);
    memcpy(whole, page.at, page.len + 1);
    fault_each(write_page, page_is_whole, whole);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    text = recording_of_steps("train.py");
    times = 1;
    each_allocation_fails();
    assert_non_null(strstr(page.at, "<title>run.json"));
    assert_non_null(strstr(page.at, "\"schema\": \"vramscope.view/1\""));
}

/* What was reserved, one segment of 2 MiB, and what was free together, the most of them. */
static void failures_tell_the_least_the_card_has(void **state)
{
    (void)state;
    text = recording_of_tensor("load", "");
    assert_int_equal(write_page(NULL), VRS_OK);
    assert_non_null(strstr(page.at, "\"capacity_bytes\": null"));
    text = recording_of_tensor(
        "load", ", {\"action\": \"oom\", \"size\": 4096, \"stream\": 0, \"frames\": []}"
                ", {\"action\": \"oom\", \"device_free\": 1000, \"size\": 4096, \"frames\": []}"
                ", {\"action\": \"oom\", \"device_free\": 9007199254740991, \"size\": 1,"
                " \"frames\": []}"
                ", {\"action\": \"oom\", \"device_free\": 24, \"size\": 4096, \"frames\": []}");
    assert_int_equal(write_page(NULL), VRS_OK);
    assert_non_null(strstr(page.at, "\"capacity_bytes\": 2098152,"));
}

/* Two recordings are also compared. */
static void every_allocation_of_two_may_fail(void **state)
{
    (void)state;
    text = recording_of_tensor("load", "");
    times = 2;
    each_allocation_fails();
    assert_non_null(strstr(page.at, "\"keyless\""));
    assert_non_null(strstr(page.at, "\"skew_ratio\": 1.000000"));
}

static char noted[256];

static void note(void *arg, const char *line)
{
    (void)arg;
    size_t len = strlen(line);
    assert_true(len < sizeof noted);
    memcpy(noted, line, len + 1);
}

/* It says what it goes without; that may have no memory either. */
static void every_allocation_of_a_small_one_may_fail(void **state)
{
    (void)state;
    struct vrs_view_options small = {
        .size = sizeof small, .most_bytes = 1, .may_be_larger = true, .note = note
    };
    text = recording_of_steps("train.py");
    times = 1;
    options = &small;
    each_allocation_fails();
    options = NULL;
    assert_null(strstr(page.at, "\"left_out\": []"));
    assert_non_null(strstr(noted, "the page goes without "));
    assert_non_null(strstr(noted, "no allocation of these events is left out"));
}

/* The same for a page of some events. */
static void every_allocation_of_some_events_may_fail(void **state)
{
    (void)state;
    struct vrs_view_options some = {
        .size = sizeof some, .from = "3", .to = "9", .most_bytes = 1, .may_be_larger = true
    };
    text = recording_of_steps("train.py");
    times = 1;
    options = &some;
    each_allocation_fails();
    options = NULL;
    assert_non_null(strstr(page.at, "\"window\": { \"first\": 4, \"last\": 10,"));
}

/* Rows taken out of a column leave the others as they were, whatever it is packed like. */
static void packed_columns_are_numbers_again(void **state)
{
    (void)state;
    enum { ROWS = 1000 };
    static const struct page_column columns[] = {
        { "a", PAGE_U64, PAGE_AS_IT_IS, NULL, number },
        { "b", PAGE_U32, PAGE_DELTA, NULL, number },
        { "c", PAGE_U32, PAGE_ZIGZAG, NULL, number },
        { "d", PAGE_U64, PAGE_ZIGZAG, NULL, number },
        { "e", PAGE_U8, PAGE_AS_IT_IS, NULL, number },
    };
    struct page_chunks blocks;
    struct arena arena;
    uint64_t values[ROWS], *back = NULL;
    arena_init(&arena, SIZE_MAX / 2);
    assert_true(page_chunks_init(&blocks));
    for (uint32_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        static const uint64_t most[] = { 255, 65535, UINT32_MAX, PAGE_NUMBER_MOST };
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (i * UINT64_C(0x9e3779b97f4a7c15) >> (i % 40)) & most[columns[c].type];
        struct page_packed made, p = packed(&blocks, &columns[c], values, ROWS);
        struct buf bytes;
        buf_init(&bytes, SIZE_MAX / 2);
        assert_int_equal(page_unpack(&p, &blocks, &arena, &back, NULL), VRS_OK);
        assert_memory_equal(back, values, sizeof values);
        assert_int_equal(page_repack(&p, back + 10, 50, &made, &bytes, NULL), VRS_OK);
        assert_int_equal(made.rows, 50);
        assert_int_equal(made.len, bytes.len);
        assert_ptr_equal(made.column, &columns[c]);
        memcpy(blocks.block.at[p.block].at + p.at, bytes.at, bytes.len);
        assert_int_equal(page_unpack(&made, &blocks, &arena, &back, NULL), VRS_OK);
        assert_memory_equal(back, values + 10, 50 * sizeof *values);
        assert_int_equal(page_repack(&p, back + 7, 1, &made, &bytes, NULL), VRS_OK);
        assert_true(made.constant && made.len == 0 && made.max == back[7]);
        buf_free(&bytes);
    }
    page_chunks_free(&blocks);
    arena_free(&arena);
}

static void a_page_needs_a_recording(void **state)
{
    (void)state;
    struct vrs_error err;
    assert_int_equal(vrs_view(NULL, 0, NULL, &sink, &err), VRS_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_letters),
        cmocka_unit_test(columns_leave_out_what_says_nothing),
        cmocka_unit_test(a_sample_says_how_numbers_are_laid_out),
        cmocka_unit_test(large_numbers_are_clipped_and_counted),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(failures_tell_the_least_the_card_has),
        cmocka_unit_test(every_allocation_of_two_may_fail),
        cmocka_unit_test(every_allocation_of_a_small_one_may_fail),
        cmocka_unit_test(every_allocation_of_some_events_may_fail),
        cmocka_unit_test(packed_columns_are_numbers_again),
        cmocka_unit_test(a_page_needs_a_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
