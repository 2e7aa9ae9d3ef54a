/* palette.h - the colours of pictures in files: those of viewer/style.css, by slot and use. */
#ifndef VRS_RENDER_PICTURE_PALETTE_H
#define VRS_RENDER_PICTURE_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"

/* Slots of groups; the last is for what has no colour of its own. */
enum { PALETTE_SLOTS = 10, PALETTE_OTHER = PALETTE_SLOTS - 1 };

/* Colours are 0xRRGGBB. */
struct palette {
    bool dark;
    uint32_t slot[PALETTE_SLOTS];
    bool black_on[PALETTE_SLOTS]; /* by contrast; else white reads better */
    uint32_t ground, raised, line, control, text, muted, problem, advice, focus, free, hatch;
};

const struct palette *palette_of(bool dark);

/* The slot of a category, and whether it shares the colour with another: then it is striped. */
void palette_category(enum category category, uint8_t *slot, bool *second);

/* A slot's colour, away from the background by one of eight shades. */
uint32_t palette_shade(const struct palette *p, uint32_t slot, uint32_t shade);

/* Black or white, whichever reads better on a slot. */
uint32_t palette_ink(const struct palette *p, uint32_t slot);

#endif
