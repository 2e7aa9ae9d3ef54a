/* report.h - struct report: all that the one page about a recording says. */
#ifndef VRS_ANALYSIS_SNAPSHOT_REPORT_REPORT_H
#define VRS_ANALYSIS_SNAPSHOT_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/report/trust_page.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/file_facts.h"

/* One out-of-memory event. */
struct oom_fact {
    int64_t event;
    uint64_t asked_bytes; /* as the allocator rounded it; UINT64_MAX: not known, as below */
    uint64_t device_free_bytes;
    int64_t requested_bytes, reserved_bytes; /* there */
    uint64_t after_us;                       /* since the first event */
    const char *verdict; /* of the last one, where it was asked for; NULL: undecided */
    bool judged;
};

/* What a report says beyond its figures. */
enum finding_kind {
    FINDING_OOM,      /* its evidence is a struct oom_fact */
    FINDING_LEAK,     /* a struct leak_site */
    FINDING_ADVICE,   /* a struct advice */
    FINDING_STRANDED, /* a struct fragments */
    FINDING_OLDER,    /* a struct report_device */
    FINDING_LOSS      /* a struct loss */
};

struct finding {
    enum finding_kind kind;
    static_text id, severity;
    bool of_file; /* else of this device: */
    struct device_name device;
    struct field_free evidence;
    uint64_t saving_bytes; /* UNKNOWN_U64: none is claimed */
};

/* One kind of what reading a file left out or repaired. */
struct loss {
    const char *id;   /* static, as the text */
    const char *text; /* the count follows */
    uint64_t count;
};

/* A figure of all devices of several reports.  Separate peaks are of separate moments: their sum is
 * a bound, not a reading, and is always called "sum of separate peaks". */
struct total {
    int64_t largest_bytes, sum_bytes;
    int64_t median_bytes;  /* of those not cut */
    uint32_t largest_file; /* index in the set */
    struct device_name largest_device;
    uint32_t devices;  /* that have memory at all */
    uint32_t whole;    /* of them, those not cut: whose trace ends where it was taken */
    bool bound;        /* one of the peaks is a lower bound, so largest and sum are */
    bool median_bound; /* one of those not cut is */
};

struct report_row {
    str name;
    str category; /* of all of it; empty: of several, or not known */
    uint64_t bytes, count;
    double share_ratio;
    struct held_names names;
};

/* What the analyses of a device say together. */
struct report_sections {
    const struct category_table *categories; /* at the peak */
    const struct fragments *fragments;       /* at the end; NULL: not known */
    const struct leaks *leaks;               /* NULL: no trace */
    struct oom oom;                          /* the last one, where has_oom */
    bool has_oom;
    struct advise advise; /* where has_advice */
    bool has_advice;
};

struct report_device {
    struct device_name name;
    uint64_t events, segments, blocks, stacks, allocations;
    struct curves curves;
    int64_t adjust_bytes;
    uint64_t pending_bytes; /* UINT64_MAX: not known */
    uint64_t orphan_frees, double_allocs;
    struct trust trust;

    /* For the picture: see curves_draw. */
    uint32_t spans;
    int64_t *requested, *reserved;
    uint64_t duration_us, peak_after_us; /* UINT64_MAX: not known */

    uint64_t live_bytes, live_count; /* at the peak */
    uint64_t old_bytes;              /* of them, older than the recording */
    uint64_t old_unknown_bytes;      /* of these, without a stack */
    bool traced;                     /* else rows are of the final state */
    struct report_row *row;          /* who held the peak, largest first; the largest of them */
    uint32_t rows, all_rows;
    struct held_names names; /* of all that is held */
    str hidden_culprit;      /* not empty: rows are owners, because this line held `hidden_share` */
    double hidden_share;

    struct oom_fact *oom; /* the last of them */
    uint32_t ooms;

    const struct timeline *timeline;        /* NULL: not asked for, or no trace */
    const struct report_sections *sections; /* NULL: not asked for */
    const struct trust_page *trust_page;    /* NULL: not asked for */
    const struct device_summary *summary;   /* for comparisons; NULL: nothing to compare */
};

struct report {
    struct file_facts file;
    struct report_device *device;
    uint32_t devices;
    bool trust_page;          /* asked for: each device has its own */
    int64_t rank;             /* as the caller has it; -1: as the file's name does */
    bool one_clock;           /* that of the other reports of a set */
    uint64_t oom_us, last_us; /* of the last oom, of the last event; UNKNOWN_U64: none, not known */
    struct finding *finding;  /* what it says beyond its figures, most important first */
    uint32_t findings;
    const struct ranks *ranks; /* of the devices of one file; NULL: there is nothing to compare */
    bool joined;               /* with others: the set has the ranks */
};

/* A file that no answer is about. */
struct unread_file {
    str path, why;
};

/* What several reports have besides. */
struct report_set {
    const struct ranks *ranks;
    const struct unread_file *unread; /* the files that could not be read */
    uint32_t unreads;
    struct total requested, reserved; /* of all devices */
    str largest_path;                 /* of the file with the largest requested peak; or ptr NULL */
    str job;                          /* that the files are of, so that a set can be joined again */
    uint32_t job_ranks;               /* its ranks; 0: not known */
    const bool *silent;               /* of each: whether it should have a file */
    bool several_jobs;       /* joined are files of several, whose ranks are not told apart */
    const uint32_t *missing; /* of them, those that have none; NULL: not known */
    uint32_t missings;
};

/* Joins: fills the set of these reports and marks them as joined.  `part` has the sets that were
 * joined, NULL where one had none; in `keep`. */
enum vrs_status report_set_make(struct report *reports, uint32_t count,
                                const struct report_set *const *part, uint32_t parts,
                                struct arena *keep, struct report_set *ret,
                                struct vrs_error *err) MUST_CHECK;

/* The document of reports, and what a set of them has. */
extern const struct row_type report_document, report_set_row_type;

#endif
