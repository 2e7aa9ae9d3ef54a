/* ticks.h - where the ticks of an axis lie and what they say, as viewer/ui/draw/axis.js. */
#ifndef VRS_RENDER_WRITE_TICKS_H
#define VRS_RENDER_WRITE_TICKS_H

#include <stdint.h>

enum { TICKS_MOST = 64, TICK_TEXT = 24 };

struct tick {
    double value;
    char text[TICK_TEXT];
};

/* Multiples of a power of two times the units of bytes, at most about `most`; the count. */
uint32_t ticks_bytes(double low, double high, uint32_t most, struct tick ticks[TICKS_MOST]);

/* 1-2-5 steps of whole numbers: "1.2 M", "48 k", "300". */
uint32_t ticks_count(double low, double high, uint32_t most, struct tick ticks[TICKS_MOST]);

/* 1-2-5 steps, also below one: "0.002", "1.5", "300"; none where the span is nothing beside its
 * ends. */
uint32_t ticks_real(double low, double high, uint32_t most, struct tick ticks[TICKS_MOST]);

#endif
