/* deflate.c - a sample of the column decides how each part of it is compressed.
 *
 * Planes of noise are coded by the frequency of their bytes alone: searching them for repeats costs
 * five times as much and makes them longer.  Sizes and addresses that come again as a whole are
 * found as a whole, where they are not torn into planes. */
#define ZLIB_CONST
#include "render/page/deflate.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

#include "base/arena.h"
#include "base/vec.h"

enum {
    /* Of 1 to 9 the last that is worth its time: of the sizes in the bench recording 1 leaves 3 %
     * more, 6 leaves 5 % less in four times the time (docs/measurements.md). */
    LEVEL = 4,
    /* A sample is what zlib sees at once of a plane; of few rows a quarter, because it is packed
     * four times over. */
    SAMPLE_MOST = 32768,
    SAMPLE_LEAST = 2048,
    SAMPLE_PARTS = 4,
    PART_MOST = 1 << 30, /* of what zlib counts in 32 bits */
    PLANES_MOST = 8
};

struct stream {
    z_stream z;
    struct buf *to; /* NULL: only counted */
    size_t len;
};

static bool begin(struct stream *s, struct buf *to, int strategy)
{
    enum { WINDOW_BITS = 15, MEMORY = 8 }; /* zlib's own */
    *s = (struct stream){ .z = { .zalloc = vec_lend, .zfree = vec_give_back }, .to = to };
    return deflateInit2(&s->z, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY, strategy) == Z_OK;
}

static void drain(struct stream *s, int flush)
{
    char packed[16384];
    do {
        s->z.next_out = (Bytef *)packed;
        s->z.avail_out = sizeof packed;
        deflate(&s->z, flush);
        size_t len = sizeof packed - s->z.avail_out;
        s->len += len;
        if (s->to != NULL)
            buf_bytes(s->to, packed, len);
    } while (s->z.avail_out == 0);
}

static void put(struct stream *s, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        s->z.next_in = bytes;
        s->z.avail_in = len < PART_MOST ? (uInt)len : PART_MOST;
        bytes += s->z.avail_in;
        len -= s->z.avail_in;
        drain(s, Z_NO_FLUSH);
    }
}

/* What follows is searched another way; what came before is written out first. */
static void change(struct stream *s, int strategy)
{
    uint8_t room[64];
    drain(s, Z_BLOCK);
    s->z.next_out = room;
    s->z.avail_out = sizeof room;
    deflateParams(&s->z, LEVEL, strategy);
    size_t len = sizeof room - s->z.avail_out;
    s->len += len;
    if (s->to != NULL)
        buf_bytes(s->to, room, len);
}

static void end(struct stream *s)
{
    drain(s, Z_FINISH);
    deflateEnd(&s->z);
}

/* How long these bytes become; 0: no memory. */
static size_t length_of(const uint8_t *bytes, size_t len, int strategy)
{
    struct stream s;
    if (!begin(&s, NULL, strategy))
        return 0;
    put(&s, bytes, len);
    end(&s);
    return s.len;
}

/* The numbers of `rows` rows from `first` on, each with its bytes together. */
static void weave(const struct page_planes *planes, uint32_t first, uint32_t rows, uint8_t *to)
{
    for (uint32_t p = 0; p < planes->count; p++) {
        const uint8_t *from = planes->at + (size_t)p * planes->rows + first;
        for (uint32_t i = 0; i < rows; i++)
            to[(size_t)i * planes->count + p] = from[i];
    }
}

struct choice {
    int strategy[PLANES_MOST]; /* of each plane */
    bool shuffled;
};

/* A sample does not tell what the frequency of bytes alone costs where a plane is idle. */
static bool choose_plane(const uint8_t *sample, uint32_t rows, bool idle, int *strategy,
                         size_t *len)
{
    static const int quick[] = { Z_HUFFMAN_ONLY, Z_RLE };
    *strategy = Z_DEFAULT_STRATEGY;
    *len = length_of(sample, rows, *strategy);
    if (*len == 0)
        return false;
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
        if (idle && quick[i] == Z_HUFFMAN_ONLY)
            continue;
        size_t other = length_of(sample, rows, quick[i]);
        if (other == 0)
            return false;
        if (other <= *len) {
            *len = other;
            *strategy = quick[i];
        }
    }
    return true;
}

static uint32_t sample_rows(uint32_t rows)
{
    if (rows <= SAMPLE_LEAST)
        return rows;
    uint32_t part = rows / SAMPLE_PARTS;
    if (part > SAMPLE_MOST)
        return SAMPLE_MOST;
    return part > SAMPLE_LEAST ? part : SAMPLE_LEAST;
}

