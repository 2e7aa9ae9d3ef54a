/* test_machine.c - the rules of spec/allocator.md, one test each, by the numbers of its sections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/machine_sound.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LOW ((uint64_t)1 << 49)
#define RESERVATIONS ((uint64_t)1 << 54)

/* A machine, and what it asked of the device since it was last looked at. */
struct bench {
    struct machine m;
    char calls[512];
    size_t len;
};

/* "A20@-20": a segment of 20 MiB, 20 MiB below where segments begin; pages likewise. */
static void hear(void *arg, const struct machine_call *c)
{
    static const char letters[] = "AFMU";
    struct bench *b = arg;
    uint64_t origin = c->address >= RESERVATIONS ? RESERVATIONS : LOW;
    b->len +=
        (size_t)snprintf(b->calls + b->len, sizeof b->calls - b->len, "%s%c%g@%g",
                         b->len == 0 ? "" : " ", letters[c->call], (double)c->bytes / (double)MIB,
                         (double)(int64_t)(c->address - origin) / (double)MIB);
    assert_true(b->len < sizeof b->calls);
}

static void begin(struct bench *b, const char *settings)
{
    struct allocator_config c = config_default();
    struct vrs_error err = { .message = "" };
    enum vrs_status status = config_set(&c, str_from(settings), &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, VRS_OK);
    assert_true(machine_init(&b->m, &c));
    b->m.listen = hear;
    b->m.listen_arg = b;
    b->len = 0;
    b->calls[0] = '\0';
    assert_int_equal(machine_lane(&b->m, 0, 0), 0);
}

static void sound(struct bench *b)
{
    const char *fault = machine_fault(&b->m);
    assert_string_equal(fault == NULL ? "" : fault, "");
}

static void end(struct bench *b)
{
    sound(b);
    assert_false(b->m.no_memory);
    machine_free(&b->m);
}

/* What was asked of the device since the last look. */
static void asked(struct bench *b, const char *calls)
{
    assert_string_equal(b->calls, calls);
    b->len = 0;
    b->calls[0] = '\0';
    sound(b);
}

static uint32_t get(struct bench *b, uint64_t bytes)
{
    uint32_t block = machine_request(&b->m, 0, bytes);
    assert_true(block != 0);
    return block;
}

static uint64_t address(const struct bench *b, uint32_t block)
{
    return b->m.blocks.at[block].address;
}

static uint64_t size(const struct bench *b, uint32_t block)
{
    return b->m.blocks.at[block].size;
}

static void drop(struct bench *b, uint32_t block)
{
    machine_complete(&b->m, block);
}

/* A block of its own segment, large enough to be one. */
static uint32_t get_whole(struct bench *b, uint64_t mib)
{
    uint32_t block = get(b, mib * MIB);
    assert_int_equal(size(b, block), mib * MIB);
    return block;
}

static void segments_have_the_sizes_of_3(void **state)
{
    struct bench b;
    (void)state;
    begin(&b, "");
    get(&b, 1);
    asked(&b, "A2@-2");
    get(&b, MIB + 1);
    asked(&b, "A20@-22");
    get(&b, 10 * MIB - 512);
    asked(&b, "");
    get(&b, 10 * MIB - 512);
    asked(&b, "A20@-42");
    get(&b, 10 * MIB + 1); /* from what is left: 10 MiB + 512 */
    asked(&b, "");
    get(&b, 10 * MIB);
    asked(&b, "A10@-52");
    get(&b, 12 * MIB + 1);
    asked(&b, "A14@-66");
    end(&b);
}

static void best_fit_takes_the_smallest_then_the_lowest(void **state) /* 4.1 */
{
    struct bench b;
    uint32_t at[4];
    (void)state;
    begin(&b, "");
    for (uint32_t i = 0; i < 4; i++)
        at[i] = get_whole(&b, i == 0 ? 40 : 30);
    uint64_t lowest = address(&b, at[3]);
    drop(&b, at[0]);
    drop(&b, at[3]);
    drop(&b, at[1]);
    drop(&b, at[2]);
    assert_int_equal(address(&b, get_whole(&b, 30)), lowest);
    assert_int_equal(address(&b, get_whole(&b, 30)), lowest + 30 * MIB);
    assert_int_equal(size(&b, get(&b, 31 * MIB)), 31 * MIB);
    end(&b);
}

