/* look.c - small patterns of JSON, matched byte by byte. */
#include "format/trace/look.h"

#include <stdint.h>

#include "base/str.h"
#include "format/trace/words.h"

int look_byte(struct window *w, size_t ahead)
{
    return ahead < LOOK_BYTES && window_need(w, ahead + 1) ? w->at[ahead] : LOOK_END;
}

size_t look_behind_blanks(struct window *w, size_t ahead)
{
    int c;
    while ((c = look_byte(w, ahead)) != LOOK_END && is_blank((uint8_t)c))
        ahead++;
    return ahead;
}

/* The length of the key that stands there, without its quotes; 0 where none does.  A key holds
 * neither a backslash nor a control character. */
static size_t key_length(struct window *w, size_t ahead)
{
    if (look_byte(w, ahead) != '"')
        return 0;
    size_t end = ahead + 1;
    int c;
    while ((c = look_byte(w, end)) != LOOK_END && c != '"' && c != '\\' && c >= ' ')
        end++;
    if (c != '"' || look_byte(w, look_behind_blanks(w, end + 1)) != ':')
        return 0;
    return end - ahead - 1;
}

bool look_key(struct window *w, size_t ahead)
{
    return key_length(w, ahead) > 0;
}

/* The key there, as long as the window stays. */
static str key_at(struct window *w, size_t ahead)
{
    size_t len = key_length(w, ahead);
    return len > 0 ? (str){ (const char *)w->at + ahead + 1, len } : S("");
}

bool look_event_key(struct window *w, size_t ahead)
{
    /* Those of Chrome's events that trace_key_of does not know, because they say nothing here. */
    static const str others[] = {
        { "s", 1 },  { "bp", 2 },    { "tts", 3 }, { "tdur", 4 },    { "cname", 5 },
        { "sf", 2 }, { "scope", 5 }, { "id2", 3 }, { "bind_id", 7 }, { "stack", 5 },
    };
    str key = key_at(w, ahead);
    enum trace_key known = trace_key_of(key);
    return (known >= KEY_PH && known <= KEY_ARGS) ||
           str_is_one_of(key, others, sizeof others / sizeof *others);
}

bool look_file_key(struct window *w, size_t ahead)
{
    static const str others[] = {
        { "schemaVersion", 13 }, { "traceName", 9 }, { "displayTimeUnit", 15 },
        { "otherData", 9 },      { "metadata", 8 },  { "trace_id", 8 },
        { "stackFrames", 11 },   { "samples", 7 },   { "systemTraceEvents", 17 },
    };
    str key = key_at(w, ahead);
    enum trace_key known = trace_key_of(key);
    return (known >= KEY_TRACE_EVENTS && known <= KEY_DEVICE_TRACES) ||
           str_is_one_of(key, others, sizeof others / sizeof *others);
}

/* Whether the object at the front has a phase; what is in strings counts too. */
static bool has_phase(struct window *w)
{
    size_t depth = 0;
    int c;
    for (size_t at = 0; (c = look_byte(w, at)) != LOOK_END; at++) {
        depth += c == '{';
        if (c == '}' && --depth == 0)
            return false;
        if (c == '"' && depth == 1 && trace_key_of(key_at(w, at)) == KEY_PH)
            return true;
    }
    return false;
}

bool look_event(struct window *w)
{
    if (look_byte(w, 0) != '{')
        return false;
    size_t key = look_behind_blanks(w, 1);
    return look_event_key(w, key) && has_phase(w);
}

bool look_list_end(struct window *w)
{
    if (look_byte(w, 0) != ']')
        return false;
    size_t next = look_behind_blanks(w, 1);
    int c = look_byte(w, next);
    if (c == ',')
        return look_file_key(w, look_behind_blanks(w, next + 1));
    if (c == '}')
        c = look_byte(w, look_behind_blanks(w, next + 1));
    return c == LOOK_END;
}

bool look_list(struct window *w)
{
    str key = key_at(w, 0);
    if (trace_key_of(key) != KEY_TRACE_EVENTS)
        return false;
    size_t colon = look_behind_blanks(w, key.len + 2);
    return look_byte(w, look_behind_blanks(w, colon + 1)) == '[';
}
