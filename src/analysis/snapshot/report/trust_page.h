/* trust_page.h - what a recording is, and the outcome of every check, of those that hold too.
 *
 * trust.h says in a few sentences how far a device can be believed; this is the whole page. */
#ifndef VRS_ANALYSIS_SNAPSHOT_REPORT_TRUST_PAGE_H
#define VRS_ANALYSIS_SNAPSHOT_REPORT_TRUST_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/trust/trust_checks.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/recording.h"

enum trust_outcome {
    TRUST_NOT_RUN, /* what it needs is not in the file */
    TRUST_HOLDS,
    TRUST_FAILS,
    TRUST_OUTCOMES
};

struct trust_row {
    const char *check;   /* "T01" */
    const char *id;      /* of the trust item that a failure makes */
    const char *meaning; /* what holds when it holds */
    enum trust_outcome outcome;
    bool has_bytes;      /* worst_bytes of the finding means something */
    struct breach found; /* may have cases though the check holds: those are facts */
};

enum { TRUST_ROWS = 15 };

struct name_count {
    str name;
    uint64_t count;
};

struct setting {
    str name;
    enum setting_type type;
    int64_t integer;
    double real;
    str text;
};

struct trust_page {
    struct trust_row check[TRUST_ROWS];
    str producer;              /* the least version that writes such a file, and what shows it */
    struct name_count *action; /* known ones, in the order of enum event_action */
    uint32_t actions;
    struct name_count *unknown_action, *unknown_key; /* the latter of the whole file */
    uint32_t unknown_actions, unknown_keys;
    uint64_t span_events;           /* of the device */
    uint64_t span_us;               /* UNKNOWN_U64, as below: not known */
    uint64_t gap_us;                /* the longest time without an event */
    int64_t gap_event;              /* that ended it */
    int64_t baseline_forward_bytes; /* in use before the first event */
    int64_t baseline_backward_bytes, reserved_baseline_bytes; /* where baselines_known */
    bool baselines_known;
    /* Shares of the bytes alive; negative where nothing is. */
    double unknown_origin_peak_ratio, unknown_origin_end_ratio; /* without an alloc stack */
    double explained_peak_ratio;     /* with a stack, or a place in the structural split */
    double no_user_frame_peak_ratio; /* no frame of the stack is the user's own */
    const char *capture_style;       /* "all", "python", "none", "mixed"; NULL: nothing to tell */
    uint32_t streams;                /* distinct ones of events and segments */
    uint32_t pools;                  /* likewise; 0: the file does not name them */
    uint32_t annotations;            /* of the file */
    struct setting *setting;         /* of the file */
    uint32_t settings;
};

/* Of a struct trust_page. */
extern const struct row_type trust_page_row_type;

/* Everything in `*ret` lives in the study's keep. */
enum vrs_status trust_page_compute(const struct proven_study *proven, struct trust_page *ret,
                                   struct vrs_error *err) MUST_CHECK;

#endif
