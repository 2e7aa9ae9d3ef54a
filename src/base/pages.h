/* pages.h - huge pages for memory that will be filled.
 *
 * The system gives memory page by page as it is touched.  A large page is many of them at once,
 * which pays where none of them stays empty. */
#ifndef VRS_BASE_PAGES_H
#define VRS_BASE_PAGES_H

#include <stddef.h>

/* All of at[0 … bytes - 1] is expected to be written: asks for the large pages that lie in it.  A
 * mapping of which only a part was asked for cannot grow in its place any more, but by a copy. */
void pages_expect_full(void *at, size_t bytes);

/* Zeros, in large pages where there are enough of them; for free(), or NULL. */
void *pages_zeroed(size_t bytes);

#endif
