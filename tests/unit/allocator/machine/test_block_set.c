/* test_block_set.c - a set against an array that is kept in order by moving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/machine/block_set.h"
#include "made/fault.h"

/* Enough for a few chunks, which split and go again. */
enum { BLOCKS = 4 * SET_CHUNK, STEPS = 20000 };

/* The same set, in order. */
struct sorted {
    uint32_t block[BLOCKS], len;
    struct set_key key[BLOCKS];
};

struct pair {
    struct block_set set;
    struct set_key key[BLOCKS + 1]; /* of each block that is inside */
    bool inside[BLOCKS + 1];
    struct sorted sorted;
    uint64_t random;
};

static uint64_t draw(struct pair *p, uint64_t below)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (p->random >> 33) % below;
}

static bool less(struct set_key a, struct set_key b)
{
    return a.size < b.size || (a.size == b.size && a.address < b.address);
}

/* How many keys of the array are below `key`, or not above it. */
static uint32_t rank(const struct sorted *s, struct set_key key, bool equal_too)
{
    uint32_t n = 0;
    while (n < s->len && (less(s->key[n], key) || (equal_too && !less(key, s->key[n]))))
        n++;
    return n;
}

static uint32_t at(const struct sorted *s, uint32_t place)
{
    return place < s->len ? s->block[place] : 0;
}

static void array_insert(struct pair *p, uint32_t block, struct set_key key)
{
    struct sorted *s = &p->sorted;
    uint32_t place = rank(s, key, false);
    memmove(&s->key[place + 1], &s->key[place], (s->len - place) * sizeof *s->key);
    memmove(&s->block[place + 1], &s->block[place], (s->len - place) * sizeof *s->block);
    s->key[place] = key;
    s->block[place] = block;
    s->len++;
    p->inside[block] = true;
    p->key[block] = key;
}

static void array_remove(struct pair *p, uint32_t block)
{
    struct sorted *s = &p->sorted;
    uint32_t place = rank(s, p->key[block], false);
    s->len--;
    memmove(&s->key[place], &s->key[place + 1], (s->len - place) * sizeof *s->key);
    memmove(&s->block[place], &s->block[place + 1], (s->len - place) * sizeof *s->block);
    p->inside[block] = false;
}

static void insert(struct pair *p, uint32_t block, struct set_key key)
{
    array_insert(p, block, key);
    assert_true(set_insert(&p->set, block, key));
}

static void take_out(struct pair *p, uint32_t block)
{
    array_remove(p, block);
    set_remove(&p->set, block, p->key[block]);
}

/* Once by a search of its own, once where the last one was. */
static void replace(struct pair *p, uint32_t block, uint32_t by, struct set_key key)
{
    array_remove(p, block);
    array_insert(p, by, key);
    if (draw(p, 2) == 0)
        set_at_least(&p->set, p->key[block]);
    assert_true(set_replace(&p->set, block, p->key[block], by, key));
}

static void check_around(struct pair *p, struct set_key key)
{
    const struct sorted *s = &p->sorted;
    uint32_t below = rank(s, key, false), not_above = rank(s, key, true);
    assert_int_equal(set_at_least(&p->set, key), at(s, below));
    assert_int_equal(set_after(&p->set, key), at(s, not_above));
    assert_int_equal(set_before(&p->set, key), below == 0 ? 0 : at(s, below - 1));
    assert_int_equal(set_first(&p->set), at(s, 0));
    assert_int_equal(set_last(&p->set), s->len == 0 ? 0 : at(s, s->len - 1));
}

static void check_walk(const struct pair *p)
{
    struct set_walk walk = set_walk_begin(&p->set);
    for (uint32_t i = 0; i < p->sorted.len; i++)
        assert_int_equal(set_walk_next(&walk), p->sorted.block[i]);
    assert_int_equal(set_walk_next(&walk), 0);
    assert_int_equal(set_walk_next(&walk), 0);
}

static bool has(const struct pair *p, struct set_key key)
{
    return rank(&p->sorted, key, false) != rank(&p->sorted, key, true);
}

/* Sizes from a small range, so that many are equal and addresses decide. */
static void the_set_is_the_sorted_array(void **state)
{
    static struct pair p;
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        p = (struct pair){ .random = round + 1 };
        for (uint32_t i = 0; i < STEPS; i++) {
            uint32_t block = 1 + (uint32_t)draw(&p, BLOCKS);
            struct set_key key = { draw(&p, 8) * 512, draw(&p, 1000) };
            uint32_t other = 1 + (uint32_t)draw(&p, BLOCKS);
            if (p.inside[block] && !p.inside[other] && !has(&p, key))
                replace(&p, block, other, key);
            else if (p.inside[block])
                take_out(&p, block);
            else if (!has(&p, key))
                insert(&p, block, key);
            check_around(&p, key);
            check_around(&p, (struct set_key){ draw(&p, 9) * 512, draw(&p, 1000) });
            if (i % 512 == 0)
                check_around(&p, (struct set_key){ UINT64_MAX, UINT64_MAX });
            if (i % 64 == 0)
                check_walk(&p);
        }
        set_free(&p.set);
    }
}

