/* name_lines.h - names of memory under the row that holds it, and how much of it has one. */
#ifndef VRS_RENDER_ANSWER_NAME_LINES_H
#define VRS_RENDER_ANSWER_NAME_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/study/held_names.h"
#include "base/buf.h"
#include "render/write/human.h"

/* "bf16 4096 x 11008"; nothing where neither is known. */
void name_type_words(struct buf *to, const struct held_name *name, bool ascii);

/* A line for each name, "4.00 MiB  model.layers.3.mlp.down_proj.weight  bf16 4096 x 11008", and one
 * with the sum of those that are not shown; nothing where there is none.  A type that does not fit
 * stands on the line below, and a name that does not is cut in its middle. */
void name_lines_put(struct buf *to, const struct style *style, uint32_t indent,
                    const struct held_names *names);

/* "37.2 % of it, 512.00 MiB, have a name" */
void name_share_words(struct buf *to, const struct held_names *names, uint64_t live_bytes);

#endif
