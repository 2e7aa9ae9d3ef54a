/* measurement.h - what a program measured of itself: times with their values, figures, peaks of
 * memory, and the conditions that all of it was measured under.
 *
 * Texts are as in the file and live in `text`; ptr NULL, NAN and UNKNOWN_U64 are what is not known.
 * Names of times are unlike each other, and so are those of figures and the paths of phases. */
#ifndef VRS_MODEL_MEASUREMENT_H
#define VRS_MODEL_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/* Under what it was measured. */
enum measured_condition {
    CONDITION_MODEL,
    CONDITION_BATCH_SIZE,
    CONDITION_INPUT_SHAPE,
    CONDITION_DEVICE,
    CONDITION_DTYPE,
    CONDITION_MODE,
    CONDITION_NUM_WORKERS,
    CONDITION_CUDNN_BENCHMARK,
    CONDITION_GPU,
    CONDITIONS
};

/* Those of the document. */
extern const char *const measured_condition_names[CONDITIONS];

/* Something that was timed again and again. */
struct measured_time {
    str name, unit;
    str clock; /* whose time it is: "device", "host" */
    uint64_t count;
    double median;
    bool has_values; /* those of older documents do not stand in them */
    uint32_t first_value, values;
};

struct measured_figure {
    str name, unit, clock;
    double value;
};

/* The memory of a part of the program, all of its calls together. */
struct measured_phase {
    str path; /* names from outside in, with "/" between them */
    uint64_t device;
    uint64_t peak_bytes, peak_delta_bytes; /* in all, and above its begin */
};

struct measurement {
    str what, tool;
    str condition[CONDITIONS]; /* as people read them */
    VEC(struct measured_time) time;
    VEC(double) value; /* of the times */
    VEC(struct measured_figure) figure;
    VEC(struct measured_phase) phase;
    struct arena text;
};

/* Room for as much as a measurement has at most. */
enum { MEASURED_ROWS_MOST = 1000, MEASURED_VALUES_MOST = 1 << 20 };
void measurement_init(struct measurement *m);
void measurement_free(struct measurement *m);

#endif
