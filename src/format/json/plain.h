/* plain.h - how far a run of bytes of one kind goes, 16 bytes at a time where the processor's base
 * set has loads of so many. */
#ifndef VRS_FORMAT_JSON_PLAIN_H
#define VRS_FORMAT_JSON_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#if defined __SSE2__
#include <emmintrin.h>
#elif defined __ARM_NEON && defined __aarch64__
#include <arm_neon.h>
#endif

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

#endif