static void small_and_large_never_mix(void **state) /* 3, 4.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    drop(&b, get(&b, 20 * MIB));
    asked(&b, "A20@-20");
    uint32_t small = get(&b, MIB);
    asked(&b, "A2@-22");
    drop(&b, small);
    get(&b, MIB + 1);
    asked(&b, "");
    end(&b);
}

static void streams_and_pools_never_mix(void **state) /* 4.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    uint32_t stream = machine_lane(&b.m, 0, 7), pool = machine_lane(&b.m, 3, 0);
    drop(&b, get(&b, 20 * MIB));
    asked(&b, "A20@-20");
    assert_true(machine_request(&b.m, stream, 2 * MIB) != 0);
    assert_true(machine_request(&b.m, pool, 2 * MIB) != 0);
    asked(&b, "A20@-40 A20@-60");
    assert_int_equal(machine_lane(&b.m, 3, 0), pool);
    end(&b);
}

static void the_rest_is_split_off_by_4_3(void **state)
{
    struct bench b;
    (void)state;
    /* Small: a rest of 512 bytes is kept. */
    begin(&b, "");
    for (uint32_t i = 0; i < 4095; i++)
        assert_int_equal(size(&b, get(&b, 1)), 512);
    asked(&b, "A2@-2");
    get(&b, 512);
    asked(&b, "");
    end(&b);
    /* Large: of 1 MiB it is not, of 512 bytes more it is. */
    begin(&b, "");
    uint32_t whole = get_whole(&b, 20);
    drop(&b, whole);
    uint32_t block = get(&b, 19 * MIB);
    assert_int_equal(size(&b, block), 20 * MIB);
    drop(&b, block);
    assert_int_equal(size(&b, get(&b, 19 * MIB - 512)), 19 * MIB - 512);
    end(&b);
    /* Expandable: 512 bytes are kept on the large side too. */
    begin(&b, "expandable_segments:True");
    assert_int_equal(size(&b, get(&b, 20 * MIB - 512)), 20 * MIB - 512);
    end(&b);
}

static void the_setting_splits_old_segments_too(void **state) /* 4.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    drop(&b, get_whole(&b, 20));
    b.m.config.expandable = true;
    asked(&b, "A20@-20");
    uint32_t block = get(&b, 20 * MIB - 512);
    asked(&b, "");
    assert_int_equal(size(&b, block), 20 * MIB - 512);
    end(&b);
}

static void what_is_not_split_off_is_owned(void **state) /* 4.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    uint32_t block = get(&b, 11 * MIB + 1);
    assert_int_equal(size(&b, block), 12 * MIB);
    assert_int_equal(b.m.active, 12 * MIB);
    assert_int_equal(b.m.requested, 11 * MIB + 1);
    asked(&b, "A12@-12");
    end(&b);
}

static void the_remainder_is_at_the_high_end(void **state) /* 4.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    uint64_t base = address(&b, get(&b, 5 * MIB));
    assert_int_equal(base, LOW - 20 * MIB);
    assert_int_equal(address(&b, get(&b, 5 * MIB)), base + 5 * MIB);
    end(&b);
}

static void too_large_to_split_serves_no_small_request(void **state) /* 4.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "max_split_size_mb:64");
    drop(&b, get_whole(&b, 64));
    asked(&b, "A64@-64");
    get(&b, 63 * MIB);
    asked(&b, "A64@-128");
    get_whole(&b, 64);
    asked(&b, "");
    end(&b);
}

static void a_block_never_split_is_not_much_larger(void **state) /* 4.1, 4.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "max_split_size_mb:64,max_non_split_rounding_mb:32");
    drop(&b, get_whole(&b, 100));
    asked(&b, "A100@-100");
    uint32_t block = get(&b, 68 * MIB); /* exactly 32 MiB less: refused */
    asked(&b, "A68@-168");
    drop(&b, block);
    block = get(&b, 70 * MIB); /* owned whole, however much that is */
    assert_int_equal(size(&b, block), 100 * MIB);
    asked(&b, "");
    end(&b);
}

