/* alike.c - sorts what was seen to be born and to be freed, or to stay, and looks its likes up. */
#include "analysis/snapshot/categories/alike.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/radix_sort.h"
#include "base/sorted.h"

/* Those that a free frees, or (stack 0) that stay; equal ones become one. */
struct like {
    uint64_t bytes;
    uint32_t stack; /* of the free */
    uint8_t category;
    bool differ; /* there are several categories */
};

static bool open_category(uint8_t category)
{
    return category == CATEGORY_UNKNOWN || category == CATEGORY_PERSISTENT;
}

/* Is it older, and is nothing known of it yet? */
static bool asks(const struct alike_input *in, uint32_t i)
{
    return in->lifetimes->at[i].birth < 0 && open_category(in->category[i]) &&
           in->lifetimes->at[i].alloc_stack.n == 0;
}

static bool freed(const struct alike_input *in, uint32_t i)
{
    return in->lifetimes->at[i].requested < in->events;
}

/* What is asked about: stacks that free, and, where others may share a place, sizes. */
enum { SIZE_PLACES = 4096 };
struct asked {
    bool *stack;
    bool size[SIZE_PLACES];
};

static uint32_t size_place(uint64_t bytes)
{
    return (uint32_t)(hash_u64(bytes) % SIZE_PLACES);
}

/* Was it seen to be born, and is it freed by a stack that is asked about, or kept? */
static bool tells(const struct alike_input *in, const struct asked *asked, uint32_t i)
{
    const struct lifetime *l = &in->lifetimes->at[i];
    if (l->birth < 0 || !asked->size[size_place(l->bytes)])
        return false;
    return freed(in, i) ? asked->stack[in->freed_by[i].n] : in->retained[i];
}

static uint32_t stack_of(const struct alike_input *in, uint32_t i)
{
    return freed(in, i) ? in->freed_by[i].n : 0;
}

/* What was seen, by its bytes, then by the stack that frees it. */
struct likes {
    struct like *at;
    uint32_t count;
};

static bool likes_make(const struct alike_input *in, const struct asked *asked,
                       struct arena *scratch, struct likes *ret)
{
    uint32_t rows = 0, len = 0;
    for (uint32_t i = 0; i < in->lifetimes->count; i++)
        rows += tells(in, asked, i);
    struct radix_row *row = arena_array(scratch, struct radix_row, rows);
    struct radix_room room;
    *ret = (struct likes){ .at = arena_array(scratch, struct like, rows) };
    if (row == NULL || ret->at == NULL || !radix_room_make(&room, rows, scratch))
        return false;
    for (uint32_t i = 0; i < in->lifetimes->count; i++)
        if (tells(in, asked, i))
            row[len++] = (struct radix_row){ .key = in->lifetimes->at[i].bytes,
                                             .id = i,
                                             .first = stack_of(in, i) };
    row = radix_sort(row, len, &room);
    for (uint32_t i = 0; i < len; i++) {
        struct like *last = ret->count == 0 ? NULL : &ret->at[ret->count - 1];
        uint8_t category = in->category[row[i].id];
        if (last != NULL && last->stack == row[i].first && last->bytes == row[i].key)
            last->differ = last->differ || last->category != category;
        else
            ret->at[ret->count++] = (struct like){ row[i].key, row[i].first, category, false };
    }
    return true;
}

static uint8_t find(const struct likes *likes, uint32_t stack, uint64_t bytes)
{
    const struct like *like = likes->at;
    uint32_t at;
    SORTED_FIND(at, likes->count,
                like[at].bytes < bytes || (like[at].bytes == bytes && like[at].stack < stack));
    bool there = at < likes->count && like[at].stack == stack && like[at].bytes == bytes;
    if (!there || like[at].differ || open_category(like[at].category))
        return CATEGORY_UNKNOWN;
    return like[at].category;
}

/* Gives each that asks the category of its likes, where they have one. */
static bool give(const struct alike_input *in, const struct likes *likes, uint8_t *to)
{
    bool any = false;
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        if (!asks(in, i) || (freed(in, i) && in->freed_by[i].n == 0))
            continue;
        to[i] = find(likes, stack_of(in, i), in->lifetimes->at[i].bytes);
        any = any || to[i] != CATEGORY_UNKNOWN;
    }
    return any;
}

enum vrs_status alike_find(const struct alike_input *in, struct arena *scratch, uint8_t **ret,
                           bool *ret_any, struct vrs_error *err)
{
    uint32_t count = in->lifetimes->count, stacks = 1, asking = 0;
    struct likes likes;
    *ret = arena_array(scratch, uint8_t, count);
    *ret_any = false;
    for (uint32_t i = 0; i < count; i++) {
        asking += asks(in, i);
        stacks = in->freed_by[i].n >= stacks ? in->freed_by[i].n + 1 : stacks;
    }
    if (*ret == NULL)
        return vrs_no_memory(err);
    if (asking == 0)
        return VRS_OK;
    struct arena_mark mark = arena_mark(scratch);
    struct asked asked = { .stack = arena_array(scratch, bool, stacks) };
    if (asked.stack == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        if (!asks(in, i))
            continue;
        asked.size[size_place(in->lifetimes->at[i].bytes)] = true;
        if (freed(in, i))
            asked.stack[in->freed_by[i].n] = in->freed_by[i].n != 0;
    }
    if (!likes_make(in, &asked, scratch, &likes))
        return vrs_no_memory(err);
    *ret_any = give(in, &likes, *ret);
    arena_release(scratch, mark);
    return VRS_OK;
}