static bool choose(const struct page_planes *planes, uint32_t rows, struct arena *arena,
                   struct choice *ret)
{
    uint32_t first = planes->busy_from + (planes->busy - rows) / 2;
    size_t whole = 0;
    for (uint32_t p = 0; p < planes->count; p++) {
        size_t len;
        const uint8_t *sample = planes->at + (size_t)p * planes->rows + first;
        if (!choose_plane(sample, rows, planes->idle, &ret->strategy[p], &len))
            return false;
        whole += len;
    }
    ret->shuffled = true;
    if (planes->count == 1)
        return true;
    uint8_t *woven = arena_array(arena, uint8_t, (size_t)rows * planes->count);
    if (woven == NULL)
        return false;
    weave(planes, first, rows, woven);
    size_t together = length_of(woven, (size_t)rows * planes->count, Z_DEFAULT_STRATEGY);
    ret->shuffled = together >= whole;
    return together != 0;
}

static bool put_planes(const struct page_planes *planes, const struct choice *choice,
                       struct buf *to)
{
    struct stream s;
    if (!begin(&s, to, choice->strategy[0]))
        return false;
    for (uint32_t p = 0; p < planes->count; p++) {
        if (p > 0 && choice->strategy[p] != choice->strategy[p - 1])
            change(&s, choice->strategy[p]);
        put(&s, planes->at + (size_t)p * planes->rows, planes->rows);
    }
    end(&s);
    return true;
}

static bool put_numbers(const struct page_planes *planes, struct buf *to)
{
    enum { ROWS = 4096 };
    uint8_t woven[ROWS * PLANES_MOST];
    struct stream s;
    if (!begin(&s, to, Z_DEFAULT_STRATEGY))
        return false;
    for (uint32_t at = 0; at < planes->rows; at += ROWS) {
        uint32_t rows = planes->rows - at < ROWS ? planes->rows - at : ROWS;
        weave(planes, at, rows, woven);
        put(&s, woven, (size_t)rows * planes->count);
        if (planes->rows - at <= ROWS)
            break;
    }
    end(&s);
    return true;
}

enum vrs_status page_deflate(const struct page_planes *planes, struct buf *to, bool *ret,
                             struct vrs_error *err)
{
    struct choice choice = { 0 };
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    bool ok = choose(planes, sample_rows(planes->busy), &arena, &choice);
    arena_free(&arena);
    if (ok)
        ok = choice.shuffled ? put_planes(planes, &choice, to) : put_numbers(planes, to);
    if (!ok || to->failed)
        return vrs_no_memory(err);
    *ret = choice.shuffled;
    return VRS_OK;
}

/* Of runs: the streams of the first half of the first, and what the second halves of all add. */
struct counts {
    uint64_t begun, added;
    bool is_first;
};

static bool count_halves(const uint8_t *bytes, size_t len, int strategy, struct counts *counts)
{
    struct stream s;
    if (!begin(&s, NULL, strategy))
        return false;
    put(&s, bytes, len / 2);
    drain(&s, Z_SYNC_FLUSH);
    size_t half = s.len;
    put(&s, bytes + len / 2, len - len / 2);
    drain(&s, Z_SYNC_FLUSH);
    deflateEnd(&s.z);
    counts->begun += counts->is_first ? half : 0;
    counts->added += s.len - half;
    return true;
}

static bool count_run(const struct page_planes *run, const struct choice *choice,
                      struct arena *arena, struct counts *counts)
{
    for (uint32_t p = 0; choice->shuffled && p < run->count; p++)
        if (!count_halves(run->at + (size_t)p * run->rows, run->rows, choice->strategy[p], counts))
            return false;
    if (choice->shuffled)
        return true;
    uint8_t *woven = arena_array(arena, uint8_t, (size_t)run->rows * run->count);
    if (woven == NULL)
        return false;
    weave(run, 0, run->rows, woven);
    return count_halves(woven, (size_t)run->rows * run->count, Z_DEFAULT_STRATEGY, counts);
}

enum vrs_status page_deflate_sample(const struct page_planes *runs, uint32_t count, uint32_t rows,
                                    uint64_t *ret, struct vrs_error *err)
{
    enum { HALF = PAGE_RUN / 2 };
    struct choice choice = { .strategy = { Z_DEFAULT_STRATEGY } };
    struct counts counts = { 0, 0, true };
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    bool ok = choose(&runs[count / 2], SAMPLE_MOST, &arena, &choice);
    for (uint32_t i = 0; ok && i < count; i++) {
        assert(runs[i].rows == PAGE_RUN && rows >= PAGE_RUN);
        ok = count_run(&runs[i], &choice, &arena, &counts);
        counts.is_first = false;
    }
    arena_free(&arena);
    if (!ok)
        return vrs_no_memory(err);
    *ret = counts.begun + counts.added * (rows - HALF) / ((uint64_t)count * HALF);
    return VRS_OK;
}
