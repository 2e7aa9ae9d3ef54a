/* growth.h - what stays after each step, and which of it keeps growing.
 *
 * Live bytes are looked at between steps: moment t is just before step t + 1 begins.  After the
 * last step there is one more moment where that is known to be a boundary.  A recording that
 * merely ends there is looked at once more only where there would be too few moments: after its
 * last alloc. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_GROWTH_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_GROWTH_H

#include "analysis/snapshot/timeline/phase_rows.h"

/* In the order in which they are tested. */
enum growth_class {
    GROWTH_REPLACED, /* as much as before, all of it from the latest step */
    GROWTH_ONE_TIME, /* came with the first step and stays */
    GROWTH_PLATEAU,  /* rose, then stopped */
    GROWTH_SAWTOOTH, /* rises and is flushed, again and again */
    GROWTH_LEAK,
    GROWTH_SUSPECT, /* would be a leak, but too few steps were seen */
    GROWTH_STABLE,
    GROWTH_CLASSES
};
extern const char *const growth_class_names[GROWTH_CLASSES];

enum leak_kind {
    LEAK_UNKNOWN,
    LEAK_GRADIENTS, /* accumulate */
    LEAK_GRAPH,     /* is kept by a scalar */
    LEAK_OUTPUTS,   /* of the model are kept */
    LEAK_CACHE,     /* grows */
    LEAK_KINDS
};
extern const char *const leak_kind_names[LEAK_KINDS];

/* The largest allocation of one generation that is alive at the last moment. */
struct survivor {
    int64_t event; /* -1: older than the recording */
    uint64_t bytes;
    stack_id stack;
};

struct growth_site {
    struct site_ref site;
    uint8_t category; /* enum category, of the largest allocation */
    enum growth_class class;
    enum leak_kind kind; /* of leaks and suspects */
    int64_t slope_bytes; /* a step */
    /* Of leaks: left by earlier steps where the step of the device's peak begins; it stays. */
    uint64_t peak_bytes;
    uint32_t generations;
    uint64_t *bytes;           /* at each moment */
    uint32_t *counts;          /* allocations, as above */
    struct survivor *survivor; /* of leaks and suspects */
    uint32_t survivors;
    uint32_t order; /* by bytes at the last moment */
};

/* Frees that look like Python's collector at work. */
struct gc_hint {
    const char *kind; /* static; NULL: none seen */
    uint32_t first_event, last_event;
    uint64_t bytes, count;
    enum confidence confidence;
};

struct growth {
    struct step_rows steps;
    uint32_t moments;         /* steps or steps + 1; 0: too few steps, and all below is empty */
    int64_t first_step_bytes; /* what the first step adds, and by category */
    int64_t first_step[CATEGORIES];
    struct growth_site *site; /* by slope, then bytes at the last moment */
    uint32_t sites;
    uint32_t sites_folded; /* smaller ones that were not looked at */
    uint32_t leaks, suspects;
    int64_t slope_total_bytes;
    int64_t steps_to_full; /* negative: not known */
    struct gc_hint gc_hint;
};

/* `capacity_bytes` is what the program can have, 0 where not known.  In s->keep. */
enum vrs_status growth_compute(struct study *s, uint64_t capacity_bytes, struct growth *ret,
                               struct vrs_error *err) MUST_CHECK;

#endif
