/* naive_allocator.c - a second model of the allocator, by linear searches. */
#include "models/naive_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/machine/rounding.h"

#define NONE UINT32_MAX

/* Whose memory a request may be served from. */
struct place {
    uint32_t pool;
    uint64_t stream;
    bool small;
};

static void tell(struct naive *n, char what, uint64_t address, uint64_t bytes,
                 const struct naive_block *b)
{
    assert_true(n->calls < NAIVE_CALLS_MAX);
    n->call[n->calls++] = (struct naive_call){ what, address, bytes, b->stream, b->pool };
}

uint64_t naive_bytes(const struct naive *n, uint32_t uses)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n->blocks; i++)
        if (uses & 1u << n->block[i].use)
            bytes += n->block[i].size;
    return bytes;
}

static uint64_t reserved(const struct naive *n)
{
    return naive_bytes(n, 1u << NAIVE_FREE | 1u << NAIVE_IN_USE | 1u << NAIVE_WAITING);
}

/* The array. */

static uint32_t insert(struct naive *n, struct naive_block b)
{
    uint32_t i = n->blocks;
    assert_true(n->blocks < NAIVE_BLOCKS_MAX);
    for (; i > 0 && n->block[i - 1].address > b.address; i--)
        n->block[i] = n->block[i - 1];
    n->block[i] = b;
    n->blocks++;
    return i;
}

static void erase(struct naive *n, uint32_t i)
{
    n->blocks--;
    memmove(&n->block[i], &n->block[i + 1], (n->blocks - i) * sizeof *n->block);
}

static bool neighbours(const struct naive *n, uint32_t i, uint32_t k)
{
    return i < n->blocks && k < n->blocks && n->block[i].segment == n->block[k].segment;
}

static bool split(const struct naive *n, uint32_t i)
{
    return neighbours(n, i, i - 1) || neighbours(n, i, i + 1);
}

static uint32_t index_at(const struct naive *n, uint64_t address)
{
    uint32_t i = 0;
    while (i < n->blocks && n->block[i].address != address)
        i++;
    assert_true(i < n->blocks);
    return i;
}

struct naive_block *naive_at(struct naive *n, uint64_t address)
{
    return &n->block[index_at(n, address)];
}

/* 5: joins a block with neighbours of the same kind, the one before first; where it then is. */
static uint32_t merge(struct naive *n, uint32_t i)
{
    if (neighbours(n, i, i - 1) && n->block[i - 1].use == n->block[i].use) {
        n->block[i - 1].size += n->block[i].size;
        erase(n, i--);
    }
    if (neighbours(n, i, i + 1) && n->block[i + 1].use == n->block[i].use) {
        n->block[i].size += n->block[i + 1].size;
        erase(n, i + 1);
    }
    n->block[i].entered = n->searches;
    return i;
}

/* Cuts a block in two; the second part follows it. */
static void cut(struct naive *n, uint32_t i, uint64_t bytes)
{
    struct naive_block rest = n->block[i];
    rest.address += bytes;
    rest.size -= bytes;
    rest.entered = n->searches;
    n->block[i].size = bytes;
    insert(n, rest);
}

/* Free blocks in the order of sets: stream, size, address. */

static bool is_of(const struct naive_block *b, const struct place *p)
{
    return b->use == NAIVE_FREE && b->pool == p->pool && b->small == p->small &&
           b->stream == p->stream;
}

static bool before(const struct naive_block *a, const struct naive_block *b)
{
    if (a->stream != b->stream)
        return a->stream < b->stream;
    return a->size != b->size ? a->size < b->size : a->address < b->address;
}

/* The first free block of a place that comes after `last` (NULL: from `bytes` on). */
static uint32_t next_free(const struct naive *n, const struct place *p,
                          const struct naive_block *last, uint64_t bytes)
{
    uint32_t found = NONE;
    for (uint32_t i = 0; i < n->blocks; i++) {
        const struct naive_block *b = &n->block[i];
        bool fits = last == NULL ? b->size >= bytes : before(last, b);
        if (is_of(b, p) && fits && (found == NONE || before(b, &n->block[found])))
            found = i;
    }
    return found;
}

/* 4.1 */

static uint64_t could_grow_to(const struct naive *n, uint32_t i)
{
    bool hole = neighbours(n, i, i + 1) && n->block[i + 1].use == NAIVE_HOLE;
    return n->block[i].size + (hole ? n->block[i + 1].size : 0);
}

static uint32_t best_fit(struct naive *n, const struct place *p, uint64_t bytes)
{
    const struct allocator_config *c = &n->config;
    if (p->pool == 0 && !p->small)
        n->searches++;
    uint32_t i = next_free(n, p, NULL, bytes);
    while (i != NONE && n->block[i].expandable) {
        uint32_t next = next_free(n, p, &n->block[i], 0);
        if (c->expandable && (next == NONE || could_grow_to(n, next) >= could_grow_to(n, i)))
            break;
        i = next;
    }
    if (i == NONE)
        return NONE;
    uint64_t size = n->block[i].size;
    if (bytes < c->max_split_bytes && size >= c->max_split_bytes)
        return NONE;
    if (bytes >= c->max_split_bytes && size >= bytes + c->non_split_rounding_bytes)
        return NONE;
    return i;
}

