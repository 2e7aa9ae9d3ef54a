/* repair.c - one pass over an event, from token to token; the grammar is the judge's business. */
#include "format/trace/repair.h"

#include <stddef.h>

#include "base/number.h"
#include "base/str.h"
#include "format/json/scan.h"
#include "format/trace/look.h"

void repair_init(struct repair *r)
{
    *r = (struct repair){ .depth = 0 };
    /* A control character becomes six; texts beyond HELD_BYTES are given up before they are. */
    buf_init(&r->text, (size_t)2 * HELD_BYTES);
}

void repair_free(struct repair *r)
{
    buf_free(&r->text);
}

static void found(struct repair *r, enum trace_damage kind)
{
    if (r->found[kind].count++ == 0)
        r->found[kind].first_offset = window_offset(r->window);
}

/* Whether there is a byte at the front, and the event is not too long. */
static bool goes_on(struct repair *r)
{
    return window_need(r->window, 1) && r->window->held != NULL && r->text.len < HELD_BYTES &&
           !r->text.failed;
}

/* Texts. */

/* Whether the bracket there ends what it should: the list or the object around it goes on. */
static bool ends_something(struct window *w, size_t ahead)
{
    int c = look_byte(w, look_behind_blanks(w, ahead + 1));
    return c == ',' || c == '}' || c == ']' || c == LOOK_END;
}

/* Whether the quote `ahead` ends the text of a value. */
static bool closes(const struct repair *r, size_t ahead)
{
    struct window *w = r->window;
    size_t next = look_behind_blanks(w, ahead + 1);
    int c = look_byte(w, next);
    bool (*is_key)(struct window *, size_t) = r->depth == 1 ? look_event_key : look_key;
    if (c == '}' || (c == ']' && r->depth > 1))
        return ends_something(w, next);
    if (c == ',')
        return is_key(w, look_behind_blanks(w, next + 1));
    return c == LOOK_END || look_event_key(w, next);
}

/* How many bytes the escape at the front has; 0: it is none of JSON. */
static size_t escape_length(struct window *w)
{
    int c = look_byte(w, 1);
    if (c == 'u') {
        uint32_t n;
        bool is = window_need(w, 6) && number_hex((str){ (const char *)w->at + 2, 4 }, &n);
        return is ? 6 : 0;
    }
    /* The NUL that ends the list is none. */
    static const char escapes[] = "\"\\/bfnrt";
    for (const char *e = escapes; *e != 0; e++)
        if (*e == c)
            return 2;
    return 0;
}

/* At a backslash.  One that stands before the quote that ends its text is a backslash. */
static void copy_escape(struct repair *r, bool guess)
{
    struct window *w = r->window;
    size_t len = escape_length(w);
    if (len == 0 || (guess && look_byte(w, 1) == '"' && closes(r, 1))) {
        found(r, DAMAGE_ESCAPE);
        buf_text(&r->text, "\\\\");
        w->at++;
        return;
    }
    buf_bytes(&r->text, w->at, len);
    w->at += len;
}

static void put_control(struct repair *r, uint8_t c)
{
    static const char digits[] = "0123456789abcdef";
    const char escape[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 0xf] };
    buf_bytes(&r->text, escape, sizeof escape);
}

static void copy_plain(struct repair *r)
{
    struct window *w = r->window;
    const uint8_t *from = w->at++;
    while (w->at < w->end && *w->at != '"' && *w->at != '\\' && *w->at >= ' ' && *w->at != '{')
        w->at++;
    buf_bytes(&r->text, from, (size_t)(w->at - from));
}

/* At the opening quote. */
static bool copy_text(struct repair *r, bool guess)
{
    struct window *w = r->window;
    buf_char(&r->text, '"');
    w->at++;
    while (goes_on(r)) {
        uint8_t c = *w->at;
        bool is_quote = c == '"';
        if (is_quote && (!guess || closes(r, 0))) {
            buf_char(&r->text, '"');
            w->at++;
            return true;
        }
        if (guess && c == '{' && look_event(w))
            return false; /* a text that lacks its end has run into the next event */
        if (is_quote) {
            found(r, DAMAGE_QUOTE);
            buf_text(&r->text, "\\\"");
            w->at++;
        } else if (c == '\\') {
            copy_escape(r, guess);
        } else if (c < ' ') {
            found(r, DAMAGE_CONTROL);
            put_control(r, c);
            w->at++;
        } else {
            copy_plain(r);
        }
    }
    return false;
}

/* Words. */

static bool ends_word(int c)
{
    return c == LOOK_END || c == ',' || c == '}' || c == ']' || c == ':' || c == '{' || c == '[' ||
           c == '"' || is_blank((uint8_t)c);
}

/* A number, true, false or null at the front, if one is; what else the word has follows it. */
static void copy_scalar(struct repair *r)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",
        [JSON_FALSE] = "false",
        [JSON_TRUE] = "true",
    };
    str number;
    enum json_literal literal;
    if (json_scan_number(r->window, &number) == JSON_SCAN_WHOLE)
        buf_str(&r->text, number);
    else if (json_scan_literal(r->window, &literal) == JSON_SCAN_WHOLE)
        buf_text(&r->text, names[literal]);
}

