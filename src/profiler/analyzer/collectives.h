/* collectives.h - memory that collective communication takes beside the allocator, told by rank. */
#ifndef VRS_PROFILER_ANALYZER_COLLECTIVES_H
#define VRS_PROFILER_ANALYZER_COLLECTIVES_H

#include <stdint.h>

#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/samples.h"

struct collective_limits {
    uint32_t min_samples;        /* of a rank */
    double min_gap_bytes;        /* one of both makes a gap large */
    double min_gap_ratio;        /* of the device */
    double robust_z;             /* of a gap among its rank's */
    int64_t marker_window_ns;    /* how far a marker may lie from a gap */
    int64_t padding_ns;          /* around what is found */
    int64_t synchrony_window_ns; /* how far gaps of several ranks may lie apart */
    double min_synchrony;        /* of the other ranks, to be called synchronous */
    double min_confidence;       /* less is not told */
};

/* What speaks for and against: the figure "reasons" of a finding, as a sum. */
enum collective_reason {
    COLLECTIVE_OUTLIER = 1,     /* the gap stands out among its rank's */
    COLLECTIVE_MARKED = 2,      /* a marker lies near */
    COLLECTIVE_UNMARKED = 4,    /* none does */
    COLLECTIVE_SYNCHRONOUS = 8, /* other ranks have one at the time */
    COLLECTIVE_DIVERGENT = 16,  /* the gap is wide */
    COLLECTIVE_ALONE = 32       /* no other rank has one */
};

/* Gaps of sampled devices that stand out and lie near markers of collectives or those of other
 * ranks, as intervals of one rank by rank and time; those that overlap are one.  Kinds are
 * collective_confident, collective_likely and collective_suspect, by confidence.  `*ret_dropped`
 * counts the samples of which used or reserved is not known. */
void collectives_find(const struct samples *samples, const struct collective_limits *limits,
                      struct findings *ret, uint32_t *ret_dropped);

#endif
