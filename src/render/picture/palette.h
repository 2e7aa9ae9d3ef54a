/* palette.h - the colours of pictures in files: those of viewer/style.css, by slot and use. */
#ifndef VRS_RENDER_PICTURE_PALETTE_H
#define VRS_RENDER_PICTURE_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"

/* Slots of groups; the last is for what has no colour of its own. */
enum { PALETTE_SLOTS = 11, PALETTE_OTHER = PALETTE_SLOTS - 1 };

/* Colours are 0xRRGGBB. */
struct palette {
    bool dark;
    uint32_t slot[PALETTE_SLOTS];
    uint32_t ground, raised, line, control, text, muted, problem, advice, focus, free, hatch;
};

const struct palette *palette_of(bool dark);

/* The slot of a category, and whether it shares the hue with another, of which it is a tint. */
void palette_category(enum category category, uint8_t *slot, bool *second);

/* `part` of one colour, the rest of another. */
uint32_t palette_mixed(uint32_t rgb, uint32_t other, double part);

/* The colour of a slot, or its tint. */
uint32_t palette_colour(const struct palette *p, uint32_t slot, bool second);

/* A colour, away from the background by one of eight shades. */
uint32_t palette_shade(const struct palette *p, uint32_t rgb, uint32_t shade);

/* The edge that sets a band of a colour off from its neighbour. */
uint32_t palette_edge(const struct palette *p, uint32_t rgb);

/* Black or white, whichever reads better on a colour. */
uint32_t palette_ink(uint32_t rgb);

#endif
