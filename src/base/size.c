/* size.c - a decimal number and a unit. */
#include "base/size.h"

#include <stddef.h>
#include <stdio.h>

enum { SCALE_MOST = 1000000 };

static const struct {
    const char *name; /* in small letters */
    uint64_t bytes;
} units[] = {
    { "", 1 },
    { "b", 1 },
    { "kib", UINT64_C(1) << 10 },
    { "mib", UINT64_C(1) << 20 },
    { "gib", UINT64_C(1) << 30 },
    { "tib", UINT64_C(1) << 40 },
    { "pib", UINT64_C(1) << 50 },
    { "eib", UINT64_C(1) << 60 },
    { "kb", 1000 },
    { "mb", UINT64_C(1000) * 1000 },
    { "gb", UINT64_C(1000) * 1000 * 1000 },
    { "tb", UINT64_C(1000) * 1000 * 1000 * 1000 },
};

/* At least one digit; `*ret_scale` is ten to the power of their number. */
static bool take_digits(str *text, uint64_t *ret, uint64_t *ret_scale)
{
    size_t at = 0;
    *ret = 0;
    *ret_scale = 1;
    for (; at < text->len && text->ptr[at] >= '0' && text->ptr[at] <= '9'; at++) {
        uint64_t digit = (uint64_t)(text->ptr[at] - '0');
        if (*ret > (UINT64_MAX - digit) / 10)
            return false;
        *ret = *ret * 10 + digit;
        /* Of a whole number nobody asks for it. */
        *ret_scale = *ret_scale > SCALE_MOST ? *ret_scale : *ret_scale * 10;
    }
    *text = (str){ text->ptr + at, text->len - at };
    return at > 0;
}

bool decimal_take(str *text, struct decimal *ret)
{
    uint64_t ignored;
    struct decimal n = { 0, 0, 1 };
    if (!take_digits(text, &n.whole, &ignored))
        return false;
    if (text->len > 0 && text->ptr[0] == '.') {
        *text = (str){ text->ptr + 1, text->len - 1 };
        if (!take_digits(text, &n.part, &n.scale) || n.scale > SCALE_MOST)
            return false;
    }
    *ret = n;
    return true;
}

static bool same_letters(str text, const char *lower)
{
    size_t i = 0;
    for (; i < text.len && lower[i] != '\0'; i++) {
        char c = text.ptr[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != lower[i])
            return false;
    }
    return i == text.len && lower[i] == '\0';
}

bool size_read(str text, uint64_t *ret)
{
    struct decimal n;
    if (!decimal_take(&text, &n))
        return false;
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = (str){ text.ptr + 1, text.len - 1 };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        uint64_t unit = units[i].bytes;
        if (!same_letters(text, units[i].name))
            continue;
        /* Six decimals of the largest unit still fit. */
        uint64_t more = n.part * (unit / n.scale) + n.part * (unit % n.scale) / n.scale;
        if (n.whole > (UINT64_MAX - more) / unit)
            return false;
        *ret = n.whole * unit + more;
        return true;
    }
    return false;
}

bool duration_read(str text, int64_t *ret)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } times[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
    struct decimal n;
    if (!decimal_take(&text, &n))
        return false;
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = (str){ text.ptr + 1, text.len - 1 };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        uint64_t unit = times[i].ns;
        if (!str_equal(text, str_from(times[i].name)))
            continue;
        uint64_t more = n.part * unit / n.scale;
        if (n.whole > ((uint64_t)INT64_MAX - more) / unit)
            return false;
        *ret = (int64_t)(n.whole * unit + more);
        return true;
    }
    return false;
}

/* a / b to the nearest, half to even. */
static uint64_t divide(uint64_t a, uint64_t b)
{
    uint64_t n = a / b, rest = a % b;
    if (rest > b - rest || (rest == b - rest && n % 2 == 1))
        n++;
    return n;
}

bool share_read(str text, uint64_t *ret)
{
    enum { LEN_MOST = 32, WHOLE_MOST = 1000000000 };
    uint64_t whole = 0, scale = 10000, millionths = 0;
    bool digit = false, point = false;
    if (text.len < 2 || text.len > LEN_MOST || text.ptr[text.len - 1] != '%')
        return false;
    for (size_t i = 0; i + 1 < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9' || whole > WHOLE_MOST)
            return false;
        digit = true;
        if (point)
            millionths += (uint64_t)(c - '0') * (scale /= 10);
        else
            whole = whole * 10 + (uint64_t)(c - '0');
    }
    if (digit)
        *ret = whole * 10000 + millionths;
    return digit;
}

void size_write(uint64_t bytes, char to[SIZE_TEXT])
{
    static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    enum { UNITS = sizeof names / sizeof *names };
    uint64_t whole = 0, hundredths = 0;
    uint32_t unit = 0;
    do {
        /* Of EiB the last bits are cut first, or the product would wrap. */
        uint64_t one = UINT64_C(1) << (10 * (unit + 1)), scale = unit + 1 == UNITS ? 1024 : 1;
        whole = bytes / one;
        hundredths = divide(bytes % one / scale * 100, one / scale);
        whole += hundredths / 100;
        hundredths %= 100;
        /* Hundredths that would round to 1024.00 belong to the next unit. */
    } while (whole >= 1024 && ++unit < UNITS);
    snprintf(to, SIZE_TEXT, "%llu.%02u %s", (unsigned long long)whole, (unsigned)hundredths,
             names[unit < UNITS ? unit : UNITS - 1]);
}
