/* split_stacks.h - the Python frames around each call of the host, as texts. */
#ifndef VRS_ANALYSIS_TRACE_SPLITS_SPLIT_STACKS_H
#define VRS_ANALYSIS_TRACE_SPLITS_SPLIT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "model/strings.h"

/* Of each span but frames the text of the `frames` innermost around it among `texts`; 0: there are
 * none.  They are the frames of the trace, or where there are none those that the span, or the
 * operator that makes the call, has as a text.  What lies in a backward pass has those of the operator that it is the backward pass of, as
 * in the framework.  `trees` are those of framework_trees.  False when out of memory. */
bool split_stacks_make(const struct trace_study *s, const struct forest *trees, uint32_t frames,
                       struct strings *texts, struct arena *arena, uint32_t **ret);

#endif
