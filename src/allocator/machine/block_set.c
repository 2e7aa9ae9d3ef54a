/* block_set.c - the ordered set as a sorted array in chunks. */
#include "allocator/machine/block_set.h"

#include <assert.h>
#include <string.h>

/* No branch: which of two keys is less cannot be guessed. */
static bool entry_less(const struct set_entry *a, const struct set_entry *b)
{
    bool block = a->block < b->block, same = a->key.address == b->key.address;
    bool address = (a->key.address < b->key.address) | (same & block);
    return (a->key.size < b->key.size) | ((a->key.size == b->key.size) & address);
}

/* Entries `from` on are not there. */
static void cut_chunk(struct set_chunk *c, uint32_t from)
{
    c->len = from;
    for (; from < SET_CHUNK; from++)
        c->size[from] = UINT64_MAX;
}

/* How many of a chunk's sizes are below one: of each eight the last, then the eight that are left.
 * Comparisons that do not wait for each other take half the time of a binary search. */
static uint32_t sizes_below(const uint64_t size[SET_CHUNK], uint64_t least)
{
    uint32_t place = 0;
    for (uint32_t i = 7; i + 8 < SET_CHUNK; i += 8)
        place += size[i] < least ? 8 : 0;
    const uint64_t *rest = size + place;
    for (uint32_t i = 0; i < 8; i++)
        place += rest[i] < least;
    return place;
}

/* How many entries of a chunk are less than `e`.  Few are of one size. */
static uint32_t entries_below(const struct set_chunk *c, const struct set_entry *e)
{
    uint32_t place = sizes_below(c->size, e->key.size);
    while (place < c->len && c->size[place] == e->key.size &&
           (c->address[place] < e->key.address ||
            (c->address[place] == e->key.address && c->block[place] < e->block)))
        place++;
    return place;
}

/* The part in which `e` is or would be: the last that begins no later. */
static uint32_t part_of(const struct block_set *s, const struct set_entry *e)
{
    uint32_t part = 0, len = s->parts.len;
    while (len > 1) {
        uint32_t half = len / 2;
        part += half & -(uint32_t)!entry_less(e, &s->parts.at[part + half].low);
        len -= half;
    }
    return part;
}

/* Where the first entry that is not less than `e` stands; false where there is none. */
static bool find_from(const struct block_set *s, const struct set_entry *e, uint32_t *ret_part,
                      uint32_t *ret_place)
{
    if (s->parts.len == 0)
        return false;
    *ret_part = part_of(s, e);
    *ret_place = entries_below(s->parts.at[*ret_part].chunk, e);
    if (*ret_place < s->parts.at[*ret_part].chunk->len)
        return true;
    ++*ret_part;
    *ret_place = 0;
    return *ret_part < s->parts.len;
}

void set_free(struct block_set *s)
{
    for (uint32_t i = 0; i < s->parts.len; i++)
        vec_resize((void **)&s->parts.at[i].chunk, 0, 1);
    vec_free(&s->parts);
}

/* An empty chunk in place `part`. */
static bool add_part(struct block_set *s, uint32_t part, const struct set_entry *low)
{
    struct set_part added = { .low = *low };
    s->parts.max = UINT32_MAX / 2;
    if (!vec_reserve(&s->parts, 1) || !vec_resize((void **)&added.chunk, 1, sizeof *added.chunk))
        return false;
    cut_chunk(added.chunk, 0);
    struct set_part *at = &s->parts.at[part];
    memmove(at + 1, at, (s->parts.len - part) * sizeof *at);
    *at = added;
    s->parts.len++;
    return true;
}

static void move_entries(struct set_chunk *to, uint32_t at, const struct set_chunk *from,
                         uint32_t first, uint32_t count)
{
    if (count == 0)
        return; /* often: sets of one entry, and the largest block */
    memmove(to->size + at, from->size + first, count * sizeof *to->size);
    memmove(to->address + at, from->address + first, count * sizeof *to->address);
    memmove(to->block + at, from->block + first, count * sizeof *to->block);
}

static void put_entry(struct set_chunk *c, uint32_t place, const struct set_entry *e)
{
    c->size[place] = e->key.size;
    c->address[place] = e->key.address;
    c->block[place] = e->block;
}

/* Gives the upper half of a full chunk a chunk of its own. */
static bool split_part(struct block_set *s, uint32_t part)
{
    enum { HALF = SET_CHUNK / 2 };
    const struct set_chunk *full = s->parts.at[part].chunk;
    struct set_entry low = { { full->size[HALF], full->address[HALF] }, full->block[HALF] };
    if (!add_part(s, part + 1, &low))
        return false;
    struct set_chunk *lower = s->parts.at[part].chunk, *upper = s->parts.at[part + 1].chunk;
    move_entries(upper, 0, lower, HALF, SET_CHUNK - HALF);
    upper->len = SET_CHUNK - HALF;
    cut_chunk(lower, HALF);
    return true;
}

