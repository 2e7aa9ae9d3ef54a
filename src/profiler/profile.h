/* profile.h - what a profiler has measured, as rows by path: the answer of Profiler.summary(). */
#ifndef VRS_PROFILER_PROFILE_H
#define VRS_PROFILER_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "profiler/names.h"
#include "profiler/profiler.h"
#include "vramscope/profiler.h"

/* Intervals of each state. */
struct state_counts {
    uint64_t of[VRS_STATE_UNKNOWN + 1];
};

/* The intervals of one path and device.  Bytes are allocated ones; UINT64_MAX: not known. */
struct profile_row {
    str path; /* names from outside in, joined by " / " */
    str *name;
    uint32_t names;
    static_text kind; /* "scope" or "checkpoint" */
    uint32_t device;
    uint64_t calls, raised;
    uint64_t total_ns, longest_ns;
    uint64_t timed, device_ns; /* calls whose time of the device is known; that time */
    uint64_t start, end;       /* of the first interval, of the last one */
    uint64_t peak, peak_delta; /* the highest; the most above the start of its interval */
    int64_t growth;            /* ends minus starts */
    bool growth_known;
    uint64_t gross, allocations; /* bytes and blocks allocated */
    double transient;            /* the share of `gross` that no interval kept; negative: unknown */
    struct state_counts states;
    uint32_t *order; /* first rows of the paths around it, from outside in */
};

struct profile {
    uint64_t records, scopes; /* rows in the rings, and those that they have lost */
    uint64_t records_lost, scopes_lost, scopes_dropped;
    uint64_t lower_bounds, unknown; /* intervals whose peak is one, or is not known */
    struct profile_row *row;
    uint32_t rows;
};

extern const struct row_type profile_document_type, profile_row_type;

/* Rows stand as their paths were first opened, each path before those inside it. */
enum vrs_status profile_make(struct profiler *p, struct names *names, struct arena *keep,
                             struct profile *ret, struct vrs_error *err) MUST_CHECK;

#endif
