/* html.h - the snapshots inside a page, found while the page is read.
 *
 * PyTorch's viewer pages hold objects of the form {"name": "...", "base64": "..."}.  The scanner
 * goes from one "base64" string to the next; while it stands in one, that string is a source of
 * the bytes it encodes, and no copy of it is ever made. */
#ifndef VRS_FORMAT_HTML_H
#define VRS_FORMAT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/window.h"

enum { HTML_NAME_BYTES = 1024 };

struct html_name {
    size_t len;
    char text[HTML_NAME_BYTES];
};

struct html {
    struct window *page;
    struct buf scratch;
    int64_t depth; /* braces opened less braces closed */

    bool named; /* `name` was found, and its object, of `name_depth`, is still open */
    int64_t name_depth;
    struct html_name name;

    bool owned; /* an entry was found, and its object, of `entry_depth`, is still open */
    int64_t entry_depth;
    struct html_name entry_name, done_name; /* of the entry at hand, of the one before */

    /* The base64 string at hand. */
    bool inside, padded;
    bool cut; /* the page ends before the string's closing quote */
    uint32_t group, digits;
    uint8_t ready[3], ready_len, ready_at;
};

void html_init(struct html *h, struct window *page);
void html_free(struct html *h);

/* Goes on to the next entry: `*ret_found` is false when there is none.  The string of the entry
 * before must have been read to its end or skipped.  Only now is the name of that entry known
 * (it may stand behind the string): it is what html_name gives until the call after this. */
enum vrs_status html_next(struct html *h, bool *ret_found, struct vrs_error *err) MUST_CHECK;

/* The name of the entry before the one that html_next found, empty when it has none.  Longer
 * ones than HTML_NAME_BYTES count as none.  Bytes may be no UTF-8. */
str html_name(const struct html *h);

/* The bytes of the entry at hand.  What is not base64 is VRS_CORRUPT with the page's offset. */
struct source source_of_html(struct html *h);

/* Leaves the entry at hand unread. */
void html_skip(struct html *h);

#endif
