/* test_column.c - columns packed, placed and read again; what samples say of them. */
#define ZLIB_CONST
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/fail.h"
#include "made/fault.h"
#include "render/page/column.h"

static uint64_t number(const void *from, uint32_t row)
{
    return ((const uint64_t *)from)[row];
}

/* Of columns that are queued one after the other; they are placed together. */
static struct page_table table[32];
static uint32_t tables;

static struct page_packed packed(struct page_chunks *chunks, const struct page_column *column,
                                 const uint64_t *values, uint32_t rows)
{
    struct page_table *t = &table[tables++];
    *t = (struct page_table){ .rows = rows };
    assert_true(page_queue(chunks, t, column, values));
    assert_int_equal(page_pack(chunks, PAGE_ALL, 1, NULL), VRS_OK);
    assert_int_equal(page_place(chunks, NULL), VRS_OK);
    assert_int_equal(t->column[0].rows, rows);
    return t->column[0];
}

static void columns_leave_out_what_says_nothing(void **state)
{
    (void)state;
    static const struct page_column plain = { "a",  PAGE_U64, PAGE_AS_IT_IS,
                                              NULL, number,   PAGE_NEEDED };
    static const struct page_column delta = {
        "b", PAGE_U32, PAGE_DELTA, NULL, number, PAGE_NEEDED
    };
    static const struct page_column zigzag = {
        "c", PAGE_U32, PAGE_ZIGZAG, NULL, number, PAGE_NEEDED
    };
    struct page_chunks blocks;
    page_chunks_init(&blocks);
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
    static const struct page_column column = { "a",  PAGE_U32, PAGE_AS_IT_IS,
                                               NULL, number,   PAGE_NEEDED };
    static uint64_t again[ROWS], rising[ROWS];
    struct page_chunks blocks;
    uint32_t noise = 1;
    page_chunks_init(&blocks);
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
    static const struct page_column column = { "a",  PAGE_U64, PAGE_AS_IT_IS,
                                               NULL, number,   PAGE_NEEDED };
    struct page_chunks blocks;
    page_chunks_init(&blocks);
    const uint64_t values[] = { 1, PAGE_NUMBER_MOST, PAGE_NUMBER_MOST + 1, UINT64_MAX };
    struct page_packed p = packed(&blocks, &column, values, 4);
    assert_int_equal(p.max, PAGE_NUMBER_MOST);
    assert_int_equal(p.clipped, 2);
    page_chunks_free(&blocks);
}

/* Unpacking, as docs/view-format.md has it. */

enum { BITS_OF_BYTE = 8 };

static void inflate_all(const char *from, size_t len, uint8_t *to, size_t room)
{
    z_stream z = {
        .next_in = (const Bytef *)from,
        .avail_in = (uInt)len,
        .next_out = to,
        .avail_out = (uInt)room,
    };
    assert_int_equal(inflateInit(&z), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.avail_out, 0);
    inflateEnd(&z);
}

static uint64_t unchanged(const struct page_packed *p, uint64_t put, uint64_t before)
{
    uint32_t bits = BITS_OF_BYTE << p->column->type;
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (p->column->change == PAGE_AS_IT_IS)
        return put;
    if (p->column->change == PAGE_ZIGZAG)
        put = (put >> 1) ^ (0 - (put & 1));
    return (before + put) & mask;
}

/* The numbers of a column that is placed, in `arena`. */
static const uint64_t *unpacked(const struct page_chunks *chunks, const struct page_packed *p,
                                struct arena *arena)
{
    uint64_t *numbers = arena_array(arena, uint64_t, p->rows), before = 0;
    size_t room = (size_t)p->rows * p->planes;
    char *bytes = arena_array(arena, char, (size_t)p->len + 1);
    uint8_t *planes = arena_array(arena, uint8_t, room + 1);
    assert_true(numbers != NULL && bytes != NULL && planes != NULL);
    assert_false(p->left_out);
    for (uint32_t i = 0; p->constant && i < p->rows; i++)
        numbers[i] = p->max;
    if (p->constant || p->rows == 0)
        return numbers;
    assert_int_equal(page_block_read(chunks, p->block, p->at, bytes, (size_t)p->len), p->len);
    inflate_all(bytes, (size_t)p->len, planes, room);
    for (uint32_t i = 0; i < p->rows; i++) {
        uint64_t put = 0;
        for (uint32_t k = 0; k < p->planes; k++) {
            size_t place = p->shuffled ? (size_t)k * p->rows + i : (size_t)i * p->planes + k;
            put |= (uint64_t)planes[place] << (BITS_OF_BYTE * k);
        }
        numbers[i] = before = unchanged(p, put, before);
    }
    return numbers;
}

