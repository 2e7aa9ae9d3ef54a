/* markup.c - the five characters that HTML and XML give a meaning. */
#include "render/write/markup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "render/write/escape.h"

static const char *reference(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void markup_escaped(struct buf *to, str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char *as = reference(text.ptr[i]);
        str noncharacter = { text.ptr + i, text.len - i < 3 ? text.len - i : 3 };
        if (as != NULL) {
            buf_text(to, as);
        } else if (str_equal(noncharacter, S("\ufffe")) || str_equal(noncharacter, S("\uffff"))) {
            /* XML has no way to write these. */
            buf_text(to, text.ptr[i + 2] == '\xbe' ? "\\u{fffe}" : "\\u{ffff}");
            i += 2;
        } else {
            buf_char(to, text.ptr[i]);
        }
    }
}

void markup_text(struct buf *to, str text)
{
    struct buf plain;
    buf_init(&plain, SIZE_MAX / 2);
    escape_text(&plain, text, false);
    markup_escaped(to, buf_slice(&plain));
    buf_end(&plain, to);
}
