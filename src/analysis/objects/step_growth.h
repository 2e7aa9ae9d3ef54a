/* step_growth.h - whether memory at the ends of steps keeps growing. */
#ifndef VRS_ANALYSIS_STEP_GROWTH_H
#define VRS_ANALYSIS_STEP_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

enum step_growth_class {
    STEP_GROWTH_UNDECIDED, /* too few steps, or memory that is not known */
    STEP_GROWTH_STABLE,
    STEP_GROWTH_PLATEAU,   /* rose, then stopped */
    STEP_GROWTH_SAWTOOTH,  /* rises and is flushed, again and again */
    STEP_GROWTH_TOO_SMALL, /* grows by so little that it does not matter */
    STEP_GROWTH_SUSPECT,   /* grows in all of few steps */
    STEP_GROWTH_LEAK,
    STEP_GROWTH_CLASSES
};
extern const char *const step_growth_class_names[STEP_GROWTH_CLASSES];

/* An object on a device that was alive at one moment. */
struct live_object {
    str name, shape, dtype, device;
    uint64_t storage, storage_bytes; /* UINT64_MAX bytes: not known */
};

/* What was alive at the end of a step, and what was requested then. */
struct object_census {
    const struct live_object *object;
    uint32_t objects;
    uint32_t step;
    uint64_t requested_bytes;
};

/* UINT64_MAX: not known. */
struct step_readings {
    const uint64_t *bytes; /* at the ends of steps, after the warm-up */
    uint32_t moments;
    uint32_t first_step, every; /* the step that the first is the end of; steps between two */
    uint32_t wanted;            /* moments that decide */
    uint64_t least_bytes;       /* what grows by less is too small */
    uint64_t present_bytes;     /* when it was asked */
    uint64_t collected_bytes;   /* after garbage was collected */
    const struct object_census *first, *last; /* both or NULL */
};

/* Objects of one name, shape, dtype and device. */
struct grown_kind {
    str name, shape, dtype, device;
    int64_t growth_bytes;
    uint64_t first_bytes, last_bytes; /* each storage once */
    uint32_t first_count, last_count;
};

struct step_trend {
    bool grows;           /* and by so much that it matters */
    int64_t growth_bytes; /* the last moment above the first */
    int64_t slope_bytes;  /* from one moment to the next */
    uint32_t rises_every; /* it rises at each, each second, … moment; 0: it does not */
};

/* What was left of the growth after one collection of garbage. */
struct step_collection {
    int64_t growth_bytes;
    bool held_by_cycles; /* of what grows: nothing that matters */
};

struct step_census {
    uint32_t from_step, to_step;
    int64_t invisible_bytes; /* growth between them of no object that was counted */
};

struct step_growth {
    uint8_t class; /* enum step_growth_class */
    uint32_t steps, first_step, last_step, every, wanted;
    const uint64_t *bytes; /* NULL: one of them is not known */
    uint32_t moments;
    uint64_t least_bytes;
    bool freed;                               /* what grew, before it was asked */
    const struct step_trend *trend;           /* NULL: not decided */
    const struct step_collection *collection; /* NULL: there was none */
    const struct step_census *census;         /* NULL: objects were not counted at both ends */
    struct grown_kind *row;                   /* those that changed, what grew most first */
    uint32_t rows;
};
extern const struct row_type step_growth_row_type;
extern const struct row_type grown_kind_row_type;

/* In `keep`, as texts and bytes are. */
enum vrs_status step_growth_compute(const struct step_readings *readings, struct arena *keep,
                                    struct step_growth *ret, struct vrs_error *err) MUST_CHECK;

#endif