static void oversize_gives_the_first_that_is_enough(void **state) /* 7.2 */
{
    struct bench b;
    (void)state;
    begin(&b, "max_split_size_mb:64");
    b.m.capacity = 400 * MIB;
    uint32_t small = get_whole(&b, 20);
    uint32_t a = get_whole(&b, 90), c = get_whole(&b, 120), d = get_whole(&b, 130);
    asked(&b, "A20@-20 A90@-110 A120@-230 A130@-360");
    drop(&b, a);
    drop(&b, c);
    drop(&b, d);
    drop(&b, small);
    /* Nothing fits 64 (90 is 26 more); 90 is the first of at least 64. */
    get_whole(&b, 64);
    asked(&b, "F90@-110 A64@-424");
    assert_int_equal(b.m.retries, 0);
    end(&b);
}

static void oversize_gives_the_largest_downwards(void **state) /* 7.2 */
{
    struct bench b;
    (void)state;
    begin(&b, "max_split_size_mb:64");
    b.m.capacity = 300 * MIB;
    uint32_t a = get_whole(&b, 70), c = get_whole(&b, 80), d = get_whole(&b, 100);
    uint32_t e = get_whole(&b, 40);
    asked(&b, "A70@-70 A80@-150 A100@-250 A40@-290");
    drop(&b, a);
    drop(&b, c);
    drop(&b, d);
    drop(&b, e);
    get_whole(&b, 180); /* 100 and 80 are enough */
    asked(&b, "F100@-250 F80@-150 A180@-470");
    assert_int_equal(b.m.retries, 0);
    end(&b);
}

static void oversize_that_is_not_enough_is_followed_by_all(void **state) /* 7.2, 4 */
{
    struct bench b;
    (void)state;
    begin(&b, "max_split_size_mb:64");
    b.m.capacity = 120 * MIB;
    uint32_t a = get_whole(&b, 40), c = get_whole(&b, 70);
    drop(&b, a);
    drop(&b, c);
    asked(&b, "A40@-40 A70@-110");
    get_whole(&b, 120);
    asked(&b, "F70@-110 F40@-40 A120@-230");
    assert_int_equal(b.m.retries, 1);
    end(&b);
}

static void a_full_release_has_an_order(void **state) /* 7.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    uint64_t streams[] = { UINT64_MAX, 9, 0 };
    uint32_t held[3][4];
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t lane = machine_lane(&b.m, 0, streams[i]);
        held[i][0] = machine_request(&b.m, lane, 1);
        held[i][1] = machine_request(&b.m, lane, 30 * MIB);
        held[i][2] = machine_request(&b.m, lane, 10 * MIB);
        held[i][3] = machine_request(&b.m, lane, 30 * MIB);
    }
    asked(&b, "A2@-2 A30@-32 A10@-42 A30@-72 A2@-74 A30@-104 A10@-114 A30@-144 "
              "A2@-146 A30@-176 A10@-186 A30@-216");
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 4; k++)
            drop(&b, held[i][k]);
    machine_release_all(&b.m);
    /* Large before small; streams as unsigned numbers; then size, then address. */
    asked(&b, "F10@-186 F30@-216 F30@-176 F10@-114 F30@-144 F30@-104 F10@-42 F30@-72 F30@-32 "
              "F2@-146 F2@-74 F2@-2");
    assert_int_equal(b.m.reserved, 0);
    end(&b);
}

