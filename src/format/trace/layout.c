/* layout.c - a cache of the stretches between values, each of which knows which ones came next. */
#include "format/trace/layout.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/str.h"
#include "base/vec.h"
#include "format/json/plain.h"
#include "format/json/scan.h"
#include "format/trace/microseconds.h"
#include "format/trace/words.h"

/* Where a stretch begins: what may stand in it hangs on that. */
enum from { FROM_BEGIN, FROM_VALUE, FROM_ARGS_BEGIN, FROM_ARGS_VALUE, FROMS };

enum { STRETCH_BYTES = 3 * WINDOW_PAD_BYTES, SLOTS = 64, CATEGORIES = 16, LISTS_MOST = 8 };
enum { LIST_BYTES = 96 };

/* The bytes from one value to the next, or to the end of the object. */
struct stretch {
    uint8_t bytes[STRETCH_BYTES], mask[STRETCH_BYTES]; /* zeros behind `len` */
    uint32_t len;
    uint8_t key; /* enum trace_key of the value behind it */
    bool ends;   /* the object ends with it */
    uint8_t next[2]; /* slots of the stretches that came behind that value lately */
    uint8_t list_len;          /* 0: none */
    uint8_t list[LIST_BYTES];  /* the last that stood behind it, whole: no other list begins so */
};

struct layout {
    uint32_t string_bytes;
    struct stretch begin;                 /* of an event: nothing, before its first stretch */
    struct stretch args_begin[CATEGORIES]; /* of args: what is in them hangs on the category */
    /* By a hash of their bytes; the last of each is one that is too long to be kept. */
    struct stretch kept[FROMS][SLOTS + 1];
};

/* One event on its way. */
struct cursor {
    struct layout *layout;
    struct events *events;
    struct window *w;
    struct stretch *before; /* the one in front of the value that was last */
    enum from from;
    str shapes; /* that value, once it is known to be whole; NULL */
};

struct layout *layout_new(uint32_t string_bytes)
{
    void *memory = NULL;
    if (!vec_resize(&memory, 1, sizeof(struct layout)))
        return NULL;
    struct layout *l = memory;
    memset(l, 0, sizeof *l);
    l->string_bytes = string_bytes;
    /* No text is like one that nothing was put into yet. */
    for (int from = 0; from < FROMS; from++)
        for (int slot = 0; slot <= SLOTS; slot++)
            l->kept[from][slot].bytes[0] = 1;
    return l;
}

void layout_free(struct layout *l)
{
    void *memory = l;
    vec_resize(&memory, 0, 0);
}

/* Stretches. */

static inline bool stands_at(const struct stretch *s, const uint8_t *at)
{
    enum { SECOND = STRETCH_BYTES / 3, THIRD = 2 * SECOND };
    return same_16(at, s->mask, s->bytes) &&
           (s->len <= SECOND || (same_16(at + SECOND, s->mask + SECOND, s->bytes + SECOND) &&
                                 same_16(at + THIRD, s->mask + THIRD, s->bytes + THIRD)));
}

/* Takes apart what stands at `at`: a comma where one must, a key, a colon; or the end of the object.
 * Returns behind it; NULL: it is something else. */
static const uint8_t *take_apart(const struct cursor *c, const uint8_t *at, uint8_t *ret_key,
                                 bool *ret_ends)
{
    bool first = c->from == FROM_BEGIN || c->from == FROM_ARGS_BEGIN;
    at = behind_blanks(at);
    *ret_key = KEY_OTHER;
    *ret_ends = *at == '}';
    if (*ret_ends)
        return at + 1;
    if (!first && *at != ',')
        return NULL;
    if (!first)
        at = behind_blanks(at + 1);
    str key;
    if (*at != '"' || !json_scan_text(c->w, at, c->layout->string_bytes, &key, &at))
        return NULL;
    at = behind_blanks(at);
    if (*at != ':')
        return NULL;
    *ret_key = (uint8_t)trace_key_of(key);
    return behind_blanks(at + 1);
}

static bool is_same(const struct stretch *s, const uint8_t *at, size_t len)
{
    return s->len == len && len <= STRETCH_BYTES && memcmp(s->bytes, at, len) == 0;
}

/* Of two slots the one that it has, or else one that is free, or else the first. */
static uint32_t slot_of(const struct stretch *kept, const uint8_t *at, size_t len)
{
    if (len > STRETCH_BYTES)
        return SLOTS;
    uint32_t slot = (uint32_t)(hash_bytes(at, len) % SLOTS), other = slot ^ 1;
    if (is_same(&kept[slot], at, len) || kept[slot].len == 0)
        return slot;
    return is_same(&kept[other], at, len) || kept[other].len == 0 ? other : slot;
}

