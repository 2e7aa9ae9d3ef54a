/* peak.h - what was alive at one event, grouped by who made it. */
#ifndef VRS_ANALYSIS_PEAK_H
#define VRS_ANALYSIS_PEAK_H

#include "analysis/curves.h"
#include "analysis/naming.h"
#include "base/arena.h"

enum peak_by {
    BY_CULPRIT,
    BY_OWNER,
    BY_SITE,
    BY_FILE,
    BY_FUNCTION,
    BY_MODULE,
    BY_SIZE,
    BY_POOL,
    BY_STREAM,
    BY_AGE,
    PEAK_BYS
};
extern const char *const peak_by_names[PEAK_BYS];

enum site_key { KEY_EXACT, KEY_LINE, KEY_FUNCTION_IN_FILE, KEY_FUNCTION };

/* The moment asked for. */
enum moment_kind { AT_PEAK, AT_START, AT_END, AT_EVENT, AT_OOM, AT_SECONDS };
struct moment {
    enum moment_kind kind;
    int64_t event;  /* AT_EVENT */
    uint64_t nth;   /* AT_OOM: from 1; 0 is the last */
    double seconds; /* AT_SECONDS: after the first event */
};

/* "N | start | end | peak | oom[:k] | 12.5s"; VRS_USAGE names what is accepted. */
enum vrs_status moment_parse(str text, struct moment *ret, struct vrs_error *err) MUST_CHECK;

/* The event a moment means on a device (-1: the start); VRS_USAGE when the device has none such. */
enum vrs_status moment_find(const struct recording *r, uint32_t device, struct moment moment,
                            int64_t *ret, struct vrs_error *err) MUST_CHECK;

struct peak_row {
    str name; /* the row's value in the chosen grouping, as printed */
    uint64_t bytes;
    uint64_t count;
    double share_ratio; /* of the live set */
    uint64_t largest_bytes;
    int64_t oldest_event;     /* -1: older than the recording */
    double median_age_events; /* of the traced allocations; negative: none is traced */
    uint64_t slack_bytes;     /* UNKNOWN_U64 unless every block size is recorded */
    str culprit, owner;       /* ptr NULL where the row's allocations differ */
    stack_id stack;           /* of the representative: its largest, then earliest, allocation */
};

struct peak {
    enum peak_by by;
    enum site_key key;
    int64_t at_event;
    int64_t total_bytes;  /* the requested curve there */
    int64_t adjust_bytes; /* total less the live set */
    uint64_t live_bytes, live_count;
    struct peak_row *row; /* larger bytes first, then lower event, then name */
    uint32_t rows;
};

struct peak_options {
    enum peak_by by;
    enum site_key key;
    int64_t at_event;
};

/* Groups the live set after event `at_event`; everything in `*ret` lives in `arena`. */
enum vrs_status peak_compute(const struct recording *r, uint32_t device,
                             const struct peak_options *options, struct naming *naming,
                             struct arena *arena, struct peak *ret,
                             struct vrs_error *err) MUST_CHECK;

#endif
