/* alike.c - notes what is asked about, and tells each by those of its size that were seen. */
#include "analysis/snapshot/categories/alike.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/idtab.h"

/* What is asked about: those of a size that a stack frees, or (stack 0) that stay. */
struct like {
    uint64_t bytes;
    uint32_t stack; /* of the free */
    uint8_t category;
    bool seen;   /* some were seen to be born */
    bool differ; /* there are several categories */
};

struct likes {
    struct like *at;
    uint32_t count;
    struct idtab index; /* of `at`, plus 1 */
    bool *frees;        /* of each stack_id: what it frees is asked about */
};

static bool open_category(uint8_t category)
{
    return category == CATEGORY_UNKNOWN || category == CATEGORY_PERSISTENT;
}

static bool freed(const struct alike_input *in, uint32_t i)
{
    return in->lifetimes->at[i].requested < in->events;
}

/* Of what is older: is nothing known of it yet, but where it is freed, or that it stays? */
static bool asks(const struct alike_input *in, uint32_t i)
{
    return open_category(in->category[i]) && in->lifetimes->at[i].alloc_stack.n == 0 &&
           (!freed(in, i) || in->freed_by[i].n != 0);
}

/* Was it seen to be born, and is it freed by a stack that is asked about, or kept? */
static bool tells(const struct alike_input *in, const struct likes *likes, uint32_t i)
{
    if (in->lifetimes->at[i].birth < 0)
        return false;
    return freed(in, i) ? likes->frees[in->freed_by[i].n] : in->retained[i];
}

static struct like like_of(const struct alike_input *in, uint32_t i)
{
    return (struct like){ .bytes = in->lifetimes->at[i].bytes,
                          .stack = freed(in, i) ? in->freed_by[i].n : 0 };
}

/* Where it is asked about, else the slot it may have; *ret_hash serves to put it there. */
static uint32_t find_slot(const struct likes *likes, const struct like *like, uint64_t *ret_hash)
{
    uint64_t hash = hash_pair(like->bytes, like->stack);
    uint32_t at = idtab_first(&likes->index, hash);
    *ret_hash = hash;
    for (; likes->index.slot[at].id != 0; at = idtab_next(&likes->index, hash, at)) {
        const struct like *one = &likes->at[likes->index.slot[at].id - 1];
        if (one->bytes == like->bytes && one->stack == like->stack)
            break;
    }
    return at;
}

static struct like *find(const struct likes *likes, const struct alike_input *in, uint32_t i)
{
    struct like like = like_of(in, i);
    uint64_t hash;
    uint32_t id = likes->index.slot[find_slot(likes, &like, &hash)].id;
    return id == 0 ? NULL : &likes->at[id - 1];
}

/* Notes what is asked about; `asking` have room. */
static bool note_asked(const struct alike_input *in, uint32_t asking, struct likes *likes)
{
    if (!idtab_restart(&likes->index, asking))
        return false;
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        uint64_t hash;
        if (!asks(in, i))
            continue;
        struct like like = like_of(in, i);
        if (likes->index.slot[find_slot(likes, &like, &hash)].id != 0)
            continue;
        likes->at[likes->count++] = like;
        idtab_put(&likes->index, hash, likes->count);
        likes->frees[like.stack] = like.stack != 0;
    }
    return true;
}

static void note_seen(const struct alike_input *in, struct likes *likes)
{
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        struct like *like = tells(in, likes, i) ? find(likes, in, i) : NULL;
        if (like == NULL)
            continue;
        like->differ = like->differ || (like->seen && like->category != in->category[i]);
        like->category = in->category[i];
        like->seen = true;
    }
}

/* Gives each that asks the category of its likes, where they have one. */
static bool give(const struct alike_input *in, const struct likes *likes, uint8_t *to)
{
    bool any = false;
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        const struct like *like = asks(in, i) ? find(likes, in, i) : NULL;
        if (like == NULL || !like->seen || like->differ || open_category(like->category))
            continue;
        to[i] = like->category;
        any = true;
    }
    return any;
}

enum vrs_status alike_find(const struct alike_input *in, struct arena *scratch, uint8_t **ret,
                           bool *ret_any, struct vrs_error *err)
{
    uint32_t asking = 0;
    *ret = arena_array(scratch, uint8_t, in->lifetimes->count);
    *ret_any = false;
    if (*ret == NULL)
        return vrs_no_memory(err);
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++)
        asking += asks(in, in->lifetimes->older[k]);
    if (asking == 0)
        return VRS_OK;
    struct arena_mark mark = arena_mark(scratch);
    struct likes likes = { .at = arena_array(scratch, struct like, asking),
                           .frees = arena_array(scratch, bool, in->stacks) };
    bool made = likes.at != NULL && likes.frees != NULL && note_asked(in, asking, &likes);
    if (made) {
        note_seen(in, &likes);
        *ret_any = give(in, &likes, *ret);
    }
    idtab_free(&likes.index);
    arena_release(scratch, mark);
    return made ? VRS_OK : vrs_no_memory(err);
}
