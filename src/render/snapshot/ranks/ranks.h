/* ranks.h - units side by side, as JSON and in words. */
#ifndef VRS_RENDER_SNAPSHOT_RANKS_RANKS_H
#define VRS_RENDER_SNAPSHOT_RANKS_RANKS_H

#include "render/answer/result.h"
#include "render/write/json.h"

/* The member "ranks"; null where there is nothing to compare. */
void ranks_json(struct json *j, struct out *out, const struct ranks *ranks);

/* Who bounds the job, whether that is other code or larger tensors, what would be saved.  In a
 * report of one file units are called by their devices. */
void ranks_text(struct buf *to, const struct style *style, const struct ranks *ranks,
                bool one_file);

#endif
