/* opening.h - from a path to the bytes behind it, for whoever makes something of them. */
#ifndef VRS_API_OPENING_H
#define VRS_API_OPENING_H

#include <stdint.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "vramscope/vramscope.h"

/* Makes something of an input; `options` are whole. */
typedef enum vrs_status opener(void *arg, struct source source, uint64_t size_bytes,
                               const struct vrs_open_options *options, struct vrs_error *err);

/* Opens a path, "-" for standard input; a signal that interrupts a wait tells the caller's callback
 * the same again. */
enum vrs_status open_path(const char *path, const struct vrs_open_options *options, opener *open,
                          void *arg, struct vrs_error *err) MUST_CHECK;

/* Recordings out of an input, which is called `path`. */
enum vrs_status open_recordings(struct source source, uint64_t size_bytes, const char *path,
                                const struct vrs_open_options *options, struct vrs_file **ret,
                                struct vrs_error *err) MUST_CHECK;

/* The caller's limits, the defaults where it gives none. */
enum vrs_status limits_from(const struct vrs_limits *wanted, struct limits *ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