static void a_full_release_leaves_split_segments(void **state) /* 7.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    uint32_t a = get(&b, 5 * MIB), c = get(&b, 5 * MIB), s = get(&b, 1);
    drop(&b, a);
    machine_release_all(&b.m);
    asked(&b, "A20@-20 A2@-22");
    drop(&b, c);
    drop(&b, s);
    machine_release_all(&b.m);
    asked(&b, "F20@-20 F2@-22");
    end(&b);
}

static void private_pools_are_not_released(void **state) /* 7.1, 13 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    b.m.capacity = 40 * MIB;
    uint32_t lane = machine_lane(&b.m, 2, 0);
    drop(&b, machine_request(&b.m, lane, 10 * MIB));
    drop(&b, machine_request(&b.m, lane, 1));
    machine_release_all(&b.m);
    asked(&b, "A10@-10 A2@-12");
    assert_int_equal(machine_request(&b.m, 0, 30 * MIB), 0);
    assert_int_equal(b.m.retries, 1);
    asked(&b, "");
    end(&b);
}

static void what_waits_is_neither_merged_nor_reused(void **state) /* 5, 6 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    uint32_t a = get(&b, 4 * MIB), c = get(&b, 4 * MIB), d = get(&b, 12 * MIB);
    asked(&b, "A20@-20");
    machine_wait(&b.m, c);
    machine_wait(&b.m, c);
    assert_int_equal(b.m.active, 20 * MIB);
    assert_int_equal(b.m.allocated, 16 * MIB);
    drop(&b, a);
    sound(&b);
    get(&b, 5 * MIB); /* 4 are free, 4 wait */
    asked(&b, "A20@-40");
    drop(&b, c);
    assert_int_equal(address(&b, get(&b, 8 * MIB)), LOW - 20 * MIB);
    drop(&b, d);
    end(&b);
}

static void a_release_completes_what_waits(void **state) /* 7.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    b.m.capacity = 30 * MIB;
    uint32_t a = get_whole(&b, 30);
    machine_wait(&b.m, a);
    get_whole(&b, 24);
    asked(&b, "A30@-30 F30@-30 A24@-54");
    assert_int_equal(b.m.waiting.len, 0);
    assert_int_equal(b.m.retries, 1);
    end(&b);
}

static void capacity_is_never_passed(void **state) /* 4, 11.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    b.m.capacity = 40 * MIB;
    uint32_t a = get_whole(&b, 20), c = get_whole(&b, 20);
    asked(&b, "A20@-20 A20@-40");
    assert_int_equal(machine_request(&b.m, 0, 1), 0);
    asked(&b, "");
    assert_int_equal(b.m.retries, 1);
    drop(&b, a);
    get(&b, 1);
    asked(&b, "F20@-20 A2@-42");
    assert_int_equal(b.m.new_memory, 3);
    drop(&b, c);
    end(&b);
}

static void a_limit_counts_whole_segments(void **state) /* 4.2 */
{
    struct bench b;
    (void)state;
    begin(&b, "expandable_segments:True");
    b.m.limit = 30 * MIB;
    get(&b, 11 * MIB);
    asked(&b, "M20@0");
    get(&b, 9 * MIB);
    asked(&b, "");
    /* 2 MiB of pages would do, but a large segment is what is compared. */
    assert_int_equal(machine_request(&b.m, 0, 2 * MIB), 0);
    get(&b, 1);
    asked(&b, "M2@1.67772e+07");
    end(&b);
}

/* Large blocks of 20 MiB, entered by the searches of their own requests. */
static void collecting_takes_the_old_ones_first(void **state) /* 7.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "garbage_collection_threshold:0.5");
    b.m.limit = 200 * MIB;
    uint32_t a = get_whole(&b, 24), c = get_whole(&b, 30);
    drop(&b, a);
    get_whole(&b, 40); /* 54 reserved of 100 that are kept: nothing is collected */
    drop(&b, c);
    get_whole(&b, 50);
    asked(&b, "A24@-24 A30@-54 A40@-94 A50@-144");
    /* 144 reserved, 44 too many.  Ages 3 and 2: only 24 is older than the mean; that is too little,
     * and in the next pass 30 is the mean. */
    get_whole(&b, 56);
    asked(&b, "F24@-24 F30@-54 A56@-200");
    assert_int_equal(b.m.retries, 0);
    end(&b);
}

