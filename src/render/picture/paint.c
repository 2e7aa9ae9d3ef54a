/* paint.c - colours by group, edges of bands, patterns of free memory. */
#include "render/picture/paint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/picture/address_map.h"

/* Rows of a band, which is of one piece in its column, from which on it has an edge. */
enum { LEAST_EDGED = 8 };

/* How much of its colour a block has beyond its request. */
#define SLACK_PART 0.45

static bool is_edge(const int32_t *ids, size_t i, uint32_t y, uint32_t W, uint32_t H)
{
    int32_t id = ids[i];
    return y + LEAST_EDGED <= H && id == ids[i + (size_t)(LEAST_EDGED - 1) * W] &&
           (y == 0 || id != ids[i - W]);
}

void paint_bands(const struct pixels *to, const int32_t *ids, bool groups,
                 const struct scene_device *d, const struct palette *palette)
{
    for (uint32_t y = 0; y < to->H; y++) {
        for (uint32_t x = 0; x < to->W; x++) {
            size_t i = (size_t)y * to->W + x;
            if (ids[i] < 0)
                continue;
            uint32_t group = groups ? (uint32_t)ids[i] : d->groups.of[ids[i]];
            uint32_t rgb = d->group[group].colour.rgb[palette->dark];
            to->at[y * to->stride + x] =
                is_edge(ids, i, y, to->W, to->H) ? palette_edge(palette, rgb) : rgb;
        }
    }
}

static uint32_t free_pixel(uint8_t place, uint32_t x, uint32_t y, const struct palette *p)
{
    bool hatched = place == PLACE_STRANDED     ? (x + y) % 6 == 0
                   : place == PLACE_RETURNABLE ? x % 4 == 0 && y % 4 == 0
                   : place == PLACE_HELD       ? x % 8 == 0
                                               : false;
    return hatched ? p->hatch : p->free;
}

/* How much of the colour of an allocation a pixel has, of whose bytes so many are in use. */
static double part_of(uint8_t place, double used)
{
    double part = used < 0.15 ? 0.15 : used < 1 ? used : 1;
    return place == PLACE_SLACK ? part * SLACK_PART : part;
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
            uint32_t under = palette_mixed(free, palette->ground, mapped < 1 ? mapped : 1);
            *pixel = under;
            if (id < 0)
                continue;
            const struct scene_group *g = &d->group[d->groups.of[id]];
            uint32_t colour = g->colour.rgb[palette->dark];
            /* The remainder of a negative difference has its sign, as in the page. */
            bool crossed = (x + y) % 5 == 0 || ((int64_t)x - y) % 5 == 0;
            if (map->places[i] == PLACE_PENDING && crossed)
                *pixel = palette->ground;
            else
                *pixel = palette_mixed(colour, under, part_of(map->places[i], used));
        }
    }
}
