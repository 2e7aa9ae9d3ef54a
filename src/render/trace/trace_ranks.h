/* trace_ranks.h - the ranks of a job, for people. */
#ifndef VRS_RENDER_TRACE_TRACE_RANKS_H
#define VRS_RENDER_TRACE_TRACE_RANKS_H

#include <stdint.h>

#include "analysis/trace/ranks/trace_ranks.h"
#include "analysis/trace/report/job.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/write/human.h"

/* A sentence and three tables of at most so many rows; nothing where `ranks` is NULL. */
void trace_ranks_text(struct buf *to, const struct style *style, const struct trace_ranks *ranks,
                      int64_t world_size, uint32_t most);

/* Why there are none to compare. */
void trace_same_rank_text(struct buf *to, const struct style *style, const struct same_rank *same);
void trace_outsider_text(struct buf *to, const struct style *style, str path);

#endif
