/* font.h - a small bitmap font for pictures: ASCII, and the few others that pictures use. */
#ifndef VRS_RENDER_WRITE_FONT_H
#define VRS_RENDER_WRITE_FONT_H

#include <stdbool.h>
#include <stdint.h>

/* Dots of a letter; FONT_ASCENT of its rows stand on the line.  The next one begins FONT_ADVANCE
 * dots to the right. */
enum { FONT_WIDTH = 5, FONT_HEIGHT = 10, FONT_ASCENT = 8, FONT_ADVANCE = 6 };

/* Whether a letter has a dot there; letters that the font has not are "?", narrow blanks blank. */
bool font_dot(uint32_t point, uint32_t x, uint32_t y);

#endif
