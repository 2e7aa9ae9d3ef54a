/* paint.c - colours by group, shade and pattern. */
#include "render/picture/paint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/picture/address_map.h"

static bool is_edge(const int32_t *ids, size_t i, uint32_t y, uint32_t W, uint32_t H)
{
    int32_t id = ids[i];
    return y + 3 < H && id == ids[i + W] && id == ids[i + 2 * (size_t)W] &&
           id == ids[i + 3 * (size_t)W] && (y == 0 || id != ids[i - W]);
}

static bool is_stripe(uint32_t x, uint32_t y)
{
    return ((x + y) & 7) < 2;
}

static bool is_dot(uint32_t x, uint32_t y)
{
    return ((x + (y & 2)) & 3) == 0 && (y & 1) == 0;
}

void paint_bands(const struct pixels *to, const int32_t *ids, bool groups,
                 const struct scene_device *d, const struct palette *palette)
{
    uint32_t colour[PALETTE_SLOTS][PAINT_SHADES];
    for (uint32_t slot = 0; slot < PALETTE_SLOTS; slot++)
        for (uint32_t shade = 0; shade < PAINT_SHADES; shade++)
            colour[slot][shade] = palette_shade(palette, slot, shade);
    for (uint32_t y = 0; y < to->H; y++) {
        for (uint32_t x = 0; x < to->W; x++) {
            size_t i = (size_t)y * to->W + x;
            uint32_t *pixel = &to->at[y * to->stride + x];
            if (ids[i] < 0)
                continue;
            if (is_edge(ids, i, y, to->W, to->H)) {
                *pixel = palette->ground;
                continue;
            }
            uint32_t group = groups ? (uint32_t)ids[i] : d->groups.of[ids[i]];
            uint8_t mark = groups ? 0 : d->mark[ids[i]];
            const struct scene_group *g = &d->group[group];
            *pixel = colour[g->slot][mark & (PAINT_SHADES - 1)];
            if (g->second && is_stripe(x, y))
                *pixel = 0xffffff;
            else if ((mark & PAINT_BEFORE) != 0 && is_dot(x, y))
                *pixel = palette->ground;
        }
    }
}

/* b + (a - b) * part, each colour by itself, rounded. */
static uint32_t mixed(uint32_t colour, uint32_t under, double part)
{
    uint32_t out = 0;
    for (uint32_t shift = 0; shift < 24; shift += 8) {
        double a = colour >> shift & 255, b = under >> shift & 255;
        out |= (uint32_t)(b + (a - b) * part + 0.5) << shift;
    }
    return out;
}

static uint32_t free_pixel(uint8_t place, uint32_t x, uint32_t y, const struct palette *p)
{
    bool hatched = place == PLACE_STRANDED     ? (x + y) % 6 == 0
                   : place == PLACE_RETURNABLE ? x % 4 == 0 && y % 4 == 0
                   : place == PLACE_HELD       ? x % 8 == 0
                                               : false;
    return hatched ? p->hatch : p->free;
}

void paint_map(const struct pixels *to, const struct map_picture *map, const struct scene_device *d,
               const struct palette *palette)
{
    for (uint32_t y = 0; y < to->H; y++) {
        for (uint32_t x = 0; x < to->W; x++) {
            size_t i = (size_t)y * to->W + x;
            uint32_t *pixel = &to->at[y * to->stride + x];
            int32_t id = map->ids[i];
            double mapped = map->mapped[i], used = map->used[i];
            if (!(mapped > 0) && id < 0)
                continue;
            uint32_t free = free_pixel(map->places[i], x, y, palette);
            uint32_t under = mixed(free, palette->ground, mapped < 1 ? mapped : 1);
            *pixel = under;
            if (id < 0)
                continue;
            const struct scene_group *g = &d->group[d->groups.of[id]];
            uint32_t colour = palette_shade(palette, g->slot, d->mark[id] & (PAINT_SHADES - 1));
            /* The remainder of a negative difference has its sign, as in the page. */
            bool crossed = (x + y) % 5 == 0 || ((int64_t)x - y) % 5 == 0;
            if (map->places[i] == PLACE_PENDING && crossed)
                *pixel = palette->ground;
            else
                *pixel = mixed(colour, under, used < 0.15 ? 0.15 : used < 1 ? used : 1);
        }
    }
}
