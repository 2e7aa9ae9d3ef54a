/* machine_release.c - giving memory back to the device: all of it, large blocks, old ones. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/block_set.h"
#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "base/vec.h"

static bool is_whole_segment(const struct machine *m, const struct machine_block *b)
{
    return b->prev == 0 && b->next == 0 && !block_expandable(m, b);
}

/* The whole pages of a free expandable block; false where it has none. */
static bool pages_of(const struct machine *m, uint32_t block, struct release *ret)
{
    const struct machine_block *b = &m->blocks.at[block];
    uint64_t page = side_small(b->side) ? SMALL_SEGMENT_BYTES : m->config.large_segment_bytes;
    uint64_t base = m->segments.at[b->segment].base;
    uint64_t begin = b->address - base, end = begin + b->size;
    begin = begin / page * page + (begin % page != 0 ? page : 0);
    end = end / page * page;
    *ret = (struct release){ block, true, base + begin, end - begin };
    return end > begin;
}

/* Appends what one side gives back: whole segments, or pages. */
static bool add_releases(struct machine *m, uint32_t side, bool unmaps, release_vec *ret)
{
    struct set_walk walk = set_walk_begin(&m->sides.at[side].free);
    for (uint32_t block = set_walk_next(&walk); block != 0; block = set_walk_next(&walk)) {
        const struct machine_block *b = &m->blocks.at[block];
        struct release r = { block, false, b->address, b->size };
        m->steps++;
        bool given =
            unmaps ? block_expandable(m, b) && pages_of(m, block, &r) : is_whole_segment(m, b);
        if (given && !vec_push(ret, r))
            return false;
    }
    return true;
}

bool machine_releasable(struct machine *m, release_vec *ret)
{
    ret->len = 0;
    ret->max = UINT32_MAX;
    /* Segments of all streams of a class, then their pages, then the other class. */
    for (uint32_t small = 0; small < 2; small++)
        for (uint32_t unmaps = 0; unmaps < 2; unmaps++)
            for (uint32_t i = 0; i < m->release_order.len; i++) {
                uint32_t side = m->release_order.at[i];
                bool wanted = side_small(side) == (small == 1) && m->lanes.at[side / 2].pool == 0;
                if (wanted && !add_releases(m, side, unmaps == 1, ret))
                    return false;
            }
    return true;
}

void machine_release_all(struct machine *m)
{
    while (m->waiting.len > 0) {
        uint32_t block = m->waiting.at[m->waiting.len - 1];
        if (m->completed != NULL)
            m->completed(m->completed_arg, block);
        machine_complete(m, block);
    }
    release_vec releases = { .max = UINT32_MAX };
    if (!machine_releasable(m, &releases))
        m->no_memory = true;
    for (uint32_t i = 0; i < releases.len && !m->no_memory; i++)
        machine_return(m, &releases.at[i]);
    vec_free(&releases);
}

static void return_segment(struct machine *m, uint32_t block)
{
    const struct machine_block *b = &m->blocks.at[block];
    struct release r = { block, false, b->address, b->size };
    machine_return(m, &r);
}

bool machine_release_oversize(struct machine *m, uint32_t side, uint64_t rounded)
{
    uint64_t max_split = m->config.max_split_bytes, got = 0;
    uint64_t want = rounded > max_split ? rounded : max_split;
    if (max_split == UINT64_MAX)
        return false;
    struct block_set *free = &m->sides.at[side].free;
    uint32_t block = set_at_least(free, (struct set_key){ want, 0 });
    while (block != 0 && block_expandable(m, &m->blocks.at[block]))
        block = set_after(free, block_key(&m->blocks.at[block]));
    if (block != 0) {
        if (is_whole_segment(m, &m->blocks.at[block]))
            return_segment(m, block);
        return true;
    }
    block = set_last(free);
    while (block != 0 && got < want && m->blocks.at[block].size >= max_split) {
        struct set_key key = block_key(&m->blocks.at[block]);
        if (!block_expandable(m, &m->blocks.at[block])) {
            got += m->blocks.at[block].size;
            if (is_whole_segment(m, &m->blocks.at[block]))
                return_segment(m, block);
        }
        block = set_before(free, key);
    }
    return got >= want;
}

/* The age of a free block of the default pool: searches since it became free. */
static uint32_t age_of(const struct machine *m, const struct machine_block *b)
{
    return m->searches - b->since;
}

struct aging {
    uint64_t blocks, total_age;
};

/* Free, unsplit blocks; expandable ones count, though they are never given back. */
static bool is_candidate(const struct machine_block *b)
{
    return b->prev == 0 && b->next == 0;
}

static bool collects(const struct machine *m, uint32_t side)
{
    return !side_small(side) && m->lanes.at[side / 2].pool == 0;
}

static struct aging add_up_ages(const struct machine *m)
{
    struct aging a = { 0, 0 };
    for (uint32_t i = 0; i < m->release_order.len; i++) {
        struct set_walk walk = set_walk_begin(&m->sides.at[m->release_order.at[i]].free);
        if (!collects(m, m->release_order.at[i]))
            continue;
        for (uint32_t b = set_walk_next(&walk); b != 0; b = set_walk_next(&walk)) {
            if (!is_candidate(&m->blocks.at[b]))
                continue;
            a.blocks++;
            a.total_age += age_of(m, &m->blocks.at[b]);
        }
    }
    return a;
}

/* One pass over the sides: what is at least as old as the mean goes back; the bytes of it. */
static uint64_t return_older(struct machine *m, const struct aging *a)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < m->release_order.len; i++) {
        const struct block_set *free = &m->sides.at[m->release_order.at[i]].free;
        if (!collects(m, m->release_order.at[i]))
            continue;
        uint32_t block = set_first(free);
        while (block != 0) {
            const struct machine_block *b = &m->blocks.at[block];
            struct set_key key = block_key(b);
            if (is_whole_segment(m, b) && age_of(m, b) * a->blocks >= a->total_age) {
                bytes += b->size;
                return_segment(m, block);
            }
            block = set_after(free, key);
        }
    }
    return bytes;
}

void machine_collect(struct machine *m)
{
    double threshold = m->config.gc_threshold;
    if (m->limit == UINT64_MAX || !(threshold > 0))
        return;
    uint64_t keep = (uint64_t)(threshold * (double)m->limit);
    if (m->reserved <= keep)
        return;
    uint64_t target = m->reserved - keep, got = 0, last;
    do {
        struct aging a = add_up_ages(m);
        if (a.blocks == 0)
            break;
        last = return_older(m, &a);
        got += last;
    } while (got < target && last > 0);
}
