/* pages.c - madvise(MADV_HUGEPAGE), a hint that the system may ignore. */
#define _DEFAULT_SOURCE
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of most machines; where they are larger, small memory gets none. */
enum { LARGE_PAGE_BYTES = 2 << 20 };

void pages_expect_full(void *at, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0 || bytes < LARGE_PAGE_BYTES)
        return;
    /* The first and the last page have other bytes too, if only the allocator's own: without them a
     * mapping would be in parts. */
    size_t before = (uintptr_t)at % (size_t)page, past = (before + bytes) % (size_t)page;
    (void)madvise((char *)at - before, before + bytes + (past == 0 ? 0 : (size_t)page - past),
                  MADV_HUGEPAGE);
#else
    (void)at;
    (void)bytes;
#endif
}

void *pages_zeroed(size_t bytes)
{
    if (bytes < LARGE_PAGE_BYTES || bytes % LARGE_PAGE_BYTES != 0)
        return calloc(1, bytes);
    void *at = aligned_alloc(LARGE_PAGE_BYTES, bytes);
    if (at == NULL)
        return NULL;
    pages_expect_full(at, bytes);
    return memset(at, 0, bytes);
}
