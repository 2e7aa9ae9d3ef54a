/* human.c - numbers as people read them. */
#include "render/write/human.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/size.h"
#include "base/str.h"

void human_bytes(struct buf *to, int64_t bytes)
{
    uint64_t n = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    char text[SIZE_TEXT];
    if (bytes < 0)
        buf_char(to, '-');
    if (n < 1024) {
        buf_format(to, "%u B", (unsigned)n);
        return;
    }
    size_write(n, text);
    buf_text(to, text);
}

void human_known_bytes(struct buf *to, uint64_t bytes)
{
    if (bytes == UINT64_MAX)
        buf_char(to, '-');
    else
        human_bytes(to, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

void human_count(struct buf *to, uint64_t count, bool ascii)
{
    uint64_t group = 1;
    while (count / group >= 1000)
        group *= 1000;
    buf_u64(to, count / group);
    while ((group /= 1000) != 0)
        buf_format(to, "%s%03u", ascii ? "," : "\u202f", (unsigned)(count / group % 1000));
}

void human_counted(struct buf *to, uint64_t count, const char *one, bool ascii)
{
    human_count(to, count, ascii);
    bool hisses = str_ends(str_from(one), S("s"));
    buf_format(to, " %s%s", one, count == 1 ? "" : hisses ? "es" : "s");
}

void human_share(struct buf *to, double ratio)
{
    if (!(ratio >= 0 && ratio <= 1e6)) {
        buf_char(to, '-');
        return;
    }
    double scaled = ratio * 1000;
    uint64_t n = (uint64_t)scaled;
    double rest = scaled - (double)n;
    if (rest > 0.5 || (rest == 0.5 && n % 2 == 1))
        n++;
    buf_format(to, "%llu.%u %%", (unsigned long long)(n / 10), (unsigned)(n % 10));
}

double share_ratio(uint64_t part, uint64_t whole)
{
    return whole == 0 ? -1 : (double)part / (double)whole;
}

/* How many whole units that is, a half or more as one. */
static uint64_t nearest(uint64_t us, uint64_t unit_us)
{
    return us / unit_us + (us % unit_us >= unit_us - us % unit_us);
}

/* Rounded first, and then asked which unit holds it: 999.96 ms is 1.00 s. */
void human_duration(struct buf *to, uint64_t us)
{
    uint64_t tenths_of_ms = nearest(us, 100), hundredths = nearest(us, 10000);
    uint64_t seconds = nearest(us, 1000000), minutes = nearest(us, 60000000);
    if (us < 1000)
        buf_format(to, "%u us", (unsigned)us);
    else if (tenths_of_ms < 10000)
        buf_format(to, "%u.%u ms", (unsigned)(tenths_of_ms / 10), (unsigned)(tenths_of_ms % 10));
    else if (hundredths < 6000)
        buf_format(to, "%u.%02u s", (unsigned)(hundredths / 100), (unsigned)(hundredths % 100));
    else if (seconds < 3600)
        buf_format(to, "%u min %02u s", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
    else
        buf_format(to, "%llu h %02u min", (unsigned long long)(minutes / 60),
                   (unsigned)(minutes % 60));
}

/* In units of so many nanoseconds, to three digits or more. */
static void put_scaled(struct buf *to, uint64_t ns, uint64_t unit_ns, const char *unit)
{
    uint64_t tenths = (ns + unit_ns / 20) / (unit_ns / 10);
    uint64_t hundredths = (ns + unit_ns / 200) / (unit_ns / 100);
    if (hundredths < 1000)
        buf_format(to, "%u.%02u %s", (unsigned)(hundredths / 100), (unsigned)(hundredths % 100),
                   unit);
    else
        buf_format(to, "%u.%u %s", (unsigned)(tenths / 10), (unsigned)(tenths % 10), unit);
}

void human_ns(struct buf *to, uint64_t ns)
{
    const uint64_t us = 1000, ms = 1000000, s = 1000000000;
    if (ns < us)
        buf_format(to, "%u ns", (unsigned)ns);
    else if (ns + us / 20 < ms) /* what would round to 1000.0 us is 1.00 ms */
        put_scaled(to, ns, us, "us");
    else if (ns + ms / 20 < s)
        put_scaled(to, ns, ms, "ms");
    else
        human_duration(to, ns / us);
}

void paint_on(struct buf *to, const struct style *style, enum paint paint)
{
    static const char *const sequences[] = {
        [PAINT_BOLD] = "\033[1m", [PAINT_DIM] = "\033[2m",   [PAINT_GOOD] = "\033[32m",
        [PAINT_BAD] = "\033[31m", [PAINT_USED] = "\033[36m",
    };
    if (style->colour)
        buf_text(to, sequences[paint]);
}

void paint_off(struct buf *to, const struct style *style)
{
    if (style->colour)
        buf_text(to, "\033[0m");
}