/* The stretch at the window's front, which is not one of those that came here lately; NULL: it is
 * none. */
static struct stretch *learn(struct cursor *c)
{
    uint8_t key;
    bool ends;
    const uint8_t *at = c->w->at, *end = take_apart(c, at, &key, &ends);
    if (end == NULL || end >= c->w->end)
        return NULL;
    size_t len = (size_t)(end - at);
    struct stretch *kept = c->layout->kept[c->from];
    uint32_t slot = slot_of(kept, at, len);
    struct stretch *s = &kept[slot];
    if (!is_same(s, at, len)) {
        *s = (struct stretch){ .bytes[0] = 1, .len = (uint32_t)len, .key = key, .ends = ends };
        if (len <= STRETCH_BYTES) {
            memcpy(s->bytes, at, len);
            memset(s->mask, 0xff, len);
        }
    }
    c->before->next[1] = c->before->next[0];
    c->before->next[0] = (uint8_t)slot;
    return s;
}

/* Goes over the stretch at the window's front. */
static bool step(struct cursor *c)
{
    struct window *w = c->w;
    struct stretch *kept = c->layout->kept[c->from], *before = c->before;
    if (w->end - w->at <= STRETCH_BYTES)
        return false;
    struct stretch *s = &kept[before->next[0]];
    if (!stands_at(s, w->at)) {
        s = &kept[before->next[1]];
        if (stands_at(s, w->at)) {
            before->next[1] = before->next[0];
            before->next[0] = (uint8_t)(s - kept);
        } else {
            s = learn(c);
        }
    }
    if (s == NULL)
        return false;
    w->at += s->len;
    c->before = s;
    return true;
}

/* Values. */

static inline bool take_string(struct cursor *c, str *ret)
{
    struct window *w = c->w;
    return json_scan_text(w, w->at, c->layout->string_bytes, ret, &w->at);
}

/* A word that means nothing where it stands.  What is behind it is the next stretch's business. */
static bool skip_word(struct window *w)
{
    static const str words[] = { { "true", 4 }, { "false", 5 }, { "null", 4 } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if ((size_t)(w->end - w->at) > words[i].len &&
            memcmp(w->at, words[i].ptr, words[i].len) == 0) {
            w->at += words[i].len;
            return true;
        }
    }
    return false;
}

static bool skip_scalar(struct cursor *c)
{
    uint8_t first = *c->w->at;
    str text;
    if (first == '"')
        return take_string(c, &text);
    if (first == '-' || is_digit((char)first))
        return json_scan_common(c->w, &text);
    return skip_word(c->w);
}

/* Over a list, at its bracket: of scalars and lists. */
static bool skip_list(struct cursor *c)
{
    struct window *w = c->w;
    uint32_t open = 0;
    do {
        /* At a value. */
        bool opens = *w->at == '[';
        if (opens && open++ == LISTS_MOST)
            return false;
        if (opens)
            w->at = behind_blanks(w->at + 1);
        if (opens && *w->at != ']')
            continue;
        if (!opens && !skip_scalar(c))
            return false;
        /* Behind a value, or in an empty list. */
        w->at = behind_blanks(w->at);
        while (*w->at == ']' && open > 0) {
            open--;
            w->at++;
            if (open > 0)
                w->at = behind_blanks(w->at);
        }
        if (open > 0 && *w->at != ',')
            return false;
        if (open > 0)
            w->at = behind_blanks(w->at + 1);
    } while (open > 0);
    return true;
}

static bool is_ascii(const uint8_t *at, size_t len)
{
    uint8_t all = 0;
    for (size_t i = 0; i < len; i++)
        all |= at[i];
    return all < 0x80;
}

/* Over a list as skip_list; by its bytes if it is the one of the event before. */
static bool skip_known_list(struct cursor *c)
{
    struct window *w = c->w;
    struct stretch *s = c->before;
    const uint8_t *from = w->at;
    if (s->list_len > 0 && w->end - from > s->list_len && memcmp(from, s->list, s->list_len) == 0) {
        w->at += s->list_len;
        return true;
    }
    if (!skip_list(c))
        return false;
    size_t len = (size_t)(w->at - from);
    /* Texts of others may be damaged, which is counted each time. */
    s->list_len = len <= LIST_BYTES && is_ascii(from, len) ? (uint8_t)len : 0;
    memcpy(s->list, from, s->list_len);
    return true;
}

