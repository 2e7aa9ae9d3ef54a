/* tones.h - colours made by number, as viewer/ui/draw/tones.js makes them: tones of a hue. */
#ifndef VRS_RENDER_PICTURE_TONES_H
#define VRS_RENDER_PICTURE_TONES_H

#include <stdbool.h>
#include <stdint.h>

/* How much chroma a tone has; warm ones have lightnesses of their own. */
enum tone_strength { TONE_QUIET, TONE_WARM, TONE_STRONG, TONE_STRENGTHS };

/* A hue in degrees, and which of its tones. */
struct tone {
    uint32_t hue, number;
    enum tone_strength strength;
};

/* Its colour in a theme, 0xRRGGBB. */
uint32_t tone_rgb(struct tone tone, bool dark);

#endif
