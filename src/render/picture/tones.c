/* tones.c - OKLCH (Ottosson 2020) to sRGB; the chroma is lowered until the colour can be shown. */
#include "render/picture/tones.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static const double pi = 3.14159265358979323846;

/* Lightness of the tones of a hue, in turn, so that neighbours differ. */
struct tone_list {
    uint32_t count;
    double lightness[6];
};
static const struct tone_list usual[2] = {
    { 6, { 0.59, 0.655, 0.5, 0.63, 0.44, 0.55 } },
    { 6, { 0.7, 0.59, 0.8, 0.65, 0.55, 0.75 } },
};
static const struct tone_list warm[2] = {
    { 5, { 0.62, 0.665, 0.58, 0.65, 0.53 } },
    { 5, { 0.72, 0.84, 0.66, 0.78, 0.6 } },
};
static const double chromas[TONE_STRENGTHS] = {
    [TONE_QUIET] = 0.09,
    [TONE_WARM] = 0.11,
    [TONE_STRONG] = 0.2,
};

/* How much of the chroma is left where a hue has more tones than its list. */
static const double pale = 0.5;

/* Parts of a colour in linear sRGB; those outside of 0 to 1 cannot be shown. */
struct linear {
    double part[3];
};

static struct linear linear_of(double lightness, double chroma, uint32_t hue)
{
    double a = chroma * cos(hue * pi / 180), b = chroma * sin(hue * pi / 180);
    double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    double s = lightness - 0.0894841775 * a - 1.291485548 * b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return (struct linear){ { 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                              -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                              -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s } };
}

static bool can_be_shown(const struct linear *c)
{
    for (uint32_t i = 0; i < 3; i++)
        if (c->part[i] < 0 || c->part[i] > 1)
            return false;
    return true;
}

/* A part as a byte of sRGB. */
static uint32_t encoded(double v)
{
    double light = v < 0 ? 0 : v;
    double c = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
    return (uint32_t)((c > 1 ? 1 : c) * 255 + 0.5);
}

uint32_t tone_rgb(struct tone tone, bool dark)
{
    const struct tone_list *list = tone.strength == TONE_WARM ? &warm[dark] : &usual[dark];
    double lightness = list->lightness[tone.number % list->count];
    double chroma = chromas[tone.strength] * (tone.number / list->count % 2 == 1 ? pale : 1);
    struct linear c = linear_of(lightness, chroma, tone.hue);
    for (; chroma > 0 && !can_be_shown(&c); chroma -= 0.01)
        c = linear_of(lightness, chroma, tone.hue);
    return encoded(c.part[0]) << 16 | encoded(c.part[1]) << 8 | encoded(c.part[2]);
}
