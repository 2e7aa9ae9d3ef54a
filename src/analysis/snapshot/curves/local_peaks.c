/* local_peaks.c - one pass, a handful of summits in sight.
 *
 * Only a value that rises by more than a tenth out of a valley comes into sight, so all in sight
 * but the last are past.  What is lower than all of a full array cannot be among the highest. */
#include "analysis/snapshot/curves/local_peaks.h"

#include <stddef.h>

static void note(struct local_peaks *p, const struct summit *summit)
{
    uint32_t place = p->count;
    while (place > 0 && p->at[place - 1].bytes < summit->bytes)
        place--;
    if (place == LOCAL_PEAKS_MOST)
        return;
    p->count += p->count < LOCAL_PEAKS_MOST;
    for (uint32_t i = p->count - 1; i > place; i--)
        p->at[i] = p->at[i - 1];
    p->at[place] = (struct local_peak){ .bytes = summit->bytes, .event = summit->event };
}

void local_peaks_begin(struct local_peaks *p, int64_t bytes)
{
    *p = (struct local_peaks){ .lowest = bytes };
    if (bytes > 0)
        p->sight[p->sights++] = (struct summit){ bytes, -1, INT64_MIN, false };
}

void local_peaks_next(struct local_peaks *p, int64_t bytes, int64_t event)
{
    if (bytes < p->lowest)
        p->lowest = bytes;
    struct summit *last = p->sights == 0 ? NULL : &p->sight[p->sights - 1];
    if (last != NULL && !last->past && bytes < local_peak_floor(last->bytes)) {
        last->past = true;
        note(p, last);
    }
    while (p->sights > 0 && p->sight[p->sights - 1].bytes < bytes) {
        const struct summit *lower = &p->sight[--p->sights];
        if (lower->lowest < p->lowest)
            p->lowest = lower->lowest;
    }
    bool rises = p->sights == 0 || p->lowest < local_peak_floor(bytes);
    if (bytes > 0 && rises && p->sights <= LOCAL_PEAKS_MOST) {
        p->sight[p->sights++] = (struct summit){ bytes, event, p->lowest, false };
        p->lowest = bytes;
    }
}

void local_peaks_end(struct local_peaks *p)
{
    if (p->sights > 0 && !p->sight[p->sights - 1].past)
        note(p, &p->sight[p->sights - 1]);
    p->sights = 0;
}
