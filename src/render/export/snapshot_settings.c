/* snapshot_settings.c - rows with a common outer name are one dict or list again. */
#include "render/export/snapshot_settings.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"
#include "render/write/pickle_out.h"

/* The reader cuts longer names within a dict, and drops dicts of more pairs. */
enum { NAME_MAX_BYTES = 240, PAIRS_MAX = 64 };

enum group_form {
    GROUP_FLAT, /* one row under its whole name */
    GROUP_LIST,
    GROUP_DICT
};

/* Rows that stand side by side and make one entry of the settings. */
struct group {
    enum group_form form;
    uint32_t rows;
    size_t outer; /* bytes of the outer name; none where flat */
};

static str name_of(const struct recording *r, uint32_t row)
{
    return strings_text(&r->code.strings, (string_id){ r->settings.name[row] });
}

static str inner_of(const struct recording *r, uint32_t row, size_t outer)
{
    str name = name_of(r, row);
    return (str){ name.ptr + outer + 1, name.len - outer - 1 };
}

/* Bytes before the first dot; 0 where the name has none, or none that can be taken apart. */
static size_t outer_len(str name)
{
    const char *dot = name.len == 0 ? NULL : memchr(name.ptr, '.', name.len);
    size_t outer = dot == NULL ? 0 : (size_t)(dot - name.ptr);
    bool fits = outer <= NAME_MAX_BYTES && name.len - outer - 1 <= NAME_MAX_BYTES;
    return fits ? outer : 0;
}

static bool same_outer(const struct recording *r, uint32_t row, str outer)
{
    str name = name_of(r, row);
    return outer_len(name) == outer.len && memcmp(name.ptr, outer.ptr, outer.len) == 0;
}

static bool is_number(str text, uint32_t number)
{
    char digits[10];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    return str_equal(text, (str){ digits + at, sizeof digits - at });
}

/* A dict with such a key could be taken for a record. */
static bool is_word(str text)
{
    for (uint32_t w = 0; w < SNAPSHOT_WORDS; w++)
        if (str_equal(text, snapshot_word_text((enum snapshot_word)w)))
            return true;
    return false;
}

static struct group group_at(const struct recording *r, uint32_t row)
{
    const struct group flat = { GROUP_FLAT, 1, 0 };
    str name = name_of(r, row);
    struct group g = { GROUP_LIST, 0, outer_len(name) };
    if (g.outer == 0)
        return flat;
    for (uint32_t i = row; i < r->settings.rows.len && same_outer(r, i, (str){ name.ptr, g.outer });
         i++, g.rows++) {
        str inner = inner_of(r, i, g.outer);
        if (!is_number(inner, g.rows))
            g.form = GROUP_DICT;
        if (g.form == GROUP_DICT && (is_word(inner) || g.rows >= PAIRS_MAX))
            return flat;
    }
    return g;
}

static void put_value(struct shared *s, uint32_t row)
{
    const struct settings *settings = &s->r->settings;
    switch ((enum setting_type)settings->type[row]) {
    case SETTING_INT:
        pickle_i64(&s->p, settings->integer[row]);
        break;
    case SETTING_FLOAT:
        pickle_float(&s->p, settings->real[row]);
        break;
    case SETTING_BOOL:
        pickle_bool(&s->p, settings->integer[row] != 0);
        break;
    case SETTING_TEXT:
        shared_string(s, settings->text[row]);
        break;
    }
}

static void put_group(struct shared *s, const struct group *g, uint32_t row)
{
    if (g->form == GROUP_FLAT) {
        shared_string(s, s->r->settings.name[row]);
        put_value(s, row);
        return;
    }
    struct pickle_items items;
    pickle_str(&s->p, (str){ name_of(s->r, row).ptr, g->outer });
    if (g->form == GROUP_LIST)
        pickle_list(&s->p, g->rows, &items);
    else
        pickle_dict(&s->p, g->rows, &items);
    for (uint32_t i = row; i < row + g->rows; i++) {
        pickle_next(&s->p, &items);
        if (g->form == GROUP_DICT)
            pickle_str(&s->p, inner_of(s->r, i, g->outer));
        put_value(s, i);
    }
    pickle_close(&s->p, &items);
}

void snapshot_settings(struct shared *s)
{
    uint32_t rows = s->r->settings.rows.len, count = 0;
    for (uint32_t row = 0; row < rows; row += group_at(s->r, row).rows)
        count++;
    struct pickle_items dict;
    pickle_dict(&s->p, count, &dict);
    for (uint32_t row = 0; row < rows;) {
        struct group g = group_at(s->r, row);
        pickle_next(&s->p, &dict);
        put_group(s, &g, row);
        row += g.rows;
    }
    pickle_close(&s->p, &dict);
}
