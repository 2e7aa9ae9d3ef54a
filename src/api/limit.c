/* limit.c - limits for a change: from a text, and from options to what analyses take. */
#include "api/limit.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/noise.h"
#include "base/size.h"
#include "base/str.h"
#include "vramscope/vramscope.h"

bool vrs_read_fail_over(const char *text, struct vrs_fail_over *ret)
{
    str word = str_from(text);
    uint64_t n = 0;
    int64_t ns = 0;
    if (share_read(word, &n) && n < UINT64_MAX)
        *ret = (struct vrs_fail_over){ .millionths = n + 1 };
    else if (size_read(word, &n) && n < UINT64_MAX)
        *ret = (struct vrs_fail_over){ .bytes = n + 1 };
    else if (duration_read(word, &ns) && ns < INT64_MAX)
        *ret = (struct vrs_fail_over){ .ns = ns + 1 };
    else
        return false;
    return true;
}

bool limit_from(int64_t fail_over_ns, uint64_t fail_over_millionths, struct noise_limit *ret)
{
    const double million = 1e6;
    *ret = (struct noise_limit){ .is_ratio = fail_over_ns == 0 };
    if (fail_over_ns != 0)
        ret->ns = fail_over_ns - 1;
    else if (fail_over_millionths != 0)
        ret->ratio = (double)(fail_over_millionths - 1) / million;
    return fail_over_ns != 0 || fail_over_millionths != 0;
}
