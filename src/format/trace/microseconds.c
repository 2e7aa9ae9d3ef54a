/* microseconds.c - digits with a place for the point; a double would lose a quarter of one. */
#include "format/trace/microseconds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "base/str.h"

enum { EXPONENT_MOST = 10000 };

/* The digits of a number: 123.45e6 are the digits 12345 and the exponent 4. */
struct decimal {
    const char *digit; /* with at most one point among them */
    size_t len;
    int64_t exponent; /* of ten, of the last digit */
    bool negative;
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static str without_blanks(str text)
{
    while (text.len > 0 && is_space(text.ptr[0]))
        text = (str){ text.ptr + 1, text.len - 1 };
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static size_t digits_at(str text, size_t at)
{
    size_t end = at;
    while (end < text.len && is_digit(text.ptr[end]))
        end++;
    return end - at;
}

static bool is_sign(str text, size_t at)
{
    return at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+');
}

/* What stands behind e or E; an exponent that no time has ends at EXPONENT_MOST. */
static bool exponent_read(str text, size_t at, int64_t *ret)
{
    bool negative = is_sign(text, at) && text.ptr[at] == '-';
    at += is_sign(text, at);
    size_t digits = digits_at(text, at);
    if (digits == 0 || at + digits != text.len)
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < digits && value < EXPONENT_MOST; i++)
        value = value * 10 + (text.ptr[at + i] - '0');
    *ret = negative ? -value : value;
    return true;
}

static bool decimal_read(str text, struct decimal *ret)
{
    *ret = (struct decimal){ .negative = is_sign(text, 0) && text.ptr[0] == '-' };
    size_t at = is_sign(text, 0), whole = digits_at(text, at), fraction = 0;
    ret->digit = text.ptr + at;
    if (whole == 0)
        return false;
    at += whole;
    if (at < text.len && text.ptr[at] == '.') {
        fraction = digits_at(text, ++at);
        at += fraction;
    }
    ret->len = (size_t)(text.ptr + at - ret->digit);
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        if (!exponent_read(text, at + 1, &ret->exponent))
            return false;
    } else if (at != text.len) {
        return false;
    }
    ret->exponent -= (int64_t)fraction;
    return true;
}

/* The digits up to the nanosecond, and whether the one behind them rounds up. */
static uint64_t nanoseconds(const struct decimal *d, bool *ret_beyond)
{
    const uint64_t most = (uint64_t)INT64_MAX;
    int64_t digits = 0; /* of the number, without the point */
    for (size_t i = 0; i < d->len; i++)
        digits += d->digit[i] != '.';
    int64_t wanted = digits + d->exponent + NS_DIGITS; /* digits of the result, zeros included */
    uint64_t value = 0;
    int64_t seen = 0;
    bool beyond = false, up = false;
    for (size_t i = 0; i < d->len; i++) {
        if (d->digit[i] == '.')
            continue;
        uint64_t digit = (uint64_t)(d->digit[i] - '0');
        if (seen == wanted)
            up = digit >= 5;
        if (seen++ >= wanted)
            continue;
        beyond = beyond || value > (most - digit) / 10;
        value = beyond ? most : value * 10 + digit;
    }
    for (; seen < wanted && value != 0 && !beyond; seen++) {
        beyond = value > most / 10;
        value *= 10;
    }
    beyond = beyond || (up && value == most);
    *ret_beyond = beyond;
    return beyond ? most : value + up;
}

bool microseconds_read(str text, int64_t *ret_ns, bool *ret_beyond)
{
    struct decimal d;
    if (!decimal_read(without_blanks(text), &d))
        return false;
    int64_t value = (int64_t)nanoseconds(&d, ret_beyond);
    *ret_ns = d.negative ? -value : value;
    return true;
}

bool microseconds_join(uint64_t whole, uint64_t part, size_t digits, int64_t *ret_ns)
{
    static const uint64_t scale[NS_DIGITS + 1] = { 1000, 100, 10, 1 };
    if (whole >= (uint64_t)INT64_MAX / scale[0])
        return false;
    *ret_ns = (int64_t)(whole * scale[0] + part * scale[digits]);
    return true;
}

bool microseconds_read_plain(str text, int64_t *ret_ns, bool *ret_whole)
{
    enum { WHOLE_MOST = 16 };
    uint64_t n, part = 0;
    size_t whole = number_digits(text, &n);
    size_t fraction = whole + 1 < text.len ? text.len - whole - 1 : 0;
    if (whole == 0 || whole > WHOLE_MOST || fraction > NS_DIGITS)
        return false;
    bool is_whole = whole == text.len;
    if (!is_whole && (text.ptr[whole] != '.' || fraction == 0 ||
                      number_digits((str){ text.ptr + whole + 1, fraction }, &part) != fraction))
        return false;
    *ret_whole = is_whole;
    return microseconds_join(n, part, fraction, ret_ns);
}