/* A pass does not stop at the target; a mean is not rounded. */
static void collecting_goes_by_the_exact_mean(void **state) /* 7.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "garbage_collection_threshold:0.5");
    b.m.limit = 200 * MIB;
    uint32_t a = get_whole(&b, 30), c = get_whole(&b, 40), d = get_whole(&b, 40);
    drop(&b, a);
    get(&b, 41 * MIB);
    b.m.config.gc_threshold = 0.5;
    asked(&b, "A30@-30 A40@-70 A40@-110 F30@-30 A42@-152");
    drop(&b, c);
    b.m.config.gc_threshold = 0;
    get_whole(&b, 50); /* a search more */
    b.m.config.gc_threshold = 0.8;
    asked(&b, "A50@-202");
    drop(&b, d);
    /* 172 reserved, 160 kept.  Ages 2 and 1, mean 1.5: only the older goes, and is enough. */
    get(&b, 60 * MIB);
    asked(&b, "F40@-70 A60@-262");
    end(&b);
}

static void ages_are_those_of_all_streams(void **state) /* 7.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "garbage_collection_threshold:0.5");
    b.m.limit = 200 * MIB;
    uint32_t other = machine_lane(&b.m, 0, 5);
    uint32_t a = machine_request(&b.m, other, 30 * MIB), c = get_whole(&b, 30);
    drop(&b, a);
    get_whole(&b, 32); /* searches of stream 0 make what stream 5 freed older */
    asked(&b, "A30@-30 A30@-60 A32@-92");
    drop(&b, c);
    get(&b, 31 * MIB); /* 92 of 100 */
    asked(&b, "A32@-124");
    /* 124: 24 too many.  Ages 3 and 2. */
    get(&b, 40 * MIB);
    asked(&b, "F30@-30 A40@-164");
    end(&b);
}

static void pages_are_mapped_whole(void **state) /* 8.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "expandable_segments:True");
    uint32_t a = get(&b, 21 * MIB);
    asked(&b, "M40@0");
    assert_int_equal(size(&b, a), 21 * MIB);
    get(&b, 18 * MIB);
    asked(&b, "");
    get(&b, 3 * MIB); /* 1 MiB is there, 2 more take a page */
    asked(&b, "M20@40");
    get(&b, 512);
    asked(&b, "M2@1.67772e+07"); /* small pages in a reservation of their own */
    end(&b);
}

static void growth_fills_holes_from_the_lowest(void **state) /* 8.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "expandable_segments:True");
    uint32_t at[5];
    for (uint32_t i = 0; i < 5; i++)
        at[i] = get(&b, 20 * MIB);
    asked(&b, "M20@0 M20@20 M20@40 M20@60 M20@80");
    drop(&b, at[1]);
    drop(&b, at[3]);
    machine_release_all(&b.m);
    asked(&b, "U20@20 U20@60");
    drop(&b, at[2]); /* free between two holes */
    get(&b, 45 * MIB);
    asked(&b, "M20@20 M20@60");
    assert_int_equal(b.m.new_memory, 6);
    get(&b, 30 * MIB); /* 15 MiB are left there: too small a hole */
    asked(&b, "M40@100");
    end(&b);
}

static void maps_of_a_failed_attempt_stay(void **state) /* 8.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "expandable_segments:True");
    uint32_t lane = machine_lane(&b.m, 1, 0); /* a private pool: a retry does not undo it */
    uint32_t at[5];
    for (uint32_t i = 0; i < 5; i++)
        at[i] = machine_request(&b.m, lane, 20 * MIB);
    asked(&b, "M20@0 M20@20 M20@40 M20@60 M20@80");
    /* Two holes around a free block. */
    for (uint32_t i = 1; i < 4; i++)
        drop(&b, at[i]);
    struct release holes[] = { { at[1], true, RESERVATIONS + 20 * MIB, 20 * MIB },
                               { at[3], true, RESERVATIONS + 60 * MIB, 20 * MIB } };
    uint32_t middle = machine_best_fit(&b.m, lane * 2, 60 * MIB);
    assert_true(middle != 0);
    holes[0].block = middle;
    machine_return(&b.m, &holes[0]);
    holes[1].block = machine_best_fit(&b.m, lane * 2, 40 * MIB);
    machine_return(&b.m, &holes[1]);
    asked(&b, "U20@20 U20@60");
    b.m.capacity = 80 * MIB; /* one page more */
    assert_int_equal(machine_request(&b.m, lane, 60 * MIB), 0);
    asked(&b, "M20@20");
    assert_int_equal(b.m.reserved, 80 * MIB);
    assert_int_equal(b.m.new_memory, 5);
    assert_true(machine_request(&b.m, lane, 40 * MIB) != 0); /* it is of use */
    asked(&b, "");
    end(&b);
}

