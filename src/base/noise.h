/* noise.h - whether the medians of two samples differ by more than the noise of what they are the
 * medians of.
 *
 * The median of normal values is known to 1.253 times the standard error of their mean, and lies
 * within 1.96 times that of what was found in 95 of 100 samples: half of its interval.  Two medians
 * differ where their intervals do not meet, so that the interval of their difference is as wide as
 * both together: of samples that are alike it holds the true difference in 99 of 100. */
#ifndef VRS_BASE_NOISE_H
#define VRS_BASE_NOISE_H

#include <stdbool.h>
#include <stdint.h>

/* How far a median may lie above the one before. */
struct noise_limit {
    bool is_ratio;
    int64_t ns;   /* where it is a time */
    double ratio; /* in parts of the one before, where it is a share */
};

/* Of times: less is faster. */
enum noise_verdict {
    NOISE_SAME,
    NOISE_WITHIN, /* the intervals meet */
    NOISE_FASTER,
    NOISE_SLOWER,
    NOISE_NOT_JUDGED, /* there is no interval */
    NOISE_VERDICTS
};

/* "no_difference" */
extern const char *const noise_verdict_names[NOISE_VERDICTS];

/* Half of the interval of the median of `count` values, of which this is the deviation of the
 * sample, which divides by one less than their number. */
double noise_of_median(double deviation, uint32_t count);

/* What a change of the median is called, `noise` being half of its interval: no difference where
 * all of that lies within `same` around 0, which may be 0. */
enum noise_verdict noise_judge(double change, double noise, double same);

#endif
