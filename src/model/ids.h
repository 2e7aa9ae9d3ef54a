/* ids.h - one type for each kind of row, so that a frame cannot be passed where a stack is meant.
 *
 * Interned tables (strings, frames, stacks, pools, contexts) reserve row 0 for "none".  Rows of
 * the other tables are plain indices from 0, with NO_ROW for "none". */
#ifndef VRS_MODEL_IDS_H
#define VRS_MODEL_IDS_H

#include <stdint.h>

typedef struct {
    uint32_t n;
} string_id;

typedef struct {
    uint32_t n;
} frame_id;

typedef struct {
    uint32_t n;
} stack_id;

typedef struct {
    uint32_t n;
} pool_id;

typedef struct {
    uint32_t n;
} context_id;

/* "Not known" in a column of bytes, addresses or times; no size or address of a file reaches it. */
#define UNKNOWN_U64 UINT64_MAX

/* For sums, in which what is not known counts nothing. */
static inline uint64_t known_or_0(uint64_t value)
{
    return value == UNKNOWN_U64 ? 0 : value;
}

#endif
