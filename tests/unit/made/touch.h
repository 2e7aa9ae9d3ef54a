/* touch.h - makes pages resident, and nothing but these: ThreadSanitizer keeps notes four times as
 * large of what other code writes. */
#ifndef TESTS_UNIT_TOUCH_H
#define TESTS_UNIT_TOUCH_H

#include <stddef.h>

enum { PAGE_BYTES = 4096 };

__attribute__((no_sanitize("thread"))) static inline void touch(void *pages, size_t bytes)
{
    volatile char *at = pages;
    for (size_t i = 0; i < bytes; i += PAGE_BYTES)
        at[i] = 1;
}

#endif
