/* local_peaks.h - the few highest local maxima of a curve, by prominence, in one pass.
 *
 * A summit is a value that is highest of all around it, out to where the curve falls below 90 % of
 * it on either side, or ends.  A shoulder on the way to a higher value is none. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CURVES_LOCAL_PEAKS_H
#define VRS_ANALYSIS_SNAPSHOT_CURVES_LOCAL_PEAKS_H

#include <stdbool.h>
#include <stdint.h>

enum { LOCAL_PEAKS_MOST = 5 };

struct local_peak {
    int64_t bytes;
    int64_t event;                   /* the first at which it stands there */
    int64_t first_event, last_event; /* while the curve is at 90 % of it or more */
};

/* Summits in sight: each is at least as high as those behind it in the array. */
struct summit {
    int64_t bytes, event;
    int64_t lowest; /* between the one before it and itself */
    bool past;      /* the curve has fallen off it */
};

struct local_peaks {
    struct local_peak at[LOCAL_PEAKS_MOST]; /* the higher first, of equal ones the earlier */
    uint32_t count;
    struct summit sight[LOCAL_PEAKS_MOST + 1];
    uint32_t sights;
    int64_t lowest; /* since the last of them */
};

/* The least value that still belongs to a peak: 90 % of it, rounded up. */
static inline int64_t local_peak_floor(int64_t peak)
{
    return peak - peak / 10;
}

/* Begins at state -1; then each change of the curve; then the end. */
void local_peaks_begin(struct local_peaks *p, int64_t bytes);
void local_peaks_next(struct local_peaks *p, int64_t bytes, int64_t event);
void local_peaks_end(struct local_peaks *p);

#endif
