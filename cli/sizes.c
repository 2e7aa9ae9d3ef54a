/* sizes.c - sizes as people type them. */
#include "sizes.h"

#include <stddef.h>
#include <strings.h>

static const struct {
    const char *name;
    uint64_t bytes;
} units[] = {
    { "", 1 },
    { "B", 1 },
    { "KiB", UINT64_C(1) << 10 },
    { "MiB", UINT64_C(1) << 20 },
    { "GiB", UINT64_C(1) << 30 },
    { "TiB", UINT64_C(1) << 40 },
    { "KB", 1000 },
    { "MB", UINT64_C(1000) * 1000 },
    { "GB", UINT64_C(1000) * 1000 * 1000 },
    { "TB", UINT64_C(1000) * 1000 * 1000 * 1000 },
};

/* Reads digits, at least one, into `*n`; NULL where there is none or they do not fit. */
static const char *digits(const char *at, uint64_t *n, uint64_t *ret_scale)
{
    const char *start = at;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (*n > (UINT64_MAX - digit) / 10 || *ret_scale > UINT64_MAX / 10)
            return NULL;
        *n = *n * 10 + digit;
        *ret_scale *= 10;
    }
    return at == start ? NULL : at;
}

bool size_parse(const char *text, uint64_t *ret)
{
    uint64_t whole = 0, part = 0, scale = 1, ignored = 1;
    const char *at = digits(text, &whole, &ignored);
    if (at != NULL && *at == '.')
        at = digits(at + 1, &part, &scale);
    if (at == NULL || scale > 1000000)
        return false;
    while (*at == ' ')
        at++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        uint64_t unit = units[i].bytes;
        if (strcasecmp(at, units[i].name) != 0)
            continue;
        /* Six decimals of a terabyte still fit. */
        uint64_t more = part * (unit / scale) + part * (unit % scale) / scale;
        if (whole > (UINT64_MAX - more) / unit)
            return false;
        *ret = whole * unit + more;
        return true;
    }
    return false;
}
