/* arena.h - arena allocator: many small objects that are freed together.
 *
 * A chain of blocks; allocation bumps a pointer and never moves what was handed out.  Scratch use
 * is arena_mark at the top of a function and arena_release at its one exit. */
#ifndef VRS_BASE_ARENA_H
#define VRS_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *last;
    size_t used;  /* of the last block */
    size_t total; /* bytes of all blocks */
    size_t max;   /* total never passes it */
};

struct arena_mark {
    struct arena_block *block;
    size_t used;
};

void arena_init(struct arena *a, size_t max);
void arena_free(struct arena *a);

/* `size` zeroed bytes, aligned for any type; NULL when memory or `max` ran out. */
void *arena_take(struct arena *a, size_t size);

/* `count` zeroed elements. */
#define arena_array(a, type, count) ((type *)arena_take_array((a), (count), sizeof(type)))
void *arena_take_array(struct arena *a, size_t count, size_t width);

/* A copy that lives as long as the arena, with a NUL behind it; ptr is NULL on failure. */
str arena_copy(struct arena *a, str text);

/* Gives all of `from` to `to`, below every mark of it, which so has to hold something already;
 * `from` is empty then. */
void arena_join(struct arena *to, struct arena *from);

struct arena_mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);

#endif
