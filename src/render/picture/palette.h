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

/* The colour of a group in each theme, the light one first. */
struct group_colour {
    uint32_t rgb[2];
};

struct group_colour palette_category(enum category category);

/* Of what has no colour of its own. */
struct group_colour palette_other(void);

/* `part` of one colour, the rest of another. */
uint32_t palette_mixed(uint32_t rgb, uint32_t other, double part);

/* The edge that sets a band of a colour off from its neighbour. */
uint32_t palette_edge(const struct palette *p, uint32_t rgb);

/* Black or white, whichever reads better on a colour. */
uint32_t palette_ink(uint32_t rgb);

#endif