/* 8.1 */

static uint64_t page_of(const struct naive *n, bool small)
{
    return small ? SMALL_SEGMENT_BYTES : n->config.large_segment_bytes;
}

static uint32_t find_room(const struct naive *n, const struct place *p, uint64_t bytes)
{
    for (uint32_t i = 0; i < n->blocks; i++) {
        const struct naive_block *b = &n->block[i];
        if (b->use != NAIVE_HOLE || b->pool != p->pool || b->small != p->small ||
            b->stream != p->stream)
            continue;
        uint32_t from = neighbours(n, i, i - 1) && n->block[i - 1].use == NAIVE_FREE ? i - 1 : i;
        uint64_t sum = 0;
        for (uint32_t k = from;
             neighbours(n, k, from) &&
             (n->block[k].use == NAIVE_FREE || n->block[k].use == NAIVE_HOLE) && sum < bytes;
             k++)
            sum += n->block[k].size;
        if (sum >= bytes)
            return from;
    }
    return NONE;
}

/* Maps the pages over the first `want` bytes of a hole; where the block then is, or NONE. */
static uint32_t map(struct naive *n, uint32_t i, uint64_t want)
{
    uint64_t page = page_of(n, n->block[i].small), bytes = (want + page - 1) / page * page;
    uint64_t address = n->block[i].address;
    if (bytes > n->block[i].size)
        bytes = n->block[i].size;
    if (reserved(n) + bytes > n->capacity)
        return NONE;
    if (bytes < n->block[i].size)
        cut(n, i, bytes);
    n->block[i].use = NAIVE_FREE;
    tell(n, 'M', address, bytes, &n->block[i]);
    return merge(n, i);
}

static uint32_t grow_at(struct naive *n, uint32_t i, uint64_t bytes)
{
    if (n->block[i].use == NAIVE_HOLE)
        i = map(n, i, bytes < n->block[i].size ? bytes : n->block[i].size);
    while (i != NONE && n->block[i].size < bytes) {
        uint64_t more = bytes - n->block[i].size, room = n->block[i + 1].size;
        i = map(n, i + 1, more < room ? more : room);
    }
    return i;
}

static uint32_t grow(struct naive *n, const struct place *p, uint64_t bytes)
{
    uint32_t room = find_room(n, p, bytes);
    if (room == NONE) {
        uint64_t address = n->next_reservation;
        n->next_reservation += n->reservation_step;
        room = insert(n, (struct naive_block){ .address = address,
                                               .size = ((uint64_t)1 << 62) - address,
                                               .stream = p->stream,
                                               .pool = p->pool,
                                               .segment = n->segments++,
                                               .use = NAIVE_HOLE,
                                               .small = p->small,
                                               .expandable = true });
    }
    return grow_at(n, room, bytes);
}

/* 4.2 */
static uint32_t new_memory(struct naive *n, const struct place *p, uint64_t bytes)
{
    uint64_t segment = config_segment_bytes(&n->config, bytes);
    if (n->limit != UINT64_MAX && reserved(n) + segment > n->limit)
        return NONE;
    if (n->config.expandable) {
        uint32_t i = grow(n, p, bytes);
        n->new_memory += i != NONE;
        return i;
    }
    if (n->capacity != UINT64_MAX && reserved(n) + segment > n->capacity)
        return NONE;
    if (!n->ascend)
        n->next_low -= segment;
    uint64_t address = n->ascend ? n->next_high : n->next_low;
    n->next_high += n->ascend ? segment : 0;
    n->new_memory++;
    struct naive_block made = { .address = address,
                                .size = segment,
                                .stream = p->stream,
                                .pool = p->pool,
                                .segment = n->segments++,
                                .entered = n->searches,
                                .small = p->small };
    tell(n, 'A', address, segment, &made);
    return insert(n, made);
}

/* 7 */

static void give_back(struct naive *n, uint32_t i)
{
    tell(n, 'F', n->block[i].address, n->block[i].size, &n->block[i]);
    erase(n, i);
}

/* 8.3 */
static void unmap(struct naive *n, uint32_t i)
{
    uint32_t first = i;
    while (neighbours(n, first, first - 1))
        first--;
    uint64_t base = n->block[first].address, page = page_of(n, n->block[i].small);
    uint64_t from = (n->block[i].address - base + page - 1) / page * page + base;
    uint64_t to = (n->block[i].address + n->block[i].size - base) / page * page + base;
    if (to <= from)
        return;
    if (from > n->block[i].address) {
        cut(n, i, from - n->block[i].address);
        i++;
    }
    if (to - from < n->block[i].size)
        cut(n, i, to - from);
    tell(n, 'U', from, to - from, &n->block[i]);
    n->block[i].use = NAIVE_HOLE;
    i = merge(n, i);
    if (!split(n, i))
        erase(n, i);
}

