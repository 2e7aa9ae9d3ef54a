/* device_pages.h - many devices at once: a line about each, then the pages of the worst.
 *
 * A page for each of eight ranks says eight times what one line would, and hides the one that
 * matters. */
#ifndef VRS_RENDER_ANSWER_DEVICE_PAGES_H
#define VRS_RENDER_ANSWER_DEVICE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/write/text.h"

/* What a verb says of a device in its line. */
struct device_line {
    uint64_t bytes; /* the figure that devices are compared by; UNKNOWN_U64: none */
    bool matters;   /* its page is worth reading */
};

/* Writes some words besides, and fills the line; asked of devices with a result alone. */
typedef void device_line_words(struct buf *words, const struct device_answer *device, bool ascii,
                               struct device_line *ret);

/* How a verb's lines look. */
struct device_lines {
    device_line_words *words;
    const char *figure;  /* heading of the bytes */
    const char *meaning; /* heading of the words */
    enum text_cut cut;   /* where the words give way */
};

/* Which pages follow; all of a few, and those of which nothing is known. */
struct device_pages {
    struct arena arena;
    bool *shown;     /* of each device in its order; NULL: all */
    bool summarised; /* lines stand above the pages */
};

/* Writes the lines of several devices; nothing about one.  Ended by device_pages_free. */
void device_pages_begin(struct device_pages *pages, struct buf *to, const struct answer_set *set,
                        const struct render_options *options, const struct device_lines *lines);
void device_pages_free(struct device_pages *pages);

/* Whether the page of a device, in the order of files and devices, follows. */
bool device_pages_show(const struct device_pages *pages, uint32_t place);

/* The same of any of the devices of a file, the first at `place`; a file of none is told of in the
 * lines, where there are such. */
bool device_pages_show_file(const struct device_pages *pages, uint32_t place, uint32_t devices);

#endif
