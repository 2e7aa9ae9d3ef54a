/* vec.c - growth of the arrays behind vec and table. */
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

bool vec_grow(void **at, uint32_t *cap, uint32_t len, uint32_t more, uint32_t max, size_t width)
{
    if (max < len || more > max - len)
        return false;
    uint64_t wanted = (uint64_t)*cap + *cap / 2;
    if (wanted < 16)
        wanted = 16;
    if (wanted < (uint64_t)len + more)
        wanted = (uint64_t)len + more;
    if (wanted > max)
        wanted = max;
    if (!vec_resize(at, (size_t)wanted, width))
        return false;
    *cap = (uint32_t)wanted;
    return true;
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
