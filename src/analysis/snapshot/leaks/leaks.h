/* leaks.h - what stays after each step, and which of it keeps growing.
 *
 * Live bytes are looked at between steps (leak_moments.h), by the place that made them
 * (leak_places.h).  This is the one list of what grows: whatever else tells of it asks here. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAKS_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/timeline/phase_rows.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/ids.h"

/* In the order in which they are tested. */
enum leak_class {
    LEAK_CLASS_REPLACED, /* as much as before, all of it from the latest step */
    LEAK_CLASS_ONE_TIME, /* came with the first step and stays */
    LEAK_CLASS_PLATEAU,  /* rose, then stopped */
    LEAK_CLASS_SAWTOOTH, /* rises and is flushed, again and again */
    LEAK_CLASS_LEAK,
    LEAK_CLASS_SUSPECT,   /* would be a leak, but too few steps were seen */
    LEAK_CLASS_TOO_SMALL, /* either, of so few bytes that it does not matter */
    LEAK_CLASS_STABLE,
    LEAK_CLASSES
};
extern const char *const leak_class_names[LEAK_CLASSES];

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

struct leak_site {
    struct site_ref site;
    str innermost;    /* the innermost Python frame; tells two places of one line apart */
    uint8_t category; /* enum category, of the largest allocation */
    enum leak_class class;
    /* Of those that grow (leak_grows), also of what is too small. */
    enum leak_kind kind;
    int64_t slope_bytes;  /* a step, on average */
    uint32_t every_steps; /* it grows in each step; in each second, … */
    uint32_t generations;
    uint32_t moments;          /* as those of the device */
    uint64_t *bytes;           /* at each moment */
    uint32_t *counts;          /* allocations, as above */
    struct survivor *survivor; /* of those that grow */
    uint32_t survivors;
    struct held_names names; /* of what is alive at the last moment */
    uint32_t order;          /* by bytes at the last moment */
};

/* Frees that look like Python's collector at work. */
struct gc_hint {
    const char *kind; /* static; NULL: none seen */
    uint32_t first_event, last_event;
    uint64_t bytes, count;
    enum confidence confidence;
};

/* What the first step adds of a category. */
struct first_step_row {
    uint8_t category; /* enum category */
    int64_t bytes;
};

struct leaks {
    struct step_rows steps;
    uint32_t moments;         /* steps or steps + 1; 0: too few steps, and all below is empty */
    bool end_compares;        /* the last moment is at the same point of the cycle as the others */
    int64_t first_step_bytes; /* what the first step adds, and by category: those that change */
    struct first_step_row first_step[CATEGORIES];
    uint32_t first_steps;
    struct leak_site
        *site; /* leaks and suspects, then what is too small, by slope; then the rest */
    uint32_t sites;
    uint32_t sites_folded; /* smaller ones that were not looked at */
    uint32_t leaks, suspects, too_small;
    uint64_t floor_bytes;      /* what grows by less over the recording is too small */
    int64_t slope_total_bytes; /* of leaks and suspects */
    int64_t steps_to_full;     /* negative: not known */
    struct gc_hint gc_hint;
};

/* A leak or a suspect: what is reported, and fails a limit. */
static inline bool leak_is_told(const struct leak_site *site)
{
    return site->class == LEAK_CLASS_LEAK || site->class == LEAK_CLASS_SUSPECT;
}

/* These, and what is too small to be told. */
static inline bool leak_grows(const struct leak_site *site)
{
    return leak_is_told(site) || site->class == LEAK_CLASS_TOO_SMALL;
}

/* What a step adds that it grows in. */
static inline int64_t leak_rise_bytes(const struct leak_site *site)
{
    return i64_times(site->slope_bytes, site->every_steps);
}

/* Of a struct leak_site, and of a struct leaks, the result of a device. */
extern const struct row_type leak_site_row_type, leaks_row_type;

/* `capacity_bytes` is what the program can have, 0 where not known.  In s->keep. */
enum vrs_status leaks_compute(const struct study *s, uint64_t capacity_bytes, struct leaks *ret,
                              struct vrs_error *err) MUST_CHECK;

#endif
