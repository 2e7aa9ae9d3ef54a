/* number.c - numbers through the C library, made independent of its locale. */
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 8 };

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* Eight characters as lanes of one number: a digit is 0x30 to 0x39, and with 6 more still 0x3_. */
static bool eight_digits(const char *text, uint64_t *ret)
{
    const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0), zeros = UINT64_C(0x3030303030303030);
    uint64_t n;
    memcpy(&n, text, sizeof n);
    if ((n & high) != zeros || ((n + UINT64_C(0x0606060606060606)) & high) != zeros)
        return false;
    *ret = number_of_eight(n - zeros);
    return true;
}

#else

static bool eight_digits(const char *text, uint64_t *ret)
{
    *ret = 0;
    for (int i = 0; i < AT_ONCE; i++) {
        if (!is_digit(text[i]))
            return false;
        *ret = *ret * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

#endif

size_t number_digits(str text, uint64_t *ret)
{
    size_t most = text.len < NUMBER_DIGITS ? text.len : NUMBER_DIGITS, at = 0;
    uint64_t n = 0, eight;
    for (; most - at >= AT_ONCE && eight_digits(text.ptr + at, &eight); at += AT_ONCE)
        n = n * 100000000 + eight;
    for (; at < most && is_digit(text.ptr[at]); at++)
        n = n * 10 + (uint64_t)(text.ptr[at] - '0');
    *ret = n;
    return at;
}

bool number_integer(str text, uint64_t *ret_bits, bool *ret_negative)
{
    bool negative = text.len != 0 && text.ptr[0] == '-';
    bool sign = text.len != 0 && (negative || text.ptr[0] == '+');
    uint64_t n = 0;
    for (size_t i = sign; i < text.len; i++) {
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        if (digit > 9 || n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    if (text.len == (size_t)sign || (negative && n > (uint64_t)1 << 63))
        return false;
    *ret_bits = negative ? 0 - n : n;
    *ret_negative = negative && n != 0;
    return true;
}

bool number_hex(str text, uint32_t *ret)
{
    uint32_t n = 0;
    if (text.len == 0 || text.len > 8)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return false;
        n = n << 4 | (uint32_t)digit;
    }
    *ret = n;
    return true;
}

bool number_real(str text, double *ret)
{
    char copy[401];
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.ptr, '\0', text.len) != NULL)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    char *end;
    *ret = strtod(copy, &end);
    if (*end == '.') {
        /* A locale whose decimal point is a comma; the library may not change it. */
        *end = ',';
        *ret = strtod(copy, &end);
    }
    return *end == '\0';
}

void number_set_point(char *text)
{
    char *point = text + (*text == '-');
    while (is_digit(*point))
        point++;
    size_t len = 0;
    while (point[len] != '\0' && strchr("e ", point[len]) == NULL && !is_digit(point[len]))
        len++;
    /* What is not between two digits is no point: "inf". */
    if (len == 0 || !is_digit(point[len]) || point == text || !is_digit(point[-1]))
        return;
    *point = '.';
    memmove(point + 1, point + len, strlen(point + len) + 1);
}
