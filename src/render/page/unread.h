/* unread.h - the page of a file that could not be read. */
#ifndef VRS_RENDER_PAGE_UNREAD_H
#define VRS_RENDER_PAGE_UNREAD_H

#include "base/buf.h"
#include "base/str.h"

/* `path` and `why` are any bytes; `index`: a link behind them, or NULL. */
void page_unread(struct buf *to, str path, str why, const char *index);

#endif
