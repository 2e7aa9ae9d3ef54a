/* missing_ranks.h - which ranks of a job have no snapshot, in words. */
#ifndef VRS_RENDER_SNAPSHOT_RANKS_MISSING_RANKS_H
#define VRS_RENDER_SNAPSHOT_RANKS_MISSING_RANKS_H

#include <stdbool.h>

#include "analysis/snapshot/report/report.h"
#include "base/buf.h"

/* "no snapshot of ranks 1, 2 of 8", or why that is not known; false: nothing is to be said. */
bool missing_ranks_words(struct buf *to, const struct report_set *set);

#endif