static void unmapping_leaves_both_ends(void **state) /* 8.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "expandable_segments:True");
    uint32_t a = get(&b, 15 * MIB), c = get(&b, 50 * MIB), d = get(&b, 10 * MIB);
    asked(&b, "M20@0 M60@20");
    drop(&b, c); /* [15, 65): pages [20, 60) */
    machine_release_all(&b.m);
    asked(&b, "U40@20");
    /* The upper one has no hole behind it. */
    assert_int_equal(address(&b, get(&b, 5 * MIB)), RESERVATIONS + 60 * MIB);
    assert_int_equal(address(&b, get(&b, 5 * MIB)), RESERVATIONS + 15 * MIB);
    asked(&b, "");
    drop(&b, a);
    drop(&b, d);
    machine_release_all(&b.m); /* [0, 15) has no whole page, [75, 80) neither */
    asked(&b, "");
    end(&b);
}

static void an_empty_reservation_is_dropped(void **state) /* 8.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "expandable_segments:True");
    drop(&b, get(&b, 20 * MIB));
    machine_release_all(&b.m);
    asked(&b, "M20@0 U20@0");
    get(&b, 20 * MIB);
    asked(&b, "M20@1.67772e+07");
    end(&b);
}

static void enclosed_blocks_are_taken_before_growable_ones(void **state) /* 4.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "expandable_segments:True");
    get(&b, 5 * MIB);
    uint32_t c = get(&b, 8 * MIB), d = get(&b, 27 * MIB - 6 * MIB);
    asked(&b, "M20@0 M20@20");
    uint64_t enclosed = address(&b, c);
    drop(&b, c); /* [5, 13); [34, 40) is smaller, and has the endless tail behind it */
    assert_int_equal(address(&b, get(&b, 2 * MIB)), enclosed);
    drop(&b, d);
    end(&b);
}

static void without_the_setting_expandable_blocks_are_passed(void **state) /* 4.1 */
{
    struct bench b;
    (void)state;
    begin(&b, "expandable_segments:True");
    drop(&b, get(&b, 30 * MIB));
    b.m.config.expandable = false;
    uint32_t fixed = get(&b, 40 * MIB);
    asked(&b, "M40@0 A40@-40");
    drop(&b, fixed);
    get(&b, 12 * MIB);
    asked(&b, "");
    assert_int_equal(machine_best_fit(&b.m, 0, 30 * MIB), 0);
    end(&b);
}

static void peaks_have_events(void **state) /* 11.3 */
{
    struct bench b;
    (void)state;
    begin(&b, "");
    b.m.event = 3;
    uint32_t a = get(&b, 11 * MIB);
    b.m.event = 4;
    drop(&b, a);
    b.m.event = 5;
    get(&b, 12 * MIB);
    b.m.event = 6;
    assert_int_equal(b.m.peak_reserved.event, 3);
    assert_int_equal(b.m.peak_active.event, 3);
    assert_int_equal(b.m.peak_requested.event, 5);
    assert_int_equal(b.m.peak_requested.bytes, 12 * MIB);
    end(&b);
}

static void more_than_any_memory_is_refused(void **state)
{
    static const uint64_t sizes[] = { UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63,
                                      ((uint64_t)1 << 62) + 1 };
    struct bench b;
    (void)state;
    for (uint32_t expandable = 0; expandable < 2; expandable++)
        for (uint32_t i = 0; i < COUNT(sizes); i++) {
            begin(&b, expandable ? "expandable_segments:True" : "");
            assert_int_equal(machine_request(&b.m, 0, sizes[i]), 0);
            get(&b, 1);
            end(&b);
        }
}

