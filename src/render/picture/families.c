/* families.c - a hue for each file, a tone for each of its lines. */
#include "render/picture/families.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/picture/palette.h"
#include "render/picture/tones.h"

/* Hues of families, the largest first; that of the hot line is none of them, nor that of the other
 * lines of its file. */
static const uint32_t hues[] = { 255, 168, 85, 310, 215, 135, 345, 285 };
enum { HUES = sizeof hues / sizeof hues[0], HOT = 38, WARM = 52 };

/* A name, by what it shares with others. */
struct member {
    str family;
    uint32_t place; /* among the names */
};

/* What the names of a family were given so far. */
struct family {
    bool is_known, is_hot;
    uint32_t hue, next; /* its next tone */
};

/* The file of "train.py:12 step". */
static str family_of(str name)
{
    const char *colon = name.len > 0 ? memchr(name.ptr, ':', name.len) : NULL;
    return (str){ name.ptr, colon != NULL ? (size_t)(colon - name.ptr) : name.len };
}

/* The category whose colour a name has; CATEGORIES: none. */
static enum category category_of(const struct family_name *name)
{
    uint32_t i = 0;
    str family = family_of(name->name);
    if (name->category != CATEGORIES)
        return name->category;
    while (i < CATEGORIES && !str_equal(family, str_from(category_names[i])))
        i++;
    return (enum category)i;
}

static int by_family(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = str_compare(x->family, y->family);
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

/* The number of each name's family. */
static enum vrs_status number_families(const struct family_name *name, uint32_t count,
                                       struct arena *arena, uint32_t *ret, struct vrs_error *err)
{
    struct member *member = arena_array(arena, struct member, count);
    if (member == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        member[i] = (struct member){ family_of(name[i].name), i };
    if (count > 1)
        qsort(member, count, sizeof *member, by_family);
    for (uint32_t i = 0, number = 0; i < count; i++) {
        number += i > 0 && !str_equal(member[i].family, member[i - 1].family);
        ret[member[i].place] = number;
    }
    return VRS_OK;
}

static struct group_colour toned(struct tone tone)
{
    return (struct group_colour){ { tone_rgb(tone, false), tone_rgb(tone, true) } };
}

/* A name's colour as one of its family.  The first tone of the hot hue is the line's alone. */
static struct group_colour next_of(struct family *own, uint32_t *taken, str name, str line)
{
    if (!own->is_known) {
        bool hot = line.len > 0 && str_equal(family_of(line), family_of(name));
        *own = (struct family){ .is_known = true,
                                .is_hot = hot,
                                .hue = hot ? WARM : hues[*taken % HUES],
                                .next = hot ? 1 : *taken / HUES };
        *taken += !hot;
    }
    if (own->is_hot && str_equal(name, line))
        return toned((struct tone){ HOT, 0, TONE_STRONG });
    return toned((struct tone){ own->hue, own->next++, own->is_hot ? TONE_WARM : TONE_QUIET });
}

enum vrs_status families_colour(const struct family_name *name, uint32_t count, str line,
                                struct arena *arena, struct group_colour *ret,
                                struct vrs_error *err)
{
    uint32_t *number = arena_array(arena, uint32_t, count), taken = 0;
    struct family *family = arena_array(arena, struct family, count);
    if (number == NULL || family == NULL)
        return vrs_no_memory(err);
    TRY(number_families(name, count, arena, number, err));
    for (uint32_t i = 0; i < count; i++) {
        enum category category = category_of(&name[i]);
        ret[i] = category < CATEGORIES ? palette_category(category)
                                       : next_of(&family[number[i]], &taken, name[i].name, line);
    }
    return VRS_OK;
}
