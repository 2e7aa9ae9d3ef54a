/* html.c - scanning a page, decoding base64 (RFC 4648) as it is read. */
#include "format/html.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/str.h"
#include "format/json/string.h"

void html_init(struct html *h, struct window *page)
{
    *h = (struct html){ .page = page };
    buf_init(&h->scratch, HTML_NAME_BYTES + 8);
}

void html_free(struct html *h)
{
    buf_free(&h->scratch);
}

str html_name(const struct html *h)
{
    return (str){ h->done_name.text, h->done_name.len };
}

/* Takes white space, then `c`. */
static bool take(struct window *w, uint8_t c)
{
    while (window_need(w, 1) && is_blank(*w->at))
        w->at++;
    if (!window_need(w, 1) || *w->at != c)
        return false;
    w->at++;
    return true;
}

/* Takes `key`, with its quotes, and what follows it up to the quote that opens a string. */
static bool take_key(struct window *w, str key)
{
    if (!window_need(w, key.len) || memcmp(w->at, key.ptr, key.len) != 0)
        return false;
    w->at += key.len;
    return take(w, ':') && take(w, '"');
}

static enum vrs_status read_name(struct html *h, struct vrs_error *err)
{
    uint64_t lone_surrogates = 0;
    enum json_string end =
        json_string_read(h->page, &h->scratch, HTML_NAME_BYTES, &lone_surrogates);
    if (end == JSON_STRING_MEMORY)
        return vrs_no_memory(err);
    if (end != JSON_STRING_WHOLE || h->scratch.len > HTML_NAME_BYTES)
        return VRS_OK;
    h->name.len = h->scratch.len;
    if (h->scratch.len != 0)
        memcpy(h->name.text, h->scratch.at, h->scratch.len);
    h->named = true;
    h->name_depth = h->depth;
    if (h->owned && h->entry_depth == h->depth && h->entry_name.len == 0)
        h->entry_name = h->name;
    return VRS_OK;
}

/* The string at hand becomes the entry at hand, and that becomes the one before. */
static void begin_entry(struct html *h)
{
    h->done_name = h->entry_name;
    h->entry_name.len = 0;
    if (h->named && h->name_depth == h->depth)
        h->entry_name = h->name;
    h->owned = h->inside = true;
    h->entry_depth = h->depth;
    h->padded = h->cut = false;
    h->digits = h->group = 0;
    h->ready_len = h->ready_at = 0;
}

static void close_brace(struct html *h)
{
    h->depth--;
    h->named = h->named && h->name_depth <= h->depth;
    h->owned = h->owned && h->entry_depth <= h->depth;
}

enum vrs_status html_next(struct html *h, bool *ret_found, struct vrs_error *err)
{
    struct window *w = h->page;
    while (window_need(w, 1)) {
        while (w->at < w->end && *w->at != '"' && *w->at != '{' && *w->at != '}')
            w->at++;
        if (w->at == w->end)
            continue;
        if (*w->at != '"') {
            if (*w->at++ == '{')
                h->depth++;
            else
                close_brace(h);
            continue;
        }
        uint64_t quote = window_offset(w);
        if (take_key(w, S("\"base64\""))) {
            begin_entry(h);
            *ret_found = true;
            return VRS_OK;
        }
        if (window_offset(w) == quote && take_key(w, S("\"name\"")))
            TRY(read_name(h, err));
        if (window_offset(w) == quote)
            w->at++;
    }
    TRY(window_status(w, err));
    h->done_name = h->entry_name;
    h->entry_name.len = 0;
    *ret_found = false;
    return VRS_OK;
}

void html_skip(struct html *h)
{
    struct window *w = h->page;
    bool escaped = false;
    while (h->inside && window_need(w, 1)) {
        uint8_t c = *w->at++;
        h->inside = c != '"' || escaped;
        escaped = c == '\\' && !escaped;
    }
    h->cut = h->cut || h->inside;
    h->inside = false;
}

