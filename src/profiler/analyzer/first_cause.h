/* first_cause.h - the rank whose memory jumped first, on one clock for all ranks. */
#ifndef VRS_PROFILER_ANALYZER_FIRST_CAUSE_H
#define VRS_PROFILER_ANALYZER_FIRST_CAUSE_H

#include <stdint.h>

#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/samples.h"

/* Clocks of ranks are laid over each other at their first samples.  Of several jobs the one with
 * the most samples is looked at.  A jump is a run of samples of one rank that go up in all by a
 * share of its most, and by a number of bytes at least.  Findings, in this order:
 *
 *     cross_rank    once: job, jobs, world_size, jumps, and cluster_onset_ns, when the second
 *                   rank jumped, only where two did
 *     rank          each by its number: rank, samples, offset_ns from the first rank's clock, and
 *                   whether that is skewed, far more than the time between two samples
 *     first_cause   ranks that jumped until then, the first one first: rank, jumped_ns, aligned_ns,
 *                   bytes, samples, lead_ns and supporting; as severe as it is sure: low, medium,
 *                   high
 *
 * `*ret_dropped` counts the samples of which used is not known.  Nothing is found where no other is
 * left. */
void first_cause_find(const struct samples *samples, const double *thresholds, struct findings *ret,
                      uint32_t *ret_dropped);

#endif
