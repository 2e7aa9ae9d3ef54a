/* fit.h - how much of the recordings a page holds: as much as its size allows.
 *
 * First it goes without columns that few need, then it holds the events around the peak only
 * (window.h), then it goes without more columns.  Bytes, lives, stacks and categories of
 * allocations are never left out.  The page says what it lacks, by the words of page_spare_words.
 */
#ifndef VRS_RENDER_PAGE_FIT_H
#define VRS_RENDER_PAGE_FIT_H

#include "render/page/page.h"

/* What a page can do without, the least needed first. */
extern const char *const page_spare_words[PAGE_SPARES];

/* What is packed and not yet written. */
struct page_parts {
    struct page_file *file;
    uint32_t files;
    struct page_pair *pair;
    uint32_t pairs;
    struct page_chunks *blocks;
};

/* Puts `made`, a column that was packed again, of `bytes`, in the place of `column`, which it then
 * is.  One that had no bytes has no place, and must not get any.  Fails for want of memory. */
enum vrs_status page_replace(struct page_parts *parts, struct page_packed *column,
                             const struct page_packed *made, const struct buf *bytes,
                             struct vrs_error *err) MUST_CHECK;

struct page_limits {
    uint64_t most_bytes; /* 0: any number */
    bool may_be_larger;  /* where no page is so small */
    bool asked;          /* the devices have the windows that were asked for, and keep them */
    uint32_t threads;    /* to pack on; 0: one for each processor */
    void (*note)(void *arg, const char *text); /* told what the page lacks; or NULL */
    void *note_arg;
};

/* Leaves out of the page, which is made of `parts`, what is needed least until it is small enough.
 * VRS_USAGE where nothing is; the message names the least. */
enum vrs_status page_fit(struct page *page, struct page_parts *parts,
                         const struct page_limits *limits, struct vrs_error *err) MUST_CHECK;

#endif
