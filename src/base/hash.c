/* hash.c - the one place that compiles xxHash. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *bytes, size_t len)
{
    return XXH3_64bits(bytes, len);
}