static void check_numbers(const struct page_chunks *chunks, const struct page_packed *p,
                          const uint64_t *values, uint32_t rows)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    assert_int_equal(p->rows, rows);
    const uint64_t *back = unpacked(chunks, p, &arena);
    for (uint32_t i = 0; i < rows; i++)
        assert_int_equal(back[i], values[i]);
    arena_free(&arena);
}

enum { ROWS = 1000, KINDS = 5 };
static const struct page_column kinds[KINDS] = {
    { "a", PAGE_U64, PAGE_AS_IT_IS, NULL, number, PAGE_NEEDED },
    { "b", PAGE_U32, PAGE_DELTA, NULL, number, PAGE_NEEDED },
    { "c", PAGE_U32, PAGE_ZIGZAG, NULL, number, PAGE_NEEDED },
    { "d", PAGE_U64, PAGE_ZIGZAG, NULL, number, PAGE_NEEDED },
    { "e", PAGE_U8, PAGE_AS_IT_IS, NULL, number, PAGE_NEEDED },
};

/* Within all types, of all widths. */
static void fill(uint64_t values[KINDS][ROWS])
{
    static const uint64_t most[] = { 255, 65535, UINT32_MAX, PAGE_NUMBER_MOST };
    for (uint32_t c = 0; c < KINDS; c++)
        for (uint32_t i = 0; i < ROWS; i++)
            values[c][i] = (i * UINT64_C(0x9e3779b97f4a7c15) >> (i % 40)) & most[kinds[c].type];
}

static void pack(struct page_chunks *chunks, enum page_share share)
{
    assert_int_equal(page_pack(chunks, share, 3, NULL), VRS_OK);
    assert_int_equal(page_place(chunks, NULL), VRS_OK);
}

/* Rows taken out of a column leave the others as they were, whatever it is packed like; what is
 * fixed is packed once. */
static void packed_columns_are_numbers_again(void **state)
{
    (void)state;
    static uint64_t values[KINDS][ROWS], moved[KINDS][ROWS];
    struct page_chunks chunks;
    struct page_table fixed = { .rows = ROWS }, windowed = { .rows = ROWS };
    page_chunks_init(&chunks);
    fill(values);
    for (uint32_t c = 0; c < KINDS; c++) {
        memcpy(moved[c], values[c], sizeof moved[c]);
        chunks.share = PAGE_FIXED;
        assert_true(page_queue(&chunks, &fixed, &kinds[c], values[c]));
        chunks.share = PAGE_WINDOWED;
        assert_true(page_queue(&chunks, &windowed, &kinds[c], moved[c]));
    }
    pack(&chunks, PAGE_FIXED);
    for (uint32_t c = 0; c < KINDS; c++) {
        check_numbers(&chunks, &fixed.column[c], values[c], ROWS);
        assert_int_equal(windowed.column[c].len, 0);
    }
    static const struct {
        uint32_t first, rows;
    } parts[] = { { 0, ROWS }, { 10, 50 }, { 7, 1 }, { 3, 0 }, { 0, ROWS } };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        for (uint32_t c = 0; c < KINDS; c++)
            memcpy(moved[c], values[c] + parts[k].first, parts[k].rows * sizeof *moved[c]);
        windowed.rows = parts[k].rows;
        pack(&chunks, PAGE_WINDOWED);
        for (uint32_t c = 0; c < KINDS; c++) {
            const struct page_packed *p = &windowed.column[c];
            assert_ptr_equal(p->column, &kinds[c]);
            check_numbers(&chunks, p, values[c] + parts[k].first, parts[k].rows);
            check_numbers(&chunks, &fixed.column[c], values[c], ROWS);
            assert_int_equal(p->constant, parts[k].rows == 1);
            assert_int_equal(p->len == 0, parts[k].rows < 2);
        }
    }
    memset(values, 0, sizeof values);
    pack(&chunks, PAGE_ALL);
    for (uint32_t c = 0; c < KINDS; c++)
        check_numbers(&chunks, &fixed.column[c], moved[c], ROWS);
    page_chunks_free(&chunks);
}

