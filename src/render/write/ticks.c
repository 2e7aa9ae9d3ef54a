/* ticks.c - ticks and their labels. */
#include "render/write/ticks.h"

#include <stdint.h>
#include <stdio.h>

#include "base/number.h"

/* The smallest of `steps` times a power of `base` that is at least `least`. */
static double step_up(double least, const double *steps, uint32_t count, double base)
{
    double scale = 1;
    while (scale * base <= least)
        scale *= base;
    for (uint32_t i = 0; i < count; i++)
        if (steps[i] * scale >= least)
            return steps[i] * scale;
    return base * scale;
}

static void write_bytes(double bytes, double step, char to[TICK_TEXT])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double value = bytes < 0 ? -bytes : bytes;
    uint32_t unit = 0;
    (void)step;
    for (; value >= 1024 && unit < 6; unit++)
        value /= 1024;
    snprintf(to, TICK_TEXT, "%.4g %s", bytes < 0 ? -value : value, units[unit]);
    number_set_point(to);
}

static void write_count(double n, double step, char to[TICK_TEXT])
{
    if (n >= 1e6 && step >= 1e5)
        snprintf(to, TICK_TEXT, "%.6g M", n / 1e6);
    else if (n >= 1e4 && step >= 1e3)
        snprintf(to, TICK_TEXT, "%.6g k", n / 1e3);
    else
        snprintf(to, TICK_TEXT, "%.0f", n);
    number_set_point(to);
}

static uint32_t between(double low, double high, double step,
                        void (*write)(double, double, char[TICK_TEXT]),
                        struct tick ticks[TICKS_MOST])
{
    uint32_t count = 0;
    /* Whole numbers of steps fit: a step is no less than a 64th of the span. */
    int64_t first = (int64_t)(low / step);
    first += (double)first * step < low;
    for (int64_t i = first; (double)i * step <= high && count < TICKS_MOST; i++) {
        ticks[count].value = (double)i * step;
        write((double)i * step, step, ticks[count++].text);
    }
    return count;
}

uint32_t ticks_bytes(double low, double high, uint32_t most, struct tick ticks[TICKS_MOST])
{
    static const double steps[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
    double span = high - low > 1 ? high - low : 1;
    return between(low, high, step_up(span / (most > 0 ? most : 1), steps, 10, 1024), write_bytes,
                   ticks);
}

uint32_t ticks_count(double low, double high, uint32_t most, struct tick ticks[TICKS_MOST])
{
    static const double steps[] = { 1, 2, 5 };
    double step = step_up((high - low) / (most > 0 ? most : 1), steps, 3, 10);
    return between(low, high, step > 1 ? step : 1, write_count, ticks);
}

static void write_real(double value, double step, char to[TICK_TEXT])
{
    (void)step;
    snprintf(to, TICK_TEXT, "%.6g", value);
    number_set_point(to);
}

uint32_t ticks_real(double low, double high, uint32_t most, struct tick ticks[TICKS_MOST])
{
    static const double steps[] = { 1, 2, 5 };
    double span = high - low, scale = 1;
    double least = span / (most > 0 ? most : 1);
    /* Steps that doubles, or whole numbers of them, do not tell apart. */
    if (!(least > 1e-290 && least < 1e290) || low > 1e12 * span || low < -1e12 * span)
        return 0;
    while (least * scale < 1)
        scale *= 10;
    return between(low, high, step_up(least * scale, steps, 3, 10) / scale, write_real, ticks);
}
