/* timeline.h - how the memory of a device moved: six curves, their peaks, who shared the top.
 *
 * Curves are step functions of the device's events; event -1 is the start.  `requested` and
 * `reserved` follow from the events alone; the others need the sizes of blocks and are exact where
 * a replay proves them.  Sums of hostile sizes wrap. */
#ifndef VRS_ANALYSIS_SNAPSHOT_TIMELINE_TIMELINE_H
#define VRS_ANALYSIS_SNAPSHOT_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/curves/local_peaks.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/field.h"

enum time_curve_name {
    TIME_REQUESTED,
    TIME_ACTIVE,
    TIME_ALLOCATED,
    TIME_PENDING, /* active less allocated */
    TIME_RESERVED,
    TIME_IDLE, /* reserved less active */
    TIME_CURVES
};
extern const char *const time_curve_names[TIME_CURVES];

enum { TIME_POINTS_MOST = 1000 };

struct time_point {
    int64_t event, bytes;
};

struct time_curve {
    bool exact;
    uint64_t bound_bytes; /* by how much it may be off; UNKNOWN_U64: not known */
    /* Every change, or where there are too many the least and the most of each of equal spans;
     * always the first, the last and the peak. */
    struct time_point *point;
    uint32_t points;
    int64_t peak_bytes, peak_event, last_event; /* the first and the last event at the maximum */
    uint64_t peak_time_us;                      /* Unix; UNKNOWN_U64: not known */
    uint64_t ties;                              /* events after which it stands at its maximum */
};

/* Where the reserved bytes are that nobody requested, at their peak. */
struct time_gap {
    int64_t event, reserved_bytes, requested_bytes;
    uint64_t pending_bytes;        /* requested and waiting to be freed; UNKNOWN_U64: not known */
    bool known;                    /* the layout of memory there: */
    uint64_t slack_bytes;          /* in blocks, beyond the request */
    uint64_t returnable_bytes;     /* a full release would give it back */
    uint64_t stranded_bytes;       /* free, and cannot be returned */
    uint64_t held_for_graph_bytes; /* free in private pools */
};

enum burst_cause { BURST_UNKNOWN, BURST_EMPTY_CACHE, BURST_RETRY, BURST_CAUSES };
extern const char *const burst_cause_names[BURST_CAUSES];

/* Neighbouring events that give memory back. */
struct time_burst {
    uint32_t first_event, last_event;
    uint64_t bytes;
    enum burst_cause cause;
    struct site_ref site; /* of its first event */
};

struct time_group {
    struct memory_group group;
    uint64_t pool[2], stream;                         /* as in the file */
    int64_t peak_bytes, peak_event;                   /* of its requested bytes */
    int64_t reserved_peak_bytes, reserved_peak_event; /* of its reserved ones */
    int64_t at_peak_bytes; /* requested, at the device's requested peak */
};

/* The peak of one curve, as a row. */
struct time_peak {
    enum time_curve_name curve;
    int64_t bytes, event, last_event;
    uint64_t ties, time_us;
};

enum { TIME_PEAKS = 3 }; /* of the requested, the active and the reserved curve */

struct timeline {
    struct time_curve curve[TIME_CURVES];
    struct time_peak peak[TIME_PEAKS];
    struct local_peak local[LOCAL_PEAKS_MOST]; /* of the requested curve */
    uint32_t locals;
    struct time_gap gap;
    struct time_burst *burst;
    uint32_t bursts;
    struct time_group *group; /* largest peak first */
    uint32_t groups;
};

/* Of a struct timeline. */
extern const struct row_type timeline_row_type;

/* NULL in `*ret` where the device has no trace. */
enum vrs_status timeline_compute(const struct proven_study *proven, struct timeline **ret,
                                 struct vrs_error *err) MUST_CHECK;

#endif
