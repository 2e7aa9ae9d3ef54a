/* measurement_file.h - the struct behind the handle of a measurement. */
#ifndef VRS_API_MEASUREMENT_MEASUREMENT_FILE_H
#define VRS_API_MEASUREMENT_MEASUREMENT_FILE_H

#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "format/input/window.h"
#include "model/measurement.h"
#include "vramscope/measurement.h"
#include "vramscope/vramscope.h"

struct vrs_measurement {
    struct measurement model;
    str path;            /* as it was opened; it lives in the model */
    uint64_t size_bytes; /* as stored; UNKNOWN_U64 */
};

/* A measurement out of an input, which is called `path`; `options` are whole. */
enum vrs_status open_measurement(struct source source, uint64_t size_bytes, const char *path,
                                 const struct vrs_open_options *options,
                                 struct vrs_measurement **ret, struct vrs_error *err) MUST_CHECK;

#endif
