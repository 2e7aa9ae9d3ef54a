/* palette.c - two themes, as spec and stylesheet have them; a test compares. */
#include "render/picture/palette.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static const struct palette palettes[2] = {
    { .dark = false,
      .slot = { 0x336ed7, 0x926500, 0x3e986e, 0xba084b, 0xe37730, 0x0498ff, 0x622691, 0x9e82b4,
                0x414c19, 0x5f698c, 0x8f9194 },
      .ground = 0xffffff,
      .raised = 0xf6f8fa,
      .line = 0xd0d7de,
      .control = 0x57606a,
      .text = 0x1b1f24,
      .muted = 0x57606a,
      .problem = 0xb00020,
      .advice = 0x8a5a00,
      .focus = 0x0b57d0,
      .free = 0xeef1f4,
      .hatch = 0x8c959f },
    { .dark = true,
      .slot = { 0x097eff, 0xffd633, 0x5cc39f, 0xe63360, 0xf18a3c, 0xbae4ff, 0xd39cfa, 0x92a8b9,
                0xd3e49a, 0x5569a0, 0x848689 },
      .ground = 0x15181d,
      .raised = 0x1c2027,
      .line = 0x343b45,
      .control = 0x9aa4b0,
      .text = 0xe6e9ee,
      .muted = 0x9aa4b0,
      .problem = 0xff8a80,
      .advice = 0xf0b84a,
      .focus = 0x9ecbff,
      .free = 0x262b33,
      .hatch = 0x6b7480 },
};

const struct palette *palette_of(bool dark)
{
    return &palettes[dark];
}

static uint32_t rounded(double v)
{
    return (uint32_t)(v + 0.5);
}

uint32_t palette_mixed(uint32_t rgb, uint32_t other, double part)
{
    uint32_t out = 0;
    for (uint32_t shift = 0; shift < 24; shift += 8) {
        double a = rgb >> shift & 255, b = other >> shift & 255;
        out |= rounded(b + (a - b) * part) << shift;
    }
    return out;
}

/* The slot of a category. */
static const uint8_t slots[CATEGORIES] = {
    [CATEGORY_PARAMETER] = 0,
    [CATEGORY_BUFFER] = 0,
    [CATEGORY_GRADIENT] = 1,
    [CATEGORY_OPTIMIZER_STATE] = 2,
    [CATEGORY_PARAMETER_COPY] = 2,
    [CATEGORY_OPTIMIZER_TEMP] = 3,
    [CATEGORY_ACTIVATION] = 4,
    [CATEGORY_INPUT] = 5,
    [CATEGORY_KV_CACHE] = 5,
    [CATEGORY_TEMPORARY] = 6,
    [CATEGORY_AUTOGRAD_DETAIL] = 7,
    [CATEGORY_WORKSPACE] = 8,
    [CATEGORY_COMMUNICATION] = 8,
    [CATEGORY_PERSISTENT] = 9,
    [CATEGORY_UNKNOWN] = PALETTE_OTHER,
};

/* Whether it shares its hue with another, of which it is a tint. */
static bool is_second(enum category category)
{
    return category == CATEGORY_BUFFER || category == CATEGORY_PARAMETER_COPY ||
           category == CATEGORY_KV_CACHE || category == CATEGORY_COMMUNICATION;
}

struct group_colour palette_category(enum category category)
{
    struct group_colour colour = { 0 };
    for (uint32_t dark = 0; dark < 2; dark++) {
        uint32_t rgb = palettes[dark].slot[slots[category]];
        colour.rgb[dark] =
            is_second(category) ? palette_mixed(rgb, dark != 0 ? 0xffffff : 0, 0.68) : rgb;
    }
    return colour;
}

struct group_colour palette_other(void)
{
    return palette_category(CATEGORY_UNKNOWN);
}

uint32_t palette_edge(const struct palette *p, uint32_t rgb)
{
    return palette_mixed(rgb, p->ground, 0.7);
}

/* A part of a colour as light: sRGB decoded. */
static double light_of(uint32_t v)
{
    double c = v / 255.0;
    return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

uint32_t palette_ink(uint32_t rgb)
{
    double light = 0.2126 * light_of(rgb >> 16) + 0.7152 * light_of(rgb >> 8 & 255) +
                   0.0722 * light_of(rgb & 255);
    return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? 0x000000 : 0xffffff;
}
