/* alike.c - sorts what was seen to be born and to be freed, or to stay, and looks its likes up. */
#include "analysis/snapshot/categories/alike.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"

/* Those that a free frees, or (stack 0) that stay; equal ones become one. */
struct like {
    uint64_t bytes;
    uint32_t stack; /* of the free */
    uint8_t category;
    bool differ; /* there are several categories */
};

static int by_stack(const void *a, const void *b)
{
    const struct like *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->category > y->category) - (x->category < y->category);
}

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

/* What was seen: those freed by a stack that is asked about, and those that stay. */
static uint32_t gather(const struct alike_input *in, const bool *asked, struct like *like)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        const struct lifetime *l = &in->lifetimes->at[i];
        if (l->birth < 0)
            continue;
        if (freed(in, i) ? asked[in->freed_by[i].n] : in->retained[i])
            like[len++] = (struct like){ l->bytes, freed(in, i) ? in->freed_by[i].n : 0,
                                         in->category[i], false };
    }
    if (len > 1)
        qsort(like, len, sizeof *like, by_stack);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < len; i++) {
        struct like *last = kept == 0 ? NULL : &like[kept - 1];
        if (last != NULL && last->stack == like[i].stack && last->bytes == like[i].bytes)
            last->differ = last->differ || last->category != like[i].category;
        else
            like[kept++] = like[i];
    }
    return kept;
}

static uint8_t find(const struct like *like, uint32_t len, uint32_t stack, uint64_t bytes)
{
    uint32_t at;
    SORTED_FIND(at, len,
                like[at].stack < stack || (like[at].stack == stack && like[at].bytes < bytes));
    bool there = at < len && like[at].stack == stack && like[at].bytes == bytes;
    if (!there || like[at].differ || open_category(like[at].category))
        return CATEGORY_UNKNOWN;
    return like[at].category;
}

enum vrs_status alike_find(const struct alike_input *in, struct arena *scratch, uint8_t **ret,
                           bool *ret_any, struct vrs_error *err)
{
    uint32_t count = in->lifetimes->count, stacks = 1, asking = 0;
    *ret = arena_array(scratch, uint8_t, count);
    *ret_any = false;
    for (uint32_t i = 0; i < count; i++) {
        asking += asks(in, i);
        stacks = in->freed_by[i].n >= stacks ? in->freed_by[i].n + 1 : stacks;
    }
    bool *asked = arena_array(scratch, bool, stacks);
    struct like *like = arena_array(scratch, struct like, asking == 0 ? 0 : count);
    if (*ret == NULL || asked == NULL || like == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        if (in->freed_by[i].n != 0 && asks(in, i) && freed(in, i))
            asked[in->freed_by[i].n] = true;
    uint32_t len = asking == 0 ? 0 : gather(in, asked, like);
    for (uint32_t i = 0; i < count && len != 0; i++) {
        if (!asks(in, i) || (freed(in, i) && in->freed_by[i].n == 0))
            continue;
        uint32_t stack = freed(in, i) ? in->freed_by[i].n : 0;
        (*ret)[i] = find(like, len, stack, in->lifetimes->at[i].bytes);
        *ret_any = *ret_any || (*ret)[i] != CATEGORY_UNKNOWN;
    }
    return VRS_OK;
}
