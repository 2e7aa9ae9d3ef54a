/* fit.h - drops the columns that are needed least from a page that would be too large.
 *
 * Bytes, lives, stacks and categories of allocations are never left out: only what some views and
 * details add to them.  The page says what it lacks, by the words of page_spare_words.  Which
 * allocations it then has is the business of window.h. */
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

/* Takes the columns of one out of all devices and the blocks; false where no device has them. */
bool page_leave_out(struct page_parts *parts, enum page_spare spare);

#endif
