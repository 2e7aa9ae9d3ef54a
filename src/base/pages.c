/* pages.c - a hint to the system, whose answer makes no difference but in time. */
#define _DEFAULT_SOURCE
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { LARGE_PAGE_BYTES = 2 << 20 };

void pages_expect_full(void *at, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    size_t before = (size_t)(-(uintptr_t)at % LARGE_PAGE_BYTES);
    size_t large = bytes < before ? 0 : (bytes - before) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
    if (large > 0)
        (void)madvise((char *)at + before, large, MADV_HUGEPAGE);
#else
    (void)at;
    (void)bytes;
#endif
}
