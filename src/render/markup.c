/* markup.c - the five characters that HTML gives a meaning. */
#include "render/markup.h"

#include "render/escape.h"

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

void markup_text(struct buf *to, str text)
{
    struct buf plain;
    buf_init(&plain, SIZE_MAX / 2);
    escape_text(&plain, text, false);
    for (size_t i = 0; i < plain.len; i++) {
        const char *as = reference(plain.at[i]);
        if (as != NULL)
            buf_text(to, as);
        else
            buf_char(to, plain.at[i]);
    }
    buf_end(&plain, to);
}
