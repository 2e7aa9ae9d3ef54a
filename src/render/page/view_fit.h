/* view_fit.h - a page that would be too large goes without the columns that it needs least.
 *
 * Bytes, lives, stacks and categories of allocations are never left out: only what some views and
 * details add to them.  The page says what it lacks, by the words of view_spare_words.  Which
 * allocations it then has is the business of view_window.h. */
#ifndef VRS_RENDER_PAGE_VIEW_FIT_H
#define VRS_RENDER_PAGE_VIEW_FIT_H

#include "render/page/view.h"

/* What a page can do without, the least needed first. */
extern const char *const view_spare_words[VIEW_SPARES];

/* What is packed and not yet written. */
struct view_parts {
    struct view_file *file;
    uint32_t files;
    struct view_pair *pair;
    uint32_t pairs;
    struct view_blocks *blocks;
};

/* Puts `made`, a column that was packed again, of `bytes`, in the place of `column`, which it then
 * is.  One that had no bytes has no place, and must not get any.  Fails for want of memory. */
enum vrs_status view_replace(struct view_parts *parts, struct view_packed *column,
                             const struct view_packed *made, const struct buf *bytes,
                             struct vrs_error *err) MUST_CHECK;

/* Takes the columns of one out of all devices and the blocks; false where no device has them. */
bool view_leave_out(struct view_parts *parts, enum view_spare spare);

#endif