/* 7.1, of one class: segments, then pages, each in the order of the set. */
static void release_class(struct naive *n, bool small)
{
    struct naive_block list[256];
    for (uint32_t pages = 0; pages < 2; pages++) {
        uint32_t len = 0;
        for (uint32_t i = 0; i < n->blocks; i++) {
            const struct naive_block *b = &n->block[i];
            if (b->use != NAIVE_FREE || b->pool != 0 || b->small != small ||
                b->expandable != (pages == 1) || (pages == 0 && split(n, i)))
                continue;
            uint32_t k = len++;
            assert_true(len <= sizeof list / sizeof *list);
            for (; k > 0 && before(b, &list[k - 1]); k--)
                list[k] = list[k - 1];
            list[k] = *b;
        }
        for (uint32_t k = 0; k < len; k++) {
            uint32_t i = index_at(n, list[k].address);
            if (pages == 1)
                unmap(n, i);
            else
                give_back(n, i);
        }
    }
}

void naive_release_all(struct naive *n)
{
    for (uint32_t i = 0; i < n->blocks; i++)
        if (n->block[i].use == NAIVE_WAITING) {
            if (n->tells_completions)
                tell(n, 'c', n->block[i].address, n->block[i].requested, &n->block[i]);
            naive_complete(n, n->block[i].address);
            i = NONE; /* from the first again */
        }
    release_class(n, false);
    release_class(n, true);
}

/* 7.2 */
static bool release_oversize(struct naive *n, const struct place *p, uint64_t bytes)
{
    uint64_t least = n->config.max_split_bytes, want = bytes > least ? bytes : least, sum = 0;
    if (least == UINT64_MAX)
        return false;
    uint32_t i = next_free(n, p, NULL, want);
    while (i != NONE && n->block[i].expandable)
        i = next_free(n, p, &n->block[i], 0);
    if (i != NONE) {
        give_back(n, i);
        return true;
    }
    while (sum < want) {
        uint32_t largest = NONE;
        for (uint32_t k = 0; k < n->blocks; k++)
            if (is_of(&n->block[k], p) && !n->block[k].expandable && n->block[k].size >= least &&
                (largest == NONE || before(&n->block[largest], &n->block[k])))
                largest = k;
        if (largest == NONE)
            return false;
        sum += n->block[largest].size;
        give_back(n, largest);
    }
    return true;
}

/* 7.3: the pages of a pass go in the order of the set; streams first. */
static uint64_t collect_pass(struct naive *n, double cut_age)
{
    uint64_t bytes = 0;
    for (;;) {
        uint32_t first = NONE;
        for (uint32_t i = 0; i < n->blocks; i++) {
            const struct naive_block *b = &n->block[i];
            if (b->use == NAIVE_FREE && b->pool == 0 && !b->small && !split(n, i) &&
                !b->expandable && n->searches - b->entered >= cut_age &&
                (first == NONE || before(b, &n->block[first])))
                first = i;
        }
        if (first == NONE)
            return bytes;
        bytes += n->block[first].size;
        give_back(n, first);
    }
}

static void collect(struct naive *n)
{
    double threshold = n->config.gc_threshold * (double)n->limit;
    if (n->limit == UINT64_MAX || n->config.gc_threshold == 0 || reserved(n) <= (uint64_t)threshold)
        return;
    uint64_t target = reserved(n) - (uint64_t)threshold, done = 0, last = 1;
    while (done < target && last > 0) {
        double ages = 0, count = 0;
        for (uint32_t i = 0; i < n->blocks; i++)
            if (n->block[i].use == NAIVE_FREE && n->block[i].pool == 0 && !n->block[i].small &&
                !split(n, i)) {
                ages += n->searches - n->block[i].entered;
                count++;
            }
        if (count == 0)
            return;
        last = collect_pass(n, ages / count);
        done += last;
    }
}

/* 4 */
uint64_t naive_request(struct naive *n, uint32_t pool, uint64_t stream, uint64_t request)
{
    uint64_t bytes = rounding_apply(&n->config.rounding, request);
    struct place p = { pool, stream, bytes <= SMALL_BLOCK_MAX };
    uint32_t i = best_fit(n, &p, bytes);
    if (i == NONE) {
        collect(n);
        i = new_memory(n, &p, bytes);
    }
    if (i == NONE && release_oversize(n, &p, bytes))
        i = new_memory(n, &p, bytes);
    if (i == NONE) {
        n->retries++;
        naive_release_all(n);
        i = new_memory(n, &p, bytes);
    }
    if (i == NONE)
        return 0;
    uint64_t rest = n->block[i].size - bytes;
    bool splits = p.small || n->config.expandable
                      ? rest >= 512
                      : bytes < n->config.max_split_bytes && rest > SMALL_BLOCK_MAX;
    if (splits)
        cut(n, i, bytes);
    n->block[i].use = NAIVE_IN_USE;
    n->block[i].requested = request;
    return n->block[i].address;
}

void naive_wait(struct naive *n, uint64_t address)
{
    naive_at(n, address)->use = NAIVE_WAITING;
}

void naive_complete(struct naive *n, uint64_t address)
{
    uint32_t i = index_at(n, address);
    n->block[i].use = NAIVE_FREE;
    n->block[i].requested = 0;
    merge(n, i);
}