/* Bytes as they are, which nothing makes shorter. */
static void make_noise(uint8_t *to, uint32_t len)
{
    uint64_t noise = 1;
    for (uint32_t i = 0; i < len; i++) {
        noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407;
        to[i] = (uint8_t)(noise >> 56);
    }
}

/* Columns behind it come nearer, but stand in the block that they would stand in. */
static void what_is_left_out_has_no_bytes(void **state)
{
    (void)state;
    enum { NOISE = 25 << 20 };
    static const struct page_column text = {
        "text", PAGE_U8, PAGE_AS_IT_IS, NULL, NULL, PAGE_NEEDED
    };
    static uint8_t noise[NOISE];
    static uint64_t values[KINDS][ROWS], same[ROWS];
    struct page_chunks chunks;
    struct page_table t = { .rows = ROWS };
    page_chunks_init(&chunks);
    make_noise(noise, NOISE);
    fill(values);
    assert_true(page_queue(&chunks, &t, &kinds[0], values[0]));
    chunks.where = PAGE_NEW_BLOCK;
    assert_true(page_queue(&chunks, &t, &kinds[0], values[0]));
    assert_true(page_queue_bytes(&chunks, &t, &text, noise, NOISE));
    assert_true(page_queue(&chunks, &t, &kinds[1], values[1]));
    assert_true(page_queue(&chunks, &t, &kinds[0], same));
    assert_true(page_queue(&chunks, &t, &kinds[2], values[2]));
    page_leave_out(&chunks.work.at[3]);
    page_leave_out(&chunks.work.at[4]);
    pack(&chunks, PAGE_ALL);
    assert_true(t.column[3].left_out && t.column[3].len == 0);
    assert_true(t.column[4].constant && !t.column[4].left_out); /* had none anyhow */
    assert_true(t.column[1].block == 1 && t.column[2].block == 1 && t.column[5].block == 2);
    assert_int_equal(chunks.block.len, 3);
    assert_true(t.column[2].at == t.column[1].len && t.column[2].len > NOISE);
    page_leave_out(&chunks.work.at[1]);
    assert_int_equal(page_place(&chunks, NULL), VRS_OK);
    assert_true(t.column[1].left_out && t.column[1].len == 0 && t.column[2].at == 0);
    page_leave_out(&chunks.work.at[2]);
    assert_int_equal(page_place(&chunks, NULL), VRS_OK);
    assert_int_equal(chunks.block.at[1].len, 0);
    assert_int_equal(t.column[5].block, 2);
    check_numbers(&chunks, &t.column[0], values[0], ROWS);
    check_numbers(&chunks, &t.column[5], values[2], ROWS);
    page_chunks_free(&chunks);
}

static void a_block_is_read_in_parts(void **state)
{
    (void)state;
    static uint64_t values[KINDS][ROWS];
    static char whole[1 << 16], part[1 << 16];
    struct page_chunks chunks;
    struct page_table t = { .rows = ROWS };
    page_chunks_init(&chunks);
    fill(values);
    for (uint32_t c = 0; c < KINDS; c++)
        assert_true(page_queue(&chunks, &t, &kinds[c], values[c]));
    pack(&chunks, PAGE_ALL);
    uint64_t len = chunks.block.at[0].len;
    assert_true(len < sizeof whole);
    assert_int_equal(page_block_read(&chunks, 0, 0, whole, sizeof whole), len);
    for (uint32_t c = 0; c < KINDS; c++)
        assert_int_equal(t.column[c].at + t.column[c].len,
                         c + 1 < KINDS ? t.column[c + 1].at : len);
    static const size_t steps[] = { 1, 7, 1000, 5000 };
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        for (uint64_t at = 0; at < len; at += steps[s]) {
            size_t left = (size_t)(len - at), most = left < steps[s] ? left : steps[s];
            assert_int_equal(page_block_read(&chunks, 0, at, part + at, steps[s]), most);
        }
        assert_memory_equal(part, whole, (size_t)len);
        memset(part, 0, sizeof part);
    }
    assert_int_equal(page_block_read(&chunks, 0, len, part, 1), 0);
    page_chunks_free(&chunks);
}

/* Samples. */

enum { MANY = 600000 };

struct sampled {
    uint64_t sample, packed;
};

