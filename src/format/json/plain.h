/* plain.h - how far a run of bytes of one kind goes, 16 bytes at a time where the processor's base
 * set has loads of so many. */
#ifndef VRS_FORMAT_JSON_PLAIN_H
#define VRS_FORMAT_JSON_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>
#elif defined __ARM_NEON && defined __aarch64__
#include <arm_neon.h>
#endif

#include "base/number.h"
#include "format/input/window.h"

static inline bool is_plain(uint8_t c)
{
    return c != '"' && c != '\\' && c >= ' ';
}

/* Of a string: the first byte from `at` on, in a window that ends at `end`, that is not plain; `end` where there
 * is none.  The zeros behind a window end the run. */
static inline const uint8_t *plain_end(const uint8_t *at, const uint8_t *end)
{
#if defined __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(' ' - 1);
    while (at < end) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i special = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash));
        special = _mm_or_si128(special, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
        unsigned found = (unsigned)_mm_movemask_epi8(special);
        if (found != 0) {
            at += __builtin_ctz(found);
            break;
        }
        at += WINDOW_PAD_BYTES;
    }
    return at < end ? at : end;
#elif defined __ARM_NEON && defined __aarch64__
    const uint8x16_t quote = vdupq_n_u8('"'), backslash = vdupq_n_u8('\\');
    const uint8x16_t space = vdupq_n_u8(' ');
    while (at < end) {
        uint8x16_t v = vld1q_u8(at);
        uint8x16_t special = vorrq_u8(vceqq_u8(v, quote), vceqq_u8(v, backslash));
        special = vorrq_u8(special, vcltq_u8(v, space));
        uint64_t found = vget_lane_u64(
            vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(special), 4)), 0);
        if (found != 0) {
            at += __builtin_ctzll(found) / 4;
            break;
        }
        at += WINDOW_PAD_BYTES;
    }
    return at < end ? at : end;
#else
    while (at < end && is_plain(*at))
        at++;
    return at;
#endif
}

/* Of a number: the first byte from `at` on, in a window, that is no digit.  The zeros behind a
 * window end the run. */
static inline const uint8_t *digits_end(const uint8_t *at)
{
#if defined __SSE2__
    /* A digit is less than 10 above '0', and less than 10 above the least of signed bytes once that
     * is at '0'. */
    const __m128i to_least = _mm_set1_epi8((char)(INT8_MIN - '0'));
    const __m128i behind = _mm_set1_epi8(INT8_MIN + 10);
    for (;; at += WINDOW_PAD_BYTES) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)at);
        unsigned digits = (unsigned)_mm_movemask_epi8(
            _mm_cmplt_epi8(_mm_add_epi8(v, to_least), behind));
        if (digits != (1u << WINDOW_PAD_BYTES) - 1)
            return at + __builtin_ctz(~digits);
    }
#else
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
#endif
}

/* Whether the 16 bytes at `at`, in a window, are `bytes` where `mask` is not zero, which is where
 * `bytes` is. */
static inline bool same_16(const uint8_t *at, const uint8_t *mask, const uint8_t *bytes)
{
#if defined __SSE2__
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i m = _mm_loadu_si128((const __m128i *)(const void *)mask);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(v, m), b)) == 0xffff;
#else
    uint64_t v[2], m[2], b[2];
    memcpy(v, at, sizeof v);
    memcpy(m, mask, sizeof m);
    memcpy(b, bytes, sizeof b);
    return ((v[0] & m[0]) ^ b[0]) == 0 && ((v[1] & m[1]) ^ b[1]) == 0;
#endif
}

/* The value of the `len` digits at `at`, 1 to NUMBER_DIGITS, in a window.  Eight at a time, the first
 * of them with zeros in front. */
static inline uint64_t digits_value(const uint8_t *at, size_t len)
{
    uint64_t value = 0;
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    size_t here = (len - 1) % 8 + 1;
    for (; len > 0; at += here, len -= here, here = 8) {
        uint64_t n;
        memcpy(&n, at, sizeof n);
        n = (n - UINT64_C(0x3030303030303030)) << (8 * (8 - here));
        value = value * 100000000 + number_of_eight(n);
    }
#else
    for (size_t i = 0; i < len; i++)
        value = value * 10 + (uint64_t)(at[i] - '0');
#endif
    return value;
}

#endif
