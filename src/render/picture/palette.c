/* palette.c - two themes, as spec and stylesheet have them; a test compares. */
#include "render/picture/palette.h"

#include <stdbool.h>
#include <stdint.h>

static const struct palette palettes[2] = {
    { .dark = false,
      .slot = { 0x2f3fc6, 0x996c00, 0x5aa090, 0xba064b, 0xd97a58, 0x597997, 0x603c69, 0x7e5dfc,
                0x4c4c00, 0x6d6d6d },
      .black_on = { 0, 0, 1, 0, 1, 1, 0, 1, 0, 0 },
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
      .slot = { 0x3278b3, 0xfeeb0f, 0x7fae88, 0xe0023f, 0xeb8a25, 0xbfe6fe, 0xb699b0, 0xb299fe,
                0xdeebb8, 0x767676 },
      .black_on = { 0, 1, 1, 0, 1, 1, 1, 1, 1, 1 },
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

void palette_category(enum category category, uint8_t *slot, bool *second)
{
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
        [CATEGORY_UNKNOWN] = PALETTE_OTHER,
        [CATEGORY_PERSISTENT] = PALETTE_OTHER,
    };
    *slot = slots[category];
    *second = category == CATEGORY_BUFFER || category == CATEGORY_PARAMETER_COPY ||
              category == CATEGORY_KV_CACHE || category == CATEGORY_COMMUNICATION ||
              category == CATEGORY_PERSISTENT;
}

/* v + (255 - v) * by, or v * (1 - by), in the arithmetic of the page. */
static uint32_t shaded(uint32_t v, double by, bool dark)
{
    return (uint32_t)((dark ? v + (255 - (double)v) * by : v * (1 - by)) + 0.5);
}

uint32_t palette_shade(const struct palette *p, uint32_t slot, uint32_t shade)
{
    uint32_t rgb = p->slot[slot];
    double by = shade * 0.035;
    return shaded(rgb >> 16, by, p->dark) << 16 | shaded(rgb >> 8 & 255, by, p->dark) << 8 |
           shaded(rgb & 255, by, p->dark);
}

uint32_t palette_ink(const struct palette *p, uint32_t slot)
{
    return p->black_on[slot] ? 0x000000 : 0xffffff;
}