static bool take_list(struct cursor *c, enum trace_key key)
{
    const uint8_t *from = c->w->at;
    bool are_shapes = key == KEY_INPUT_DIMS || key == KEY_INPUT_DIMS_2021;
    if (!skip_known_list(c))
        return false;
    if (!are_shapes || c->from != FROM_ARGS_VALUE)
        return key == KEY_OTHER || key == KEY_CALL_STACK;
    c->shapes = (str){ (const char *)from, (size_t)(c->w->at - from) };
    return true;
}

static bool begin_args(struct cursor *c, enum trace_key key)
{
    struct events *e = c->events;
    if (c->from != FROM_VALUE || key != KEY_ARGS)
        return false;
    c->w->at++;
    c->from = FROM_ARGS_BEGIN;
    c->before = &c->layout->args_begin[e->event.category % CATEGORIES];
    return true;
}

static bool take(struct cursor *c, enum trace_key key, enum value_form form, str text)
{
    struct events *e = c->events;
    if (key == KEY_OTHER)
        return true;
    struct value value = { form, text };
    if (c->from == FROM_VALUE)
        return event_field(e, key, &value, NULL) == VRS_OK;
    return event_argument(e, key, &value, NULL) == VRS_OK;
}

/* A time that is plain digits, and not too many behind the point. */
static bool plain_time(str text, size_t whole, int64_t *ret_ns)
{
    const uint8_t *at = (const uint8_t *)text.ptr;
    size_t fraction = text.len - whole - (text.len > whole);
    if (*at == '-' || whole > NUMBER_DIGITS || fraction > NS_DIGITS)
        return false;
    uint64_t part = fraction > 0 ? digits_value(at + whole + 1, fraction) : 0;
    return microseconds_join(digits_value(at, whole), part, fraction, ret_ns);
}

static bool take_number(struct cursor *c, enum trace_key key)
{
    struct events *e = c->events;
    bool in_args = c->from == FROM_ARGS_VALUE;
    str text;
    size_t whole;
    int64_t n;
    if (!json_scan_digits(c->w, &text, &whole))
        return false;
    if (key == KEY_OTHER)
        return true;
    if (!in_args && (key == KEY_TS || key == KEY_DUR)) {
        if (plain_time(text, whole, &n) && event_field_time(e, key, n, whole == text.len))
            return true;
    } else if (whole == text.len && whole < NUMBER_DIGITS) {
        n = (int64_t)digits_value((const uint8_t *)text.ptr, whole);
        if (in_args ? event_argument_integer(e, key, n) : event_field_integer(e, key, n))
            return true;
    }
    return take(c, key, VALUE_NUMBER, text);
}

/* The shapes in front of a stretch: as tokens become them, not before what is behind them is read,
 * so that no text is kept of an event that turns out to be damaged there. */
static bool take_shapes(struct cursor *c)
{
    if (c->shapes.ptr == NULL)
        return true;
    str json = c->shapes;
    c->shapes = (str){ NULL, 0 };
    return event_shapes(c->events, json, NULL) == VRS_OK;
}

/* The value at the window's front, behind the stretch `c->before`. */
static bool take_value(struct cursor *c)
{
    enum trace_key key = (enum trace_key)c->before->key;
    struct window *w = c->w;
    uint8_t first = *w->at;
    str text;
    if (c->from == FROM_ARGS_VALUE && event_notes(c->events, key))
        key = first == '[' ? key : KEY_OTHER;
    else if (c->from == FROM_VALUE && key == KEY_ARGS)
        event_clear_arguments(c->events);
    switch (first) {
    case '"':
        return take_string(c, &text) && take(c, key, VALUE_TEXT, text);
    case '{':
        return begin_args(c, key);
    case '[':
        return take_list(c, key);
    default:
        if (first == '-' || is_digit((char)first))
            return take_number(c, key);
        return key == KEY_OTHER && skip_word(w);
    }
}

bool layout_read_event(struct layout *l, struct events *e, struct window *w)
{
    struct cursor c = { .layout = l, .events = e, .w = w, .before = &l->begin };
    event_begin(e, window_offset(w));
    w->at++;
    for (;;) {
        bool in_args = c.from == FROM_ARGS_BEGIN || c.from == FROM_ARGS_VALUE;
        if (!step(&c) || !take_shapes(&c))
            return false;
        if (c.before->ends && !in_args)
            return true;
        c.from = in_args && !c.before->ends ? FROM_ARGS_VALUE : FROM_VALUE;
        if (!c.before->ends && !take_value(&c))
            return false;
    }
}