static void lanes_have_an_end(void **state)
{
    struct bench b;
    (void)state;
    begin(&b, "");
    for (uint32_t i = 1; i < LANES_MAX; i++)
        assert_int_equal(machine_lane(&b.m, 0, i), i);
    assert_int_equal(machine_lane(&b.m, 0, LANES_MAX), UINT32_MAX);
    assert_int_equal(machine_lane(&b.m, 0, 77), 77);
    end(&b);
}

/* Everything a machine does, in little memory. */
static bool exercise(struct machine *m)
{
    uint32_t held[24] = { 0 }, lane = machine_lane(m, 0, 0), other = machine_lane(m, 0, 1);
    if (lane == UINT32_MAX || other == UINT32_MAX)
        return false;
    m->capacity = 400 * MIB;
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t k = i * 7 % COUNT(held);
        m->config.expandable = i > 100;
        if (held[k] != 0 && i % 5 == 0)
            machine_wait(m, held[k]);
        else if (held[k] != 0)
            machine_complete(m, held[k]);
        held[k] = i % 5 == 0 ? 0 : machine_request(m, i % 3 == 0 ? lane : other, i * i * 512);
        if (i % 50 == 49)
            machine_release_all(m);
        if (m->no_memory)
            return false;
    }
    return true;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct allocator_config c = config_default();
    for (long n = 0;; n++) {
        struct machine m;
        fault_left = n;
        bool good = machine_init(&m, &c) && exercise(&m);
        bool fired = fault_left < 0;
        fault_left = -1;
        if (good)
            assert_null(machine_fault(&m));
        machine_free(&m);
        assert_true(good != fired);
        if (!fired)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_have_the_sizes_of_3),
        cmocka_unit_test(best_fit_takes_the_smallest_then_the_lowest),
        cmocka_unit_test(small_and_large_never_mix),
        cmocka_unit_test(streams_and_pools_never_mix),
        cmocka_unit_test(the_rest_is_split_off_by_4_3),
        cmocka_unit_test(the_setting_splits_old_segments_too),
        cmocka_unit_test(what_is_not_split_off_is_owned),
        cmocka_unit_test(the_remainder_is_at_the_high_end),
        cmocka_unit_test(too_large_to_split_serves_no_small_request),
        cmocka_unit_test(a_block_never_split_is_not_much_larger),
        cmocka_unit_test(oversize_gives_the_first_that_is_enough),
        cmocka_unit_test(oversize_gives_the_largest_downwards),
        cmocka_unit_test(oversize_that_is_not_enough_is_followed_by_all),
        cmocka_unit_test(a_full_release_has_an_order),
        cmocka_unit_test(a_full_release_leaves_split_segments),
        cmocka_unit_test(private_pools_are_not_released),
        cmocka_unit_test(what_waits_is_neither_merged_nor_reused),
        cmocka_unit_test(a_release_completes_what_waits),
        cmocka_unit_test(capacity_is_never_passed),
        cmocka_unit_test(a_limit_counts_whole_segments),
        cmocka_unit_test(collecting_takes_the_old_ones_first),
        cmocka_unit_test(collecting_goes_by_the_exact_mean),
        cmocka_unit_test(ages_are_those_of_all_streams),
        cmocka_unit_test(pages_are_mapped_whole),
        cmocka_unit_test(growth_fills_holes_from_the_lowest),
        cmocka_unit_test(maps_of_a_failed_attempt_stay),
        cmocka_unit_test(unmapping_leaves_both_ends),
        cmocka_unit_test(an_empty_reservation_is_dropped),
        cmocka_unit_test(enclosed_blocks_are_taken_before_growable_ones),
        cmocka_unit_test(without_the_setting_expandable_blocks_are_passed),
        cmocka_unit_test(peaks_have_events),
        cmocka_unit_test(more_than_any_memory_is_refused),
        cmocka_unit_test(lanes_have_an_end),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