/* What begins like nothing else.  False when the input ends inside. */
static bool copy_word(struct repair *r)
{
    struct window *w = r->window;
    size_t start = r->text.len;
    uint64_t offset = window_offset(w);
    copy_scalar(r);
    if (window_offset(w) == offset || !ends_word(look_byte(w, 0))) {
        found(r, DAMAGE_WORD);
        while (goes_on(r) && !ends_word(*w->at))
            w->at++;
        if (r->text.failed)
            return false;
        r->text.len = start;
        buf_text(&r->text, "null");
    }
    return window_need(w, 1);
}

/* Containers. */

/* Past the value at the front, whatever it holds. */
static bool skip_nested(struct repair *r)
{
    struct window *w = r->window;
    uint64_t depth = 0;
    bool in_text = false;
    while (goes_on(r)) {
        uint8_t c = *w->at++;
        if (in_text && c == '\\' && window_need(w, 1))
            w->at++;
        else if (c == '"')
            in_text = !in_text;
        else if (!in_text && (c == '{' || c == '['))
            depth++;
        else if (!in_text && (c == '}' || c == ']') && --depth == 0)
            return true;
    }
    return false;
}

static void put_comma(struct repair *r)
{
    if (r->comma)
        buf_char(&r->text, ',');
    r->comma = false;
}

static void put_value(struct repair *r, const char *text)
{
    put_comma(r);
    buf_text(&r->text, text);
    r->behind_value = true;
    r->behind_colon = false;
}

/* Before a comma or the end of an object: a key must not stand alone. */
static void end_member(struct repair *r)
{
    if (!r->behind_colon)
        return;
    found(r, DAMAGE_WORD);
    put_value(r, "null");
}

static bool open_container(struct repair *r, uint8_t c)
{
    struct window *w = r->window;
    if (r->behind_value)
        return false;
    if (r->depth == r->nesting) {
        found(r, DAMAGE_NESTED);
        put_value(r, "null");
        return skip_nested(r);
    }
    put_value(r, c == '{' ? "{" : "[");
    r->behind_value = false;
    r->is_dict[r->depth++] = c == '{';
    w->at++;
    return true;
}

static bool close_container(struct repair *r, uint8_t c)
{
    if (r->depth == 0 || r->is_dict[r->depth - 1] != (c == '}'))
        return false;
    end_member(r);
    if (r->comma)
        found(r, DAMAGE_COMMA);
    r->comma = false;
    r->depth--;
    put_value(r, c == '}' ? "}" : "]");
    r->window->at++;
    return true;
}

static void take_comma(struct repair *r)
{
    end_member(r);
    if (!r->behind_value)
        found(r, DAMAGE_COMMA);
    r->comma = r->comma || r->behind_value;
    r->behind_value = false;
    r->window->at++;
}

/* At the opening quote of a key or a value. */
static bool take_text(struct repair *r)
{
    bool is_dict = r->depth > 0 && r->is_dict[r->depth - 1];
    if (r->behind_value) {
        if (!is_dict || !look_key(r->window, 0))
            return false;
        found(r, DAMAGE_COMMA);
        r->comma = true;
    }
    put_comma(r);
    bool is_key = is_dict && !r->behind_colon;
    bool guess = r->quotes == QUOTES_GUESSED && is_dict && !is_key && (r->depth > 1 || r->in_name);
    size_t start = r->text.len;
    if (!copy_text(r, guess))
        return false;
    if (is_key && r->depth == 1) {
        str key = { r->text.at + start, r->text.len - start };
        r->in_name = !r->text.failed && str_equal(key, S("\"name\""));
    }
    r->behind_value = !is_key;
    r->behind_colon = false;
    return true;
}

static bool take_token(struct repair *r, uint8_t c)
{
    switch (c) {
    case '{':
    case '[':
        return open_container(r, c);
    case '}':
    case ']':
        return close_container(r, c);
    case ',':
        take_comma(r);
        return true;
    case ':':
        buf_char(&r->text, ':');
        r->behind_colon = true;
        r->window->at++;
        return true;
    case '"':
        return take_text(r);
    default:
        if (r->behind_value)
            return false;
        put_value(r, "");
        return copy_word(r);
    }
}

bool repair_event(struct repair *r, struct window *w, enum quotes quotes, uint32_t nesting)
{
    struct buf text = r->text;
    *r = (struct repair){ .text = text, .window = w, .quotes = quotes };
    r->text.len = 0;
    r->nesting = nesting < REPAIR_NESTING_MOST ? nesting : REPAIR_NESTING_MOST;
    do {
        if (!goes_on(r))
            return false;
        if (is_blank(*w->at))
            w->at++;
        else if (!take_token(r, *w->at))
            return false;
    } while (r->depth > 0);
    static const char zeros[WINDOW_PAD_BYTES];
    size_t len = r->text.len;
    buf_bytes(&r->text, zeros, sizeof zeros);
    if (r->text.failed)
        return false;
    r->text.len = len;
    return true;
}
