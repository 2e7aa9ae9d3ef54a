/* lines.h - the lines of the user's own code whose text a page has.
 *
 * Reading files is not for the library: who calls it hands the text in. */
#ifndef VRS_RENDER_PAGE_LINES_H
#define VRS_RENDER_PAGE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"

struct json;
struct page_device;

enum {
    PAGE_LINES_ASKED = 512,       /* for their text, at most */
    PAGE_LINES_BYTES = 64 * 1024, /* of the head that they take */
    PAGE_LINE_CHARACTERS = 200    /* of a text; a longer one is cut, with "…" behind it */
};

struct page_line {
    str site, file; /* as answers name it; as the recording has it */
    uint32_t line;
    uint64_t bytes; /* that stacks of it hold at the peaks */
    str text;
};

struct page_lines {
    VEC(struct page_line) of;
};

/* As in struct vrs_view_options. */
typedef size_t page_line_text(const void *arg, const char *file, uint32_t line, char *to,
                              size_t room);

/* Adds the lines of a device whose tables are queued; their names are those of its study. */
enum vrs_status page_lines_add(const struct page_device *device, struct page_lines *lines,
                               struct vrs_error *err) MUST_CHECK;

/* Keeps those that have a text, which lives in `keep`; what holds most is first.  VRS_USAGE where
 * `text` gives more than it has room for. */
enum vrs_status page_lines_read(struct page_lines *lines, page_line_text *text, const void *arg,
                                struct arena *keep, struct vrs_error *err) MUST_CHECK;

/* An element of the head's member "source". */
void page_line_put(struct json *j, const struct page_line *line);

/* Text of whatever bytes as the page shows it: on one line, cut, and valid. */
str page_line_shown(str bytes, struct arena *keep);

#endif
