/* scan.h - the tokens of JSON that stand without quotes: numbers, true, false, null. */
#ifndef VRS_FORMAT_JSON_SCAN_H
#define VRS_FORMAT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "format/input/window.h"
#include "format/json/plain.h"

/* Python's json module also writes NaN, Infinity and -Infinity: they are taken as null. */
enum json_literal { JSON_NULL, JSON_FALSE, JSON_TRUE };

enum json_scan {
    JSON_SCAN_WHOLE,
    JSON_SCAN_CUT,  /* the input ends, or fails, inside; the window stands at its end */
    JSON_SCAN_WRONG /* no such token; the window stays where it is */
};

enum { NUMBER_BYTES = 400 };

static inline bool json_in_number(uint8_t c)
{
    return is_digit((char)c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* The number at the window's front, as it is written; `*ret` lives as long as the window stays. */
enum json_scan json_scan_number(struct window *w, str *ret);

/* The same of a number as nearly all are: one that the window shows whole, with something behind
 * it, and without an exponent; `*ret_whole` digits stand in front of its point.  False, and the
 * window stays, where it is another or none. */
static inline bool json_scan_digits(struct window *w, str *ret, size_t *ret_whole)
{
    /* In one pass.  The zeros behind a window end the digits. */
    const uint8_t *first = w->at + (*w->at == '-'), *at = digits_end(first);
    if (at == first || (*first == '0' && at > first + 1))
        return false;
    *ret_whole = (size_t)(at - first);
    if (*at == '.') {
        const uint8_t *fraction = ++at;
        at = digits_end(fraction);
        if (at == fraction)
            return false;
    }
    if (at >= w->end || at - w->at >= NUMBER_BYTES || json_in_number(*at))
        return false;
    *ret = (str){ (const char *)w->at, (size_t)(at - w->at) };
    w->at = at;
    return true;
}

static inline bool json_scan_common(struct window *w, str *ret)
{
    size_t whole;
    return json_scan_digits(w, ret, &whole);
}

/* A string without escapes that the window shows whole, of `most` bytes at most, at its opening quote;
 * `*ret_end` is behind the closing one.  False where it is another one. */
static inline bool json_scan_text(const struct window *w, const uint8_t *at, uint32_t most, str *ret,
                                  const uint8_t **ret_end)
{
    const uint8_t *end = plain_end(at + 1, w->end);
    size_t len = (size_t)(end - at) - 1;
    if (*end != '"' || end == w->end || len > most)
        return false;
    *ret = (str){ (const char *)at + 1, len };
    *ret_end = end + 1;
    return true;
}

/* The word at the window's front. */
enum json_scan json_scan_literal(struct window *w, enum json_literal *ret);

#endif
