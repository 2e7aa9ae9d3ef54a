/* read_measurement.h - an input of any packing becomes a measurement. */
#ifndef VRS_FORMAT_READ_MEASUREMENT_H
#define VRS_FORMAT_READ_MEASUREMENT_H

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "model/measurement.h"

/* Reads `input`, packed or not, to its end.  `ret` is then the measurement's owner. */
enum vrs_status read_measurement(struct source input, const struct limits *limits,
                                 struct measurement *ret, struct vrs_error *err) MUST_CHECK;

#endif
