/* test_fit.c - pages that are kept small: how much of a recording they hold.
 *
 * Sizes that are asked for are shares of what the zlib at hand makes of the page.  How often it is
 * packed depends on how well samples tell what all of it becomes: what is said here of zlib 1.2.13
 * at level 4 is so at levels 1 to 9 too, but nothing makes it so for another deflate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "render/page/column.h"
#include "render/page/fit_window.h"
#include "vramscope/snapshot.h"

enum vrs_status __real_page_pack(struct page_chunks *chunks, enum page_share share,
                                 uint32_t threads, struct vrs_error *err);
enum vrs_status __wrap_page_pack(struct page_chunks *chunks, enum page_share share,
                                 uint32_t threads, struct vrs_error *err);

static uint32_t packs;      /* of what depends on the window */
static size_t more_percent; /* that it is packed to, and no sample says so */

enum vrs_status __wrap_page_pack(struct page_chunks *chunks, enum page_share share,
                                 uint32_t threads, struct vrs_error *err)
{
    enum vrs_status status = __real_page_pack(chunks, share, threads, err);
    packs += (share & PAGE_WINDOWED) != 0;
    for (uint32_t i = 0; i < chunks->work.len && more_percent > 0; i++) {
        struct page_work *work = &chunks->work.at[i];
        for (size_t left = work->packed.len * more_percent / 100; left > 0; left--)
            if ((work->share & share & PAGE_WINDOWED) != 0)
                buf_char(&work->packed, 'x');
    }
    return status;
}

enum { ALLOCS = 90000, EVENTS = 2 * ALLOCS };

static struct vrs_file *file;
static const struct vrs_recording *recording;
static uint64_t whole; /* bytes of a page of all of it */

static uint32_t noise(void)
{
    static uint64_t now = 1;
    now = now * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(now >> 33);
}

static void put_event(struct buf *b, const char *action, uint32_t i, uint32_t size, uint64_t *time)
{
    buf_format(
        b,
        "%s{\"action\": \"%s\", \"addr\": %llu, \"size\": %u, \"stream\": 0, \"time_us\": %llu,"
        " \"frames\": [{\"name\": \"f%u\", \"filename\": \"train.py\", \"line\": 1}]}",
        *time == 0 ? "" : ", ", action, 0x100000000 + (unsigned long long)i * 65536, (unsigned)size,
        (unsigned long long)*time, (unsigned)(i % 50));
    *time += 1 + noise() % 90000;
}

/* Each alloc is freed a while later, so that the peak lies in the middle: up to there every second
 * one waits until all are made. */
static enum vrs_status open_run(void)
{
    static uint32_t size[ALLOCS];
    struct buf b;
    uint64_t time = 0;
    uint32_t waiting = 0;
    buf_init(&b, SIZE_MAX / 2);
    buf_text(&b, "{\"segments\": [], \"device_traces\": [[");
    for (uint32_t i = 0; i < ALLOCS; i++) {
        size[i] = 512 * (1 + noise() % 100);
        put_event(&b, "alloc", i, size[i], &time);
        if (i % 2 == 1)
            put_event(&b, "free_completed", i, size[i], &time);
    }
    for (; waiting < ALLOCS; waiting += 2)
        put_event(&b, "free_completed", waiting, size[waiting], &time);
    buf_text(&b, "]]}");
    enum vrs_status status =
        b.failed ? VRS_NOMEM : vrs_open_bytes(b.at, b.len, "run.json", NULL, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &recording, NULL);
    buf_free(&b);
    return status;
}

static char noted[512];

static void note(void *arg, const char *line)
{
    (void)arg;
    size_t len = strlen(line);
    assert_true(len < sizeof noted);
    memcpy(noted, line, len + 1);
}

static bool count(void *arg, const char *bytes, size_t len)
{
    (void)bytes;
    *(uint64_t *)arg += len;
    return true;
}

/* Of events `from` to `to`; all of them where these are NULL. */
static uint64_t page_size_of(const char *from, const char *to, uint64_t most)
{
    struct vrs_view_options o = {
        .size = sizeof o, .from = from, .to = to, .most_bytes = most, .note = note
    };
    uint64_t bytes = 0;
    struct vrs_sink sink = { count, &bytes };
    noted[0] = '\0';
    packs = 0;
    assert_int_equal(vrs_view(&recording, 1, &o, &sink, NULL), VRS_OK);
    return bytes;
}

static uint64_t page_size(uint64_t most)
{
    return page_size_of(NULL, NULL, most);
}