static struct sampled check_sample(enum page_change change, const uint64_t *values, uint32_t rows,
                                   uint32_t before, uint32_t behind)
{
    const struct page_column column = { "a", PAGE_U32, change, NULL, number, PAGE_NEEDED };
    struct page_table t = { .rows = rows, .idle_before = before, .idle_behind = behind };
    struct page_chunks chunks;
    struct sampled found = { 0, 0 };
    page_chunks_init(&chunks);
    assert_true(page_queue(&chunks, &t, &column, values));
    assert_int_equal(page_sample(&chunks.work.at[0], &found.sample, NULL), VRS_OK);
    pack(&chunks, PAGE_ALL);
    found.packed = t.column[0].len;
    page_chunks_free(&chunks);
    return found;
}

/* By how much a sample errs is the compressor's doing: by no more than 3 % with zlib 1.2.13 from
 * level 4 on, by up to 4 % below. */
static void check_near(struct sampled s, uint64_t percent)
{
    assert_in_range(s.sample * 100, s.packed * (100 - percent), s.packed * (100 + percent));
}

/* Noise; what comes again after many rows; what grows; and all of it only here and there. */
static void a_sample_says_what_is_packed(void **state)
{
    (void)state;
    static uint64_t noise[MANY], again[MANY], rising[MANY], some[MANY], few[MANY];
    uint64_t now = 1;
    for (uint32_t i = 0; i < MANY; i++) {
        now = now * UINT64_C(6364136223846793005) + 1442695040888963407;
        noise[i] = now >> 40;
        again[i] = i < 20000 ? noise[i] : again[i - 20000];
        rising[i] = (i == 0 ? 0 : rising[i - 1]) + (noise[i] & 7);
        some[i] = i >= 100000 && i < 500000 ? noise[i] : 0;
        for (few[i] = some[i] != 0; few[i] != 0 && (some[i] >> few[i] & 1) == 0 && few[i] < 20;)
            few[i]++;
    }
    for (uint32_t rows = 0; rows <= 200000; rows += 100000) {
        struct sampled s = check_sample(PAGE_AS_IT_IS, noise, rows, 0, 0);
        assert_int_equal(s.sample, s.packed);
    }
    check_near(check_sample(PAGE_AS_IT_IS, noise, MANY, 0, 0), 3);
    check_near(check_sample(PAGE_DELTA, rising, MANY, 0, 0), 3);
    check_near(check_sample(PAGE_AS_IT_IS, some, MANY, 100000, 100000), 3);
    check_near(check_sample(PAGE_AS_IT_IS, some, 350000, 100000, 0), 3);
    /* By the frequency of bytes alone what is idle would be 25,000 bytes. */
    check_near(check_sample(PAGE_AS_IT_IS, few, MANY, 100000, 100000), 3);
    /* Once it is noise, then it is found again. */
    check_near(check_sample(PAGE_AS_IT_IS, again, MANY, 0, 0), 3);
    struct sampled zeros = check_sample(PAGE_AS_IT_IS, some, 100000, 0, 0);
    assert_true(zeros.sample == 0 && zeros.packed == 0);
}

struct faulty {
    const uint64_t *values;
    uint32_t rows;
};

static enum vrs_status sample_once(void *arg)
{
    const struct faulty *f = arg;
    struct page_table t = { .rows = f->rows };
    struct page_chunks chunks;
    enum { BEFORE = 7 };
    uint64_t bytes = BEFORE;
    page_chunks_init(&chunks);
    enum vrs_status status = VRS_NOMEM;
    if (page_queue(&chunks, &t, &kinds[0], f->values))
        status = page_sample(&chunks.work.at[0], &bytes, NULL);
    assert_int_equal(bytes == BEFORE, status != VRS_OK);
    page_chunks_free(&chunks);
    return status;
}

static void every_allocation_of_a_sample_may_fail(void **state)
{
    (void)state;
    static uint64_t values[330000];
    for (uint32_t i = 0; i < 330000; i++)
        values[i] = i * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    fault_each(sample_once, NULL, &(struct faulty){ values, 330000 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_leave_out_what_says_nothing),
        cmocka_unit_test(a_sample_says_how_numbers_are_laid_out),
        cmocka_unit_test(large_numbers_are_clipped_and_counted),
        cmocka_unit_test(packed_columns_are_numbers_again),
        cmocka_unit_test(what_is_left_out_has_no_bytes),
        cmocka_unit_test(a_block_is_read_in_parts),
        cmocka_unit_test(a_sample_says_what_is_packed),
        cmocka_unit_test(every_allocation_of_a_sample_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
