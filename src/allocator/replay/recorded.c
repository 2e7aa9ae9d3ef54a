/* recorded.c - translates the settings of a file into those of the machine. */
#include "allocator/replay/recorded.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "allocator/machine/rounding.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/strings.h"

struct rounding rounding_of(const struct recording *r)
{
    static const char *const names[ROUNDING_DIVISIONS] = {
        "roundup_power2_divisions.1",     "roundup_power2_divisions.2",
        "roundup_power2_divisions.4",     "roundup_power2_divisions.8",
        "roundup_power2_divisions.16",    "roundup_power2_divisions.32",
        "roundup_power2_divisions.64",    "roundup_power2_divisions.128",
        "roundup_power2_divisions.256",   "roundup_power2_divisions.512",
        "roundup_power2_divisions.1024",  "roundup_power2_divisions.2048",
        "roundup_power2_divisions.4096",  "roundup_power2_divisions.8192",
        "roundup_power2_divisions.16384", "roundup_power2_divisions.32768",
    };
    struct rounding rounding = { { 0 }, false };
    for (uint32_t i = 0; i < ROUNDING_DIVISIONS; i++) {
        uint32_t row = settings_find(r, str_from(names[i]));
        if (row == NO_ROW || r->settings.type[row] != SETTING_INT || r->settings.integer[row] < 0)
            continue;
        uint64_t divisions = (uint64_t)r->settings.integer[row];
        /* The allocator accepts powers of two only; anything else is no setting of its. */
        if ((divisions & (divisions - 1)) == 0)
            rounding.divisions[i] = divisions;
        rounding.divides |= rounding.divisions[i] > 1;
    }
    return rounding;
}

/* Segments are the final state, events what came before; either shows it. */
static bool shows_expandable(const struct recording *r)
{
    uint32_t events = r->events.rows.len;
    for (uint32_t i = 0; i < r->segments.rows.len; i++)
        if (r->segments.expandable[i] != 0)
            return true;
    return events > 0 && memchr(r->events.action, ACTION_SEGMENT_MAP, events) != NULL;
}

static void take_text(struct allocator_config *c, const struct recording *r)
{
    uint32_t row = settings_find(r, S("PYTORCH_CUDA_ALLOC_CONF"));
    if (row != NO_ROW && r->settings.type[row] == SETTING_TEXT)
        config_take(c, strings_text(&r->code.strings, (string_id){ r->settings.text[row] }));
}

static void take_rounding(struct allocator_config *c, const struct recording *r)
{
    for (uint32_t i = 0; i < r->settings.rows.len; i++) {
        str name = strings_text(&r->code.strings, (string_id){ r->settings.name[i] });
        if (str_starts(name, S("roundup_power2_divisions."))) {
            c->rounding = rounding_of(r);
            return;
        }
    }
}

static void take_max_split(struct allocator_config *c, const struct recording *r)
{
    uint32_t row = settings_find(r, S("max_split_size"));
    if (row == NO_ROW || r->settings.type[row] != SETTING_INT || r->settings.integer[row] == 0)
        return;
    /* PyTorch's own "unlimited" is the largest unsigned number, which files hold as -1. */
    uint64_t bytes = (uint64_t)r->settings.integer[row];
    c->max_split_bytes = bytes < ENDLESS_BYTES ? bytes : UINT64_MAX;
}

static void take_gc_threshold(struct allocator_config *c, const struct recording *r)
{
    uint32_t row = settings_find(r, S("garbage_collection_threshold"));
    if (row == NO_ROW)
        return;
    if (r->settings.type[row] == SETTING_INT && r->settings.integer[row] == 0)
        c->gc_threshold = 0;
    double threshold = r->settings.real[row];
    if (r->settings.type[row] == SETTING_FLOAT && threshold >= 0 && threshold < 1)
        c->gc_threshold = threshold;
}

static void take_expandable(struct allocator_config *c, const struct recording *r)
{
    uint32_t row = settings_find(r, S("expandable_segments"));
    if (row == NO_ROW)
        return;
    uint8_t type = r->settings.type[row];
    if (type == SETTING_BOOL || type == SETTING_INT)
        c->expandable = r->settings.integer[row] != 0;
}

bool recorded_by_another(const struct recording *r)
{
    uint32_t row = settings_find(r, S("PYTORCH_CUDA_ALLOC_CONF"));
    if (row == NO_ROW || r->settings.type[row] != SETTING_TEXT)
        return false;
    str text = strings_text(&r->code.strings, (string_id){ r->settings.text[row] });
    return str_find(text, S("backend:cudaMallocAsync")) < text.len;
}

struct allocator_config config_of_recording(const struct recording *r)
{
    /* From what says least to what says most: each step overrides those before. */
    struct allocator_config c = config_default();
    c.expandable = shows_expandable(r);
    take_text(&c, r);
    take_rounding(&c, r);
    take_max_split(&c, r);
    take_gc_threshold(&c, r);
    take_expandable(&c, r);
    return c;
}
