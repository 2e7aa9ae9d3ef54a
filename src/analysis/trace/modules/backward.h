/* backward.h - which operators of a backward pass belong to which operator of the forward pass. */
#ifndef VRS_ANALYSIS_TRACE_MODULES_BACKWARD_H
#define VRS_ANALYSIS_TRACE_MODULES_BACKWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"

/* For each span the operator of the forward pass that it is the backward pass of, or NO_ROW: by the
 * arrows that lead from the one to the other, or, in a trace without such arrows, by the number of
 * autograd's node that both have.  What autograd wraps around such an operator stands for it.
 * False when out of memory. */
bool backward_find(const struct trace_study *s, const struct forest *f, struct arena *arena,
                   uint32_t **ret);

/* Gives what lies in such a span the operator of that. */
void backward_spread(const struct forest *f, uint32_t *forward);

#endif
