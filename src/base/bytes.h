/* bytes.h - integers out of bytes, and sums, products and percentages that cannot overflow. */
#ifndef VRS_BASE_BYTES_H
#define VRS_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a * b, or false when that does not fit; `*ret` is then untouched. */
static inline bool size_mul(size_t a, size_t b, size_t *ret)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *ret = a * b;
    return true;
}

/* a + b, or false when that does not fit; `*ret` is then untouched. */
static inline bool i64_add(int64_t a, int64_t b, int64_t *ret)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *ret = a + b;
    return true;
}

/* Sums of sizes and times that a file may have made up, saturating: the number nearest to the result
 * where that does not fit. */
static inline int64_t i64_plus(int64_t a, int64_t b)
{
    if (b > 0)
        return a > INT64_MAX - b ? INT64_MAX : a + b;
    return a < INT64_MIN - b ? INT64_MIN : a + b;
}

static inline int64_t i64_minus(int64_t a, int64_t b)
{
    if (b > 0)
        return a < INT64_MIN + b ? INT64_MIN : a - b;
    return a > INT64_MAX + b ? INT64_MAX : a - b;
}

/* What does not fit wraps around. */
static inline int64_t i64_times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* The nearest that there is: 0 for what is no number. */
static inline int64_t i64_of_double(double value)
{
    const double beyond = 9223372036854775808.0;
    if (!(value > -beyond))
        return value <= -beyond ? INT64_MIN : 0;
    return value < beyond ? (int64_t)value : INT64_MAX;
}

/* Saturating: the largest number where the result does not fit. */
static inline uint64_t u64_plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t u64_times(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Rounded down. */
static inline uint64_t percent_of(uint64_t whole, uint64_t percent)
{
    return whole / 100 * percent + whole % 100 * percent / 100;
}

static inline uint16_t load_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    return load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}

static inline void store_le32(uint8_t *p, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(n >> (8 * i));
}

static inline uint64_t load_be64(const uint8_t *p)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n = n << 8 | p[i];
    return n;
}

#endif
