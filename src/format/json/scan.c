/* scan.c - one pass over the bytes of a token, then a look at its form. */
#include "format/json/scan.h"

#include <stdbool.h>
#include <string.h>

/* The first place of `text` at or behind `at` that is no digit; `at` itself: none stands here. */
static size_t behind_digits(str text, size_t at)
{
    while (at < text.len && is_digit(text.ptr[at]))
        at++;
    return at;
}

/* The grammar of RFC 8259: no plus in front, no leading zero, digits on both sides of a point and
 * in an exponent. */
static bool well_formed(str text)
{
    size_t first = text.len != 0 && text.ptr[0] == '-' ? 1 : 0;
    size_t at = behind_digits(text, first);
    if (at == first || (text.ptr[first] == '0' && at > first + 1))
        return false;
    if (at < text.len && text.ptr[at] == '.') {
        size_t fraction = at + 1;
        at = behind_digits(text, fraction);
        if (at == fraction)
            return false;
    }
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        size_t exponent = at + 1;
        if (exponent < text.len && (text.ptr[exponent] == '-' || text.ptr[exponent] == '+'))
            exponent++;
        at = behind_digits(text, exponent);
        if (at == exponent)
            return false;
    }
    return at == text.len;
}

enum json_scan json_scan_number(struct window *w, str *ret)
{
    if (json_scan_common(w, ret))
        return JSON_SCAN_WHOLE;
    bool more = window_need(w, NUMBER_BYTES);
    size_t len = 0, left = (size_t)(w->end - w->at);
    while (len < left && len < NUMBER_BYTES && json_in_number(w->at[len]))
        len++;
    /* A number that the end of the input touches may lack its last digits. */
    if (!more && len == left) {
        w->at = w->end;
        return JSON_SCAN_CUT;
    }
    str text = { (const char *)w->at, len };
    if (len == NUMBER_BYTES || !well_formed(text))
        return JSON_SCAN_WRONG;
    w->at += len;
    *ret = text;
    return JSON_SCAN_WHOLE;
}

enum json_scan json_scan_literal(struct window *w, enum json_literal *ret)
{
    static const struct {
        str word;
        enum json_literal literal;
    } words[] = {
        { { "true", 4 }, JSON_TRUE },     { { "false", 5 }, JSON_FALSE },
        { { "null", 4 }, JSON_NULL },     { { "NaN", 3 }, JSON_NULL },
        { { "Infinity", 8 }, JSON_NULL }, { { "-Infinity", 9 }, JSON_NULL },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        str word = words[i].word;
        bool whole = window_need(w, word.len);
        size_t left = (size_t)(w->end - w->at), len = whole ? word.len : left;
        if (memcmp(w->at, word.ptr, len) != 0)
            continue;
        w->at += len;
        if (!whole)
            return JSON_SCAN_CUT;
        *ret = words[i].literal;
        return JSON_SCAN_WHOLE;
    }
    return JSON_SCAN_WRONG;
}
