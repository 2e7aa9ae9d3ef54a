/* unread.h - the page of a file that could not be read. */
#ifndef VRS_RENDER_PAGE_UNREAD_H
#define VRS_RENDER_PAGE_UNREAD_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

/* `path` and the message are any bytes; `index`: a link behind them, or NULL. */
void page_unread(struct buf *to, str path, const struct vrs_error *why, const char *index);

#endif
