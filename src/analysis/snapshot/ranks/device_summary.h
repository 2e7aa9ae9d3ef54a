/* device_summary.h - what is kept of one device of one file, to compare it with others: the ranks
 * of a job, the devices of a machine.
 *
 * It is small whatever the recording is, so that a thousand can be held at once. */
#ifndef VRS_ANALYSIS_SNAPSHOT_RANKS_DEVICE_SUMMARY_H
#define VRS_ANALYSIS_SNAPSHOT_RANKS_DEVICE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/ranks/summary_moments.h"
#include "analysis/snapshot/study/proven_study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/recording.h"

enum {
    SUMMARY_SITES_MOST = 512, /* the largest; the rest is one sum */
    SUMMARY_NAMES_MOST = 64   /* of them with a name */
};

/* Allocations alive at the peak whose stacks are one place (base name of the file, line, function:
 * K1); all without a stack are one site. */
struct summary_site {
    uint64_t key; /* of its text: the same in every recording */
    uint64_t bytes, count;
};

struct summary_name {
    str culprit, owner;
};

/* The largest of the sites with their names, as a report shows them. */
enum { SUMMARY_SHOWN_MOST = 3 };
struct summary_shown {
    str culprit, owner;
    uint64_t bytes, count;
};

struct category_sum {
    uint8_t category; /* enum category */
    uint64_t bytes;
};

struct device_summary {
    int64_t peak_bytes, peak_event; /* of the requested curve */
    int64_t reserved_peak_bytes;
    /* The same up to the event at which another device of the file ran out of memory: what comes
     * after that is no work.  Units are compared by these. */
    int64_t common_peak_bytes, common_peak_event;
    int64_t after_peer_oom_event; /* the first event later than that; -1: none */
    struct summary_site *site;    /* alive at common_peak_event, larger bytes first */
    uint32_t sites;
    struct summary_name *name; /* of the first of them */
    uint32_t names;
    struct summary_shown shown[SUMMARY_SHOWN_MOST];
    uint32_t showns;
    uint64_t other_bytes; /* of the sites that are not kept */

    /* What summary_describe adds. */
    const char *peak_phase; /* static; NULL: not known */
    int64_t steps;          /* complete ones; -1: not known */
    int64_t spike_step;     /* the highest of those far above the others; -1: none */
    int64_t spike_peak_bytes, median_step_peak_bytes;
    bool categorised;
    uint64_t category_bytes[CATEGORIES]; /* alive at common_peak_event */
    struct category_sum sum[CATEGORIES]; /* of them, those that are there */
    uint32_t sums;
    uint64_t gradients_most_bytes;  /* alive at once; 0: none were found */
    struct summary_moments moments; /* up to the failure of another device */

    uint64_t stranded_bytes; /* at common_peak_event; UNKNOWN_U64: not known, or not exactly */
    int64_t slope_bytes;     /* growth of a step */
    bool slope_known;
};

/* Of a struct device_summary: its members stand among those of a unit. */
extern const struct row_type summary_row_type;

/* A device of the machine that has events, or holds memory worth a comparison. */
bool summary_counts(const struct recording *r, uint32_t device, const struct curves *curves);

/* `peer_oom_us`: when another device of the file ran out of memory; UNKNOWN_U64: never. */
void summary_init(const struct recording *r, uint32_t device, const struct curves *curves,
                  uint64_t peer_oom_us, struct device_summary *ret);

/* Adds the sites; rows and texts live in `keep`. */
enum vrs_status summary_add_sites(const struct recording *r, uint32_t device, struct naming *naming,
                                  struct arena *keep, struct arena *scratch,
                                  struct device_summary *summary, struct vrs_error *err) MUST_CHECK;

/* Adds phase, steps, growth, categories and what is stranded.  `leaks` may be NULL, where they are
 * not known yet. */
enum vrs_status summary_describe(const struct proven_study *proven, const struct leaks *leaks,
                                 struct device_summary *summary, struct vrs_error *err) MUST_CHECK;

/* The time of the last out-of-memory event of a device; UNKNOWN_U64: none, or not known. */
uint64_t last_oom_us(const struct recording *r, uint32_t device);

#endif