bool set_insert(struct block_set *s, uint32_t block, struct set_key key)
{
    struct set_entry e = { key, block };
    static const struct set_entry least = { { 0, 0 }, 0 };
    if (s->parts.len == 0 && !add_part(s, 0, &least))
        return false;
    uint32_t part = part_of(s, &e);
    if (s->parts.at[part].chunk->len == SET_CHUNK) {
        if (!split_part(s, part))
            return false;
        part = part_of(s, &e);
    }
    struct set_chunk *c = s->parts.at[part].chunk;
    uint32_t place = entries_below(c, &e);
    move_entries(c, place + 1, c, place, c->len - place);
    put_entry(c, place, &e);
    c->len++;
    return true;
}

static void drop_part(struct block_set *s, uint32_t part)
{
    struct set_part *at = &s->parts.at[part];
    vec_resize((void **)&at->chunk, 0, 1);
    s->parts.len--;
    memmove(at, at + 1, (s->parts.len - part) * sizeof *at);
    if (part == 0 && s->parts.len > 0)
        s->parts.at[0].low = (struct set_entry){ { 0, 0 }, 0 };
}

/* Does the last search's entry still stand where it was found? */
static bool still_found(const struct block_set *s, uint32_t block)
{
    if (s->found_part >= s->parts.len)
        return false;
    const struct set_chunk *c = s->parts.at[s->found_part].chunk;
    return s->found_place < c->len && c->block[s->found_place] == block;
}

/* Where a block of the set stands. */
static void find_block(const struct block_set *s, uint32_t block, struct set_key key,
                       uint32_t *ret_part, uint32_t *ret_place)
{
    struct set_entry e = { key, block };
    *ret_part = s->found_part;
    *ret_place = s->found_place;
    if (!still_found(s, block))
        find_from(s, &e, ret_part, ret_place);
    assert(s->parts.at[*ret_part].chunk->block[*ret_place] == block);
}

bool set_replace(struct block_set *s, uint32_t block, struct set_key key, uint32_t by,
                 struct set_key by_key)
{
    struct set_entry e = { by_key, by };
    uint32_t part, place;
    find_block(s, block, key, &part, &place);
    if (part_of(s, &e) != part) {
        set_remove(s, block, key);
        return set_insert(s, by, by_key);
    }
    struct set_chunk *c = s->parts.at[part].chunk;
    uint32_t to = entries_below(c, &e);
    if (to <= place) {
        move_entries(c, to + 1, c, to, place - to);
    } else {
        to--;
        move_entries(c, place, c, place + 1, to - place);
    }
    put_entry(c, to, &e);
    return true;
}

void set_remove(struct block_set *s, uint32_t block, struct set_key key)
{
    uint32_t part, place;
    find_block(s, block, key, &part, &place);
    struct set_chunk *c = s->parts.at[part].chunk;
    c->len--;
    move_entries(c, place, c, place + 1, c->len - place);
    c->size[c->len] = UINT64_MAX;
    /* The only chunk stays: sets that are often empty would ask for one again and again. */
    if (c->len == 0 && s->parts.len > 1)
        drop_part(s, part);
}

uint32_t set_at_least(struct block_set *s, struct set_key key)
{
    struct set_entry e = { key, 0 };
    bool found = find_from(s, &e, &s->found_part, &s->found_place);
    return found ? s->parts.at[s->found_part].chunk->block[s->found_place] : 0;
}

uint32_t set_after(const struct block_set *s, struct set_key key)
{
    struct set_entry e = { key, UINT32_MAX };
    uint32_t part, place;
    return find_from(s, &e, &part, &place) ? s->parts.at[part].chunk->block[place] : 0;
}

uint32_t set_before(const struct block_set *s, struct set_key key)
{
    struct set_entry e = { key, 0 };
    if (s->parts.len == 0)
        return 0;
    uint32_t part = part_of(s, &e);
    uint32_t place = entries_below(s->parts.at[part].chunk, &e);
    if (place > 0)
        return s->parts.at[part].chunk->block[place - 1];
    if (part == 0)
        return 0;
    const struct set_chunk *before = s->parts.at[part - 1].chunk;
    return before->block[before->len - 1];
}

static bool is_empty(const struct block_set *s)
{
    return s->parts.len == 0 || s->parts.at[0].chunk->len == 0;
}

uint32_t set_first(const struct block_set *s)
{
    return is_empty(s) ? 0 : s->parts.at[0].chunk->block[0];
}

uint32_t set_last(const struct block_set *s)
{
    if (is_empty(s))
        return 0;
    const struct set_chunk *c = s->parts.at[s->parts.len - 1].chunk;
    return c->block[c->len - 1];
}

uint32_t set_walk_next(struct set_walk *w)
{
    if (w->part == w->set->parts.len || is_empty(w->set))
        return 0;
    const struct set_chunk *c = w->set->parts.at[w->part].chunk;
    uint32_t block = c->block[w->place++];
    if (w->place == c->len) {
        w->part++;
        w->place = 0;
    }
    return block;
}

uint64_t set_bytes(const struct block_set *s)
{
    return s->parts.cap * sizeof *s->parts.at + s->parts.len * sizeof(struct set_chunk);
}
