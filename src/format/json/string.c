/* string.c - plain runs are copied, escapes resolved one by one. */
#include "format/json/string.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "base/str.h"
#include "base/utf8.h"
#include "format/json/plain.h"

enum { ESCAPE_BYTES = 6 }; /* "\u0041" */

/* The digits of the escape that begins at `escape`. */
static str digits_at(const uint8_t *escape)
{
    return (str){ (const char *)escape + 2, ESCAPE_BYTES - 2 };
}

static bool is_high(uint32_t n)
{
    return n >= 0xd800 && n <= 0xdbff;
}

static bool is_low(uint32_t n)
{
    return n >= 0xdc00 && n <= 0xdfff;
}

/* At "\u". */
static enum json_string read_unicode(struct window *w, struct buf *to, uint64_t *lone_surrogates)
{
    if (!window_need(w, ESCAPE_BYTES))
        return JSON_STRING_CUT;
    uint32_t n, low;
    if (!number_hex(digits_at(w->at), &n))
        return JSON_STRING_ESCAPE;
    w->at += ESCAPE_BYTES;
    if (is_high(n) && window_need(w, ESCAPE_BYTES) && w->at[0] == '\\' && w->at[1] == 'u' &&
        number_hex(digits_at(w->at), &low) && is_low(low)) {
        w->at += ESCAPE_BYTES;
        n = 0x10000 + ((n - 0xd800) << 10) + (low - 0xdc00);
    }
    if (is_high(n) || is_low(n))
        (*lone_surrogates)++;
    utf8_encode(to, n);
    return JSON_STRING_WHOLE;
}

/* At a backslash. */
static enum json_string read_escape(struct window *w, struct buf *to, uint64_t *lone_surrogates)
{
    if (!window_need(w, 2))
        return JSON_STRING_CUT;
    char c;
    switch (w->at[1]) {
    case '"':
    case '\\':
    case '/':
        c = (char)w->at[1];
        break;
    case 'b':
        c = '\b';
        break;
    case 'f':
        c = '\f';
        break;
    case 'n':
        c = '\n';
        break;
    case 'r':
        c = '\r';
        break;
    case 't':
        c = '\t';
        break;
    case 'u':
        return read_unicode(w, to, lone_surrogates);
    default:
        return JSON_STRING_ESCAPE;
    }
    w->at += 2;
    buf_char(to, c);
    return JSON_STRING_WHOLE;
}

enum json_string json_string_read(struct window *w, struct buf *to, size_t max,
                                  uint64_t *lone_surrogates)
{
    to->len = 0;
    while (window_need(w, 1)) {
        const uint8_t *run = w->at;
        w->at = plain_end(w->at, w->end);
        size_t len = (size_t)(w->at - run);
        if (to->len > max || len > max - to->len)
            return JSON_STRING_LONG;
        buf_bytes(to, run, len);
        if (to->failed)
            return JSON_STRING_MEMORY;
        if (w->at == w->end)
            continue;
        if (*w->at == '"') {
            w->at++;
            return JSON_STRING_WHOLE;
        }
        if (*w->at != '\\')
            return JSON_STRING_CONTROL;
        enum json_string escape = read_escape(w, to, lone_surrogates);
        if (escape != JSON_STRING_WHOLE)
            return escape;
    }
    return JSON_STRING_CUT;
}
