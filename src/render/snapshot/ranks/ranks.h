/* ranks.h - units side by side, in words. */
#ifndef VRS_RENDER_SNAPSHOT_RANKS_RANKS_H
#define VRS_RENDER_SNAPSHOT_RANKS_RANKS_H

#include <stdbool.h>

#include "analysis/snapshot/ranks/ranks.h"
#include "base/buf.h"
#include "render/write/human.h"

/* Who bounds the job; nothing where all are alike.  In a report of one file units are called by
 * their devices. */
void ranks_worst_text(struct buf *to, const struct style *style, const struct ranks *ranks,
                      bool one_file);

/* Whether that is other code or larger tensors, and what else tells the units apart. */
void ranks_text(struct buf *to, const struct style *style, const struct ranks *ranks,
                bool one_file);

#endif