static void an_empty_set_has_nothing(void **state)
{
    struct pair *p = calloc(1, sizeof *p);
    (void)state;
    assert_non_null(p);
    check_around(p, (struct set_key){ 0, 0 });
    insert(p, 7, (struct set_key){ 512, 3 });
    check_around(p, (struct set_key){ 512, 3 });
    take_out(p, 7);
    check_around(p, (struct set_key){ 512, 3 });
    assert_int_equal(set_first(&p->set), 0);
    set_free(&p->set);
    free(p);
}

/* Segments of a file that lies may overlap. */
static void equal_keys_are_told_apart(void **state)
{
    enum { MANY = 1000 };
    struct block_set set = { .parts.len = 0 };
    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        assert_true(set_insert(&set, 1 + i * 77 % MANY, (struct set_key){ 512, i % 2 }));
    struct set_walk walk = set_walk_begin(&set);
    for (uint32_t odd = 0; odd < 2; odd++)
        for (uint32_t i = odd; i < MANY; i += 2)
            assert_int_equal(set_walk_next(&walk), 1 + i);
    for (uint32_t i = 0; i < MANY; i++)
        set_remove(&set, 1 + i, (struct set_key){ 512, i % 2 });
    assert_int_equal(set_first(&set), 0);
    set_free(&set);
}

/* Blocks of one segment are mostly inserted by ascending or descending address: chunks are then at
 * least half full. */
static void order_of_insertion_costs_no_memory(void **state)
{
    enum { MANY = 1 << 15 };
    (void)state;
    for (uint32_t falling = 0; falling < 2; falling++) {
        struct block_set set = { .parts.len = 0 };
        for (uint32_t i = 1; i <= MANY; i++)
            assert_true(set_insert(&set, i, (struct set_key){ 512, falling ? MANY - i : i }));
        assert_in_range(set.parts.len, MANY / SET_CHUNK, 2 * MANY / SET_CHUNK);
        assert_true(set_bytes(&set) >= MANY * (uint64_t)sizeof(struct set_key));
        for (uint32_t i = 1; i <= MANY; i++)
            set_remove(&set, i, (struct set_key){ 512, falling ? MANY - i : i });
        assert_int_equal(set_last(&set), 0);
        assert_int_equal(set.parts.len, 1);
        set_free(&set);
    }
}

/* Two chunks, the first of them full: what comes there takes a split. */
static uint32_t fill_the_first_chunk(struct pair *p)
{
    uint32_t block = 0;
    *p = (struct pair){ .random = 1 };
    for (uint32_t i = 1; i <= SET_CHUNK + 1; i++)
        insert(p, ++block, (struct set_key){ 512, 2 * i });
    for (uint32_t i = 1; i <= SET_CHUNK / 2; i++)
        insert(p, ++block, (struct set_key){ 512, 2 * i + 1 });
    assert_int_equal(p->set.parts.len, 2);
    assert_int_equal(p->set.parts.at[0].chunk->len, SET_CHUNK);
    return block;
}

/* Of the two calls that a replacement is like the first then stands, and the set can go on. */
static void a_split_may_have_no_memory(void **state)
{
    static struct pair p;
    (void)state;
    bool hit = true;
    long n = 0;
    for (; hit; n++) {
        const struct set_key to = { 512, 1 };
        uint32_t by = fill_the_first_chunk(&p) + 1, last = set_last(&p.set);
        fault_left = n;
        bool ok = set_replace(&p.set, last, p.key[last], by, to);
        hit = fault_left < 0;
        fault_left = -1;
        array_remove(&p, last);
        if (ok)
            array_insert(&p, by, to);
        assert_int_equal(ok, !hit);
        assert_int_equal(p.set.parts.len, ok ? 3 : 2);
        check_walk(&p);
        check_around(&p, to);
        check_around(&p, p.key[last]);
        if (!ok)
            insert(&p, by, to);
        check_walk(&p);
        assert_int_equal(set_first(&p.set), by);
        set_free(&p.set);
    }
    assert_true(n > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_has_nothing),
        cmocka_unit_test(the_set_is_the_sorted_array),
        cmocka_unit_test(equal_keys_are_told_apart),
        cmocka_unit_test(order_of_insertion_costs_no_memory),
        cmocka_unit_test(a_split_may_have_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
