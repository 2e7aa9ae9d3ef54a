/* arena.c - bump allocation from a chain of blocks, the newest first. */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pages.h"

/* Blocks grow with what is taken: many small results may be held at once. */
enum { BLOCK_LEAST = 4 * 1024, BLOCK_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *before;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *a, size_t max)
{
    *a = (struct arena){ .max = max };
}

static void free_last(struct arena *a)
{
    struct arena_block *block = a->last;
    a->last = block->before;
    a->total -= block->size;
    free(block);
}

void arena_free(struct arena *a)
{
    while (a->last != NULL)
        free_last(a);
    a->used = 0;
}

static bool add_block(struct arena *a, size_t least)
{
    size_t size = a->total < BLOCK_LEAST   ? BLOCK_LEAST
                  : a->total < BLOCK_BYTES ? a->total
                                           : BLOCK_BYTES;
    size = least > size || size > a->max - a->total ? least : size;
    if (size > a->max - a->total || size > SIZE_MAX - sizeof(struct arena_block))
        return false;
    /* Of a large block the system gives the pages when they are first written, zeroed already. */
    struct arena_block *block =
        size > BLOCK_BYTES ? calloc(1, sizeof *block + size) : malloc(sizeof *block + size);
    if (block == NULL)
        return false;
    pages_expect_full(block, sizeof *block + size);
    block->before = a->last;
    block->size = size;
    a->last = block;
    a->used = 0;
    a->total += size;
    return true;
}

void *arena_take(struct arena *a, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX - align)
        return NULL;
    size_t rounded = (size + align - 1) / align * align;
    bool add = a->last == NULL || rounded > a->last->size - a->used;
    if (add && !add_block(a, rounded))
        return NULL;
    void *taken = a->last->bytes + a->used;
    a->used += rounded;
    return add && rounded > BLOCK_BYTES ? taken : memset(taken, 0, size);
}

void *arena_take_array(struct arena *a, size_t count, size_t width)
{
    size_t size;
    return size_mul(count, width, &size) ? arena_take(a, size) : NULL;
}

str arena_copy(struct arena *a, str text)
{
    char *copy = text.len < SIZE_MAX ? arena_take(a, text.len + 1) : NULL;
    if (copy == NULL)
        return (str){ NULL, 0 };
    if (text.len != 0)
        memcpy(copy, text.ptr, text.len);
    return (str){ copy, text.len };
}

void arena_join(struct arena *to, struct arena *from)
{
    struct arena_block **first = &to->last;
    assert(to->last != NULL);
    while (*first != NULL)
        first = &(*first)->before;
    *first = from->last;
    to->total += from->total;
    *from = (struct arena){ .max = from->max };
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){ a->last, a->used };
}

void arena_release(struct arena *a, struct arena_mark mark)
{
    while (a->last != mark.block)
        free_last(a);
    a->used = mark.used;
}
