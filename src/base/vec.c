/* vec.c - growth of the dynamic arrays behind vec and table. */
#include "base/vec.h"

#include <assert.h>
#include <stdlib.h>

#include "base/bytes.h"

bool vec_resize(void **at, size_t count, size_t width)
{
    if (count == 0) {
        free(*at);
        *at = NULL;
        return true;
    }
    assert(width != 0);
    size_t size;
    if (!size_mul(count, width, &size))
        return false;
    void *grown = realloc(*at, size);
    if (grown == NULL)
        return false;
    *at = grown;
    return true;
}

/* From so many elements on an array grows to three times its size: room that is not touched costs
 * address space alone, and a move that large pages do not survive costs more. */
enum { LARGE_COUNT = 1 << 19 };

static bool grow_to(void **at, uint32_t *cap, uint64_t count, uint32_t max, size_t width)
{
    if (count > max)
        count = max;
    if (!vec_resize(at, (size_t)count, width))
        return false;
    *cap = (uint32_t)count;
    return true;
}

bool vec_grow(void **at, uint32_t *cap, uint32_t len, uint32_t more, uint32_t max, size_t width)
{
    if (max < len || more > max - len)
        return false;
    uint64_t least = (uint64_t)len + more, little = (uint64_t)*cap + *cap / 2;
    if (least < 16)
        least = 16;
    if (little < least)
        little = least;
    if (*cap >= LARGE_COUNT && little < 3 * (uint64_t)*cap &&
        grow_to(at, cap, 3 * (uint64_t)*cap, max, width))
        return true;
    return grow_to(at, cap, little, max, width);
}

void *vec_lend(void *none, unsigned count, unsigned width)
{
    (void)none;
    void *lent = NULL;
    return vec_resize(&lent, count, width) ? lent : NULL;
}

void vec_give_back(void *none, void *lent)
{
    (void)none;
    vec_resize(&lent, 0, 0);
}
