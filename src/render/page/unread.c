/* unread.c - the page of a file that could not be read. */
#include "render/page/unread.h"

#include <stddef.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/write/markup.h"

void page_unread(struct buf *to, str path, const struct vrs_error *why, const char *index)
{
    buf_text(to, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                 "<title>vramscope</title></head>\n<body><p><bdi>");
    markup_text(to, path);
    buf_text(to, "</bdi>: ");
    if (why->offset != VRS_NO_OFFSET)
        buf_format(to, "byte %llu: ", (unsigned long long)why->offset);
    markup_text(to, str_from(why->message));
    buf_text(to, "</p>");
    if (index != NULL) {
        buf_text(to, "<p><a href=\"");
        markup_text(to, str_from(index));
        buf_text(to, "\">all files</a></p>");
    }
    buf_text(to, "</body></html>\n");
}
