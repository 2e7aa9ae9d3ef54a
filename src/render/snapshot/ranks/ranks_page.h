/* ranks_page.h - units side by side as a page of HTML: a row for each, which leads to its file's
 * own page. */
#ifndef VRS_RENDER_SNAPSHOT_RANKS_RANKS_PAGE_H
#define VRS_RENDER_SNAPSHOT_RANKS_RANKS_PAGE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/write/out.h"

/* A file that was asked for. */
struct ranks_file {
    str path;    /* as in struct file_facts */
    str href;    /* of its page; empty: it has none */
    str failure; /* why there is no report of all of it; empty: there is */
};

struct ranks_page {
    const struct answer_set *set;  /* of reports, with `ranks` */
    const struct ranks_file *file; /* in the order of their paths */
    uint32_t files;                /* at least 1 */
    const char *tool;              /* version */
};

/* Rows by their peaks, the largest first, on one scale; then what ranks_text says, the ranks that
 * are missing and the files that failed.  A script of its own sorts by other columns; nothing is
 * from elsewhere.  `scratch` is the caller's to free. */
enum vrs_status ranks_page(struct out *out, const struct ranks_page *page, struct arena *scratch,
                           struct vrs_error *err) MUST_CHECK;

#endif
