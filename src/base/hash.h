/* hash.h - 64-bit hashes of bytes (XXH3) and of small numbers. */
#ifndef VRS_BASE_HASH_H
#define VRS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t len);

/* Mixes one number; two rounds of multiply and shift are enough for tables of ids. */
static inline uint64_t hash_u64(uint64_t n)
{
    n ^= n >> 32;
    n *= 0x9e3779b97f4a7c15u;
    n ^= n >> 29;
    n *= 0xbf58476d1ce4e5b9u;
    return n ^ n >> 32;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
    return hash_u64(hash_u64(a) + b);
}

#endif
