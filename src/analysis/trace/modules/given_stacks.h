/* given_stacks.h - the stack of each span, where operators have theirs as texts. */
#ifndef VRS_ANALYSIS_TRACE_MODULES_GIVEN_STACKS_H
#define VRS_ANALYSIS_TRACE_MODULES_GIVEN_STACKS_H

#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"

/* Of each span its text among those of stacks; 0: none.  A call has that of the operator that makes
 * it; what lies in a backward pass, by `forward` as backward_spread leaves it, that of the operator
 * that it is the backward pass of.  NULL when out of memory. */
uint32_t *given_stacks(const struct trace_study *s, const struct forest *f, const uint32_t *forward,
                       struct arena *arena);

#endif