/* What a digit stands for, plus 1. */
static const uint8_t digit_of[256] = {
    /* clang-format off */
    ['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5, ['F'] = 6, ['G'] = 7, ['H'] = 8,
    ['I'] = 9, ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
    /* clang-format on */
};

/* Whole groups of four digits, the bulk of a string. */
static size_t decode_groups(struct window *w, uint8_t *to, size_t len)
{
    const uint8_t *at = w->at;
    size_t given = 0;
    while (w->end - at >= 4 && len - given >= 3) {
        uint32_t a = digit_of[at[0]], b = digit_of[at[1]], c = digit_of[at[2]], d = digit_of[at[3]];
        if (a == 0 || b == 0 || c == 0 || d == 0)
            break;
        uint32_t group = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);
        to[given] = (uint8_t)(group >> 16);
        to[given + 1] = (uint8_t)(group >> 8);
        to[given + 2] = (uint8_t)group;
        given += 3;
        at += 4;
    }
    w->at = at;
    return given;
}

/* The bytes of the group so far are ready; two digits make one byte, three make two. */
static void finish_group(struct html *h)
{
    if (h->digits < 2)
        return;
    uint32_t group = h->group << 6 * (4 - h->digits);
    h->ready[0] = (uint8_t)(group >> 16);
    h->ready[1] = (uint8_t)(group >> 8);
    h->ready[2] = (uint8_t)group;
    h->ready_len = (uint8_t)(h->digits - 1);
    h->ready_at = 0;
    h->group = h->digits = 0;
}

/* The character at hand, its escape resolved; 0 when it is none.  `*ret_len` is its length. */
static uint8_t character(struct window *w, size_t *ret_len)
{
    *ret_len = 1;
    if (*w->at != '\\')
        return *w->at;
    *ret_len = 2;
    if (!window_need(w, 2))
        return 0;
    switch (w->at[1]) {
    case '/':
        return '/';
    case 'n':
    case 'r':
    case 't':
        return ' ';
    case 'u':
        break;
    default:
        return 0;
    }
    /* A plus or a slash is all that writers escape so. */
    *ret_len = 6;
    if (!window_need(w, 6))
        return 0;
    if (memcmp(w->at + 2, "002", 3) != 0)
        return 0;
    return w->at[5] == 'b' || w->at[5] == 'B' ? '+' : w->at[5] == 'f' || w->at[5] == 'F' ? '/' : 0;
}

/* One character of the string. */
static enum vrs_status decode_one(struct html *h, struct vrs_error *err)
{
    struct window *w = h->page;
    size_t len;
    uint8_t c = character(w, &len);
    if (c == 0 && w->ended && (size_t)(w->end - w->at) < len) {
        w->at = w->end; /* an escape that the end of the page cuts */
        return VRS_OK;
    }
    if (c == '"' && h->digits != 1) {
        finish_group(h);
        h->inside = false;
    } else if (c == '=' && (h->digits >= 2 || h->padded)) {
        finish_group(h);
        h->padded = true;
    } else if (digit_of[c] != 0 && !h->padded) {
        h->group = h->group << 6 | (uint32_t)(digit_of[c] - 1);
        if (++h->digits == 4)
            finish_group(h);
    } else if (!is_blank(c)) {
        return vrs_fail_at(err, VRS_CORRUPT, window_offset(w),
                           "not base64, which the page promises (offset in the page)");
    }
    w->at += len;
    return VRS_OK;
}

static enum vrs_status read_base64(void *self, uint8_t *to, size_t len, size_t *ret,
                                   struct vrs_error *err)
{
    struct html *h = self;
    size_t given = 0;
    while (given < len) {
        while (h->ready_at < h->ready_len && given < len)
            to[given++] = h->ready[h->ready_at++];
        if (h->ready_at < h->ready_len || !h->inside)
            break;
        if (given > 0 && h->page->at == h->page->end)
            break; /* better some bytes now than all of them later */
        if (!window_need(h->page, 1)) {
            TRY(window_status(h->page, err));
            finish_group(h);
            h->cut = true;
            h->inside = false;
            continue;
        }
        if (h->digits == 0 && !h->padded)
            given += decode_groups(h->page, to + given, len - given);
        if (h->page->at < h->page->end)
            TRY(decode_one(h, err));
    }
    *ret = given;
    return VRS_OK;
}

struct source source_of_html(struct html *h)
{
    return (struct source){ .read = read_base64, .self = h };
}
