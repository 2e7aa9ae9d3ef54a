/* vec.c - growth of the arrays behind vec and table. */
#define _DEFAULT_SOURCE
#include "base/vec.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

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

bool vec_expect(void **at, uint32_t cap, size_t width)
{
    if (!vec_resize(at, cap, width))
        return false;
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)2 << 20;
    uintptr_t begin = ((uintptr_t)*at + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)*at + (size_t)cap * width) & ~(page - 1);
    if (end > begin)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* only speed is at stake */
#endif
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