static int begin(void **state)
{
    (void)state;
    if (open_run() != VRS_OK)
        return -1;
    whole = page_size(0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    vrs_close(file);
    return 0;
}

static bool is_around_the_peak(void)
{
    return strstr(noted, "holds only the allocations that live in events") != NULL &&
           strstr(noted, "of 180000, around the peak") != NULL && strstr(noted, "times") == NULL;
}

/* A page of all of it is as it is, whether or not it was asked to be small. */
static void a_page_that_is_small_enough_is_whole(void **state)
{
    (void)state;
    assert_int_equal(page_size(whole), whole);
    assert_string_equal(noted, "");
    assert_int_equal(packs, 1);
    assert_true(page_size(whole - 1) < whole);
    assert_string_not_equal(noted, "");
    assert_int_equal(packs, 1);
}

/* It holds as many events as it can, by samples and, where these err, by one correction; that all
 * of them are too many is seen only by packing them where they nearly fit. */
static void a_window_fills_the_page(void **state)
{
    (void)state;
    static const uint64_t percents[] = { 85, 70, 55, 45, 35 };
    uint32_t corrected = 0;
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        uint64_t most = whole * percents[i] / 100;
        assert_in_range(page_size(most), most - most / 20, most);
        assert_true(is_around_the_peak());
        assert_in_range(packs, 1, 2);
        corrected += packs > 1;
    }
    assert_in_range(corrected, 0, 1);
    uint64_t most = whole * 95 / 100;
    assert_in_range(page_size(most), most - most / 10, most);
    assert_in_range(packs, 1, 3);
}

/* Where samples say too little the first window is too large, and the second is not. */
static void a_window_is_corrected_once(void **state)
{
    (void)state;
    more_percent = 8;
    for (uint64_t percent = 40; percent <= 80; percent += 20) {
        uint64_t most = whole * percent / 100;
        assert_in_range(page_size(most), most - most / 5, most);
        assert_true(is_around_the_peak());
        assert_int_equal(packs, 2);
    }
}

static int pack_as_it_is(void **state)
{
    (void)state;
    more_percent = 0;
    return 0;
}

/* Pages of the least window, each without more than the one before, end with one that goes without
 * times.  Where that is all there is room for, no smaller window is taken instead. */
static void a_page_has_no_fewer_events_than_lead_to_the_peak(void **state)
{
    (void)state;
    static const char from[] = "134966", to[] = "135029";
    uint64_t most = page_size_of(from, to, 0);
    for (int i = 0; i < PAGE_SPARES && strstr(noted, "times") == NULL; i++)
        most = page_size_of(from, to, most - 1);
    assert_int_equal(page_size(most), most);
    assert_non_null(strstr(noted, "events 134966 to 135029 of 180000, around the peak"));
    assert_non_null(strstr(noted, "times, and holds only"));
}

/* The least that a page may be asked to be, as the message has it; nothing is written. */
static uint64_t refused(uint64_t most)
{
    static const char before[] = "no page of these events is smaller than ",
                      say[] = "; say --max-size ";
    struct vrs_view_options o = { .size = sizeof o, .most_bytes = most, .note = note };
    uint64_t bytes = 0;
    struct vrs_sink sink = { count, &bytes };
    struct vrs_error err;
    noted[0] = '\0';
    assert_int_equal(vrs_view(&recording, 1, &o, &sink, &err), VRS_USAGE);
    assert_int_equal(bytes, 0);
    assert_string_equal(noted, "");
    assert_memory_equal(err.message, before, strlen(before));
    const char *least = strstr(err.message, say);
    assert_non_null(least);
    char *rest;
    bytes = strtoull(least + strlen(say), &rest, 10);
    assert_string_equal(rest, ", or more");
    return bytes;
}

static void a_page_that_cannot_be_so_small_is_refused(void **state)
{
    (void)state;
    uint64_t least = refused(1);
    assert_int_equal(refused(least - 1), least);
    assert_int_equal(page_size(least), least);
    assert_non_null(strstr(noted, "times, and holds only"));
}

/* Between its bounds, and neither of them, wherever the line leads. */
static void a_state_on_a_line_lies_between_its_bounds(void **state)
{
    (void)state;
    struct fit_size a = { 0, 0 }, b = { 1000, 10000 };
    enum { ABOVE = 64, BELOW = 1000 };
    assert_int_equal(fit_window_on_line(a, b, 5000, ABOVE, BELOW), 500);
    assert_int_equal(fit_window_on_line(b, a, 5009, ABOVE, BELOW), 500);
    for (uint64_t bytes = 0; bytes < 12000; bytes++) {
        uint32_t found = fit_window_on_line(a, b, bytes, ABOVE, BELOW);
        assert_in_range(found, ABOVE + 1, BELOW - 1);
    }
    assert_int_equal(fit_window_on_line(b, b, 5000, ABOVE, BELOW), ABOVE + (BELOW - ABOVE) / 2);
    assert_int_equal(fit_window_on_line(a, b, 649, ABOVE, ABOVE + 2), ABOVE + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_that_is_small_enough_is_whole),
        cmocka_unit_test(a_window_fills_the_page),
        cmocka_unit_test_teardown(a_window_is_corrected_once, pack_as_it_is),
        cmocka_unit_test(a_page_has_no_fewer_events_than_lead_to_the_peak),
        cmocka_unit_test(a_page_that_cannot_be_so_small_is_refused),
        cmocka_unit_test(a_state_on_a_line_lies_between_its_bounds),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
