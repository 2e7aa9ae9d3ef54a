/* leaks_rows.c - which sites are rows of the list of what stays: what changes, with its words. */
#include "render/snapshot/leaks/leaks_rows.h"

#include <stddef.h>

#include "analysis/snapshot/leaks/leak_class.h"
#include "render/write/escape.h"
#include "render/write/human.h"

/* ALIKE_MOST: of so many sites names are compared.  RISING_PERCENT: of the steps, in what grows. */
enum { ALIKE_MOST = 1000, RISING_PERCENT = 80, RISES_MIN = 3 };

uint64_t leaks_row_rise_bytes(const struct leaks *g, const struct leak_site *site)
{
    uint32_t warm = leak_warm_up(g->steps.steps.count), rises = 0;
    if (g->moments < warm + 2)
        return 0;
    uint32_t steps = g->moments - 1 - warm;
    if (steps < RISES_MIN)
        return 0;
    uint64_t first = site->bytes[warm], last = site->bytes[g->moments - 1];
    for (uint32_t i = warm + 1; i < g->moments; i++)
        rises += site->bytes[i] > site->bytes[i - 1];
    bool rising = last > first && last - first >= g->floor_bytes &&
                  (uint64_t)rises * 100 >= (uint64_t)steps * RISING_PERCENT;
    return rising ? (last - first) / steps : 0;
}

bool leaks_row_is_outgrown(const struct leaks *g, const struct leak_site *site)
{
    bool calm = site->class == LEAK_CLASS_STABLE || site->class == LEAK_CLASS_REPLACED;
    return calm && leaks_row_rise_bytes(g, site) != 0;
}

bool leaks_row_is_shown(const struct leaks *g, const struct leak_site *site)
{
    return site->class != LEAK_CLASS_STABLE || leaks_row_is_outgrown(g, site);
}

const char *leaks_row_class(const struct leaks *g, const struct leak_site *site)
{
    return leaks_row_is_outgrown(g, site) ? "grows" : leak_class_names[site->class];
}

enum leaks_difference leaks_row_difference(const struct leaks *g, const struct leak_site *site)
{
    enum leaks_difference by = DIFFERENT;
    for (uint32_t i = 0; i < g->sites && i < ALIKE_MOST; i++) {
        const struct leak_site *other = &g->site[i];
        if (other == site || !leaks_row_is_shown(g, other) ||
            !str_equal(other->site.culprit, site->site.culprit))
            continue;
        enum leaks_difference with = !str_equal(other->site.owner, site->site.owner) ? BY_OWNER
                                     : !str_equal(other->innermost, site->innermost) ? BY_INNERMOST
                                                                                     : BY_SIZE;
        by = with > by ? with : by;
    }
    return by;
}

str leaks_file_and_line(str name)
{
    size_t len = 0;
    while (len < name.len && name.ptr[len] != ' ')
        len++;
    return (str){ name.ptr, len };
}

void leaks_difference_words(struct buf *to, const struct leaks *g, const struct leak_site *site,
                            enum leaks_difference by, bool ascii)
{
    uint32_t last = g->moments - 1, count = site->counts[last];
    str more = by == BY_OWNER ? site->site.owner : site->innermost;
    if (by == BY_SIZE && count > 0) {
        human_bytes(to, (int64_t)(site->bytes[last] / count));
        buf_text(to, count == 1 ? "" : " each");
        return;
    }
    if (by == DIFFERENT || by == BY_SIZE || more.len == 0 || str_equal(more, site->site.culprit))
        return;
    escape_text(to, leaks_file_and_line(more), ascii);
}
