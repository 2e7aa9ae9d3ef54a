/* families.h - colours of groups that are no categories, by viewer/ui/draw/colours.js. */
#ifndef VRS_RENDER_PICTURE_FAMILIES_H
#define VRS_RENDER_PICTURE_FAMILIES_H

#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/picture/palette.h"

struct family_name {
    str name;
    enum category category; /* whose colour it has; CATEGORIES: that of its name, if any */
};

/* A colour of each of `count` names: lines of a file share a hue and differ in tone, what has no
 * line has the colour of a category.  `line`, which an answer is about, has the hot hue, and the
 * others of its file warm tones; "": none.  Names come in the order in which they are given
 * colours, the largest first. */
enum vrs_status families_colour(const struct family_name *name, uint32_t count, str line,
                                struct arena *arena, struct group_colour *ret,
                                struct vrs_error *err) MUST_CHECK;

#endif
