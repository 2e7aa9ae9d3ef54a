/* number.c - decimal digits, then one multiplication or division by a power of ten. */
#include "base/number.h"

#include <math.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool number_integer(str text, uint64_t *ret_bits, bool *ret_negative)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = negative ? 1 : 0;
    if (at == text.len)
        return false;
    uint64_t n = 0;
    for (; at < text.len; at++) {
        if (!is_digit(text.ptr[at]))
            return false;
        uint64_t digit = (uint64_t)(text.ptr[at] - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    if (negative && n > (uint64_t)1 << 63)
        return false;
    *ret_bits = negative ? 0 - n : n;
    *ret_negative = negative && n != 0;
    return true;
}

struct decimal {
    uint64_t digits;
    int64_t scale; /* power of ten */
};

/* Digits from `at` on; those that no longer fit only move the scale. */
static size_t take_digits(str text, size_t at, bool fraction, struct decimal *d)
{
    for (; at < text.len && is_digit(text.ptr[at]); at++) {
        uint64_t digit = (uint64_t)(text.ptr[at] - '0');
        /* Not a test of this digit: once one is left out, so are all behind it. */
        if (d->digits <= (UINT64_MAX - 9) / 10) {
            d->digits = d->digits * 10 + digit;
            d->scale -= fraction;
        } else {
            d->scale += !fraction;
        }
    }
    return at;
}

static size_t take_exponent(str text, size_t at, struct decimal *d)
{
    size_t mark = at++;
    bool negative = at < text.len && text.ptr[at] == '-';
    if (at < text.len && (negative || text.ptr[at] == '+'))
        at++;
    if (at == text.len)
        return mark;
    int64_t exponent = 0;
    for (; at < text.len && is_digit(text.ptr[at]); at++)
        if (exponent < 100000)
            exponent = exponent * 10 + (text.ptr[at] - '0');
    d->scale += negative ? -exponent : exponent;
    return at;
}

static double scaled(struct decimal d)
{
    /* Wider than double on most machines; both operands are exact in the cases promised. */
    long double n = (long double)d.digits;
    if (d.digits == 0 || d.scale < -400)
        return 0;
    if (d.scale > 400)
        return HUGE_VAL;
    long double power = 1, base = 10;
    for (int64_t left = d.scale < 0 ? -d.scale : d.scale; left > 0; left /= 2, base *= base)
        if (left % 2 != 0)
            power *= base;
    return (double)(d.scale < 0 ? n / power : n * power);
}

bool number_real(str text, double *ret)
{
    size_t at = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+') ? 1 : 0;
    struct decimal d = { 0, 0 };
    size_t whole = take_digits(text, at, false, &d) - at;
    at += whole;
    size_t fraction = 0;
    if (at < text.len && text.ptr[at] == '.') {
        size_t first = ++at;
        at = take_digits(text, at, true, &d);
        fraction = at - first;
    }
    if (whole + fraction == 0)
        return false;
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E'))
        at = take_exponent(text, at, &d);
    if (at != text.len)
        return false;
    double n = scaled(d);
    *ret = text.ptr[0] == '-' ? -n : n;
    return true;
}
