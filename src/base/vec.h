/* vec.h - a dynamic array that may grow to the size of the input.
 *
 * Invariants: len <= cap <= max; `at` is NULL exactly when cap is 0.  `max` is given when the
 * vec is made, so that hostile input cannot make it eat the machine. */
#ifndef VRS_BASE_VEC_H
#define VRS_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t len, cap, max;                                                                    \
    }

/* Makes room for `more` elements; false when that passes `max` or memory ran out. */
#define vec_reserve(v, more)                                                                       \
    ((v)->cap - (v)->len >= (more) ||                                                              \
     vec_grow((void **)&(v)->at, &(v)->cap, (v)->len, (more), (v)->max, sizeof *(v)->at))

/* Appends; false as above, and the vec is then unchanged. */
#define vec_push(v, ...) (vec_reserve(v, 1) && ((v)->at[(v)->len++] = (__VA_ARGS__), true))

#define vec_free(v) (vec_resize((void **)&(v)->at, 0, 0), (v)->len = (v)->cap = 0)

/* The two functions under the macros; base/table.c stands on them too. */
bool vec_grow(void **at, uint32_t *cap, uint32_t len, uint32_t more, uint32_t max, size_t width);

/* realloc by another name: `count` elements of `width` bytes; a count of 0 frees. */
bool vec_resize(void **at, size_t count, size_t width);

/* The same for zlib, which asks for its memory by such functions; NULL on failure. */
void *vec_lend(void *none, unsigned count, unsigned width);
void vec_give_back(void *none, void *lent);

#endif
