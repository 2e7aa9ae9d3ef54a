/* tensor_table.h - the storages under the tensors that a program can reach, and by device how much
 * of what is allocated none of them has. */
#ifndef VRS_ANALYSIS_TENSOR_TABLE_H
#define VRS_ANALYSIS_TENSOR_TABLE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

/* The first of these is what a storage is for. */
enum tensor_kind {
    TENSOR_PARAMETER,
    TENSOR_GRADIENT,
    TENSOR_OPTIMIZER_STATE,
    TENSOR_BUFFER,
    TENSOR_OTHER,
    TENSOR_KINDS
};
extern const char *const tensor_kind_names[TENSOR_KINDS];

struct known_tensor {
    str name, shape, dtype, device;
    enum tensor_kind kind;
    uint64_t storage, storage_bytes;
};

/* The tensor with the most to say tells name, shape and dtype. */
struct storage_row {
    uint64_t bytes; /* UINT64_MAX: not known */
    uint32_t count; /* tensors on it */
    uint8_t kind;   /* enum tensor_kind */
    str name, shape, dtype, device;
    str *shared; /* the names of the others */
    uint32_t shareds;
};

/* UINT64_MAX: not known. */
struct device_row {
    str device;
    uint32_t storages;
    uint32_t unknown; /* of them, whose size is not known and not in the sum */
    uint64_t bytes;
    uint64_t allocated_bytes;
    uint64_t invisible_bytes; /* requested, and of no tensor that Python can reach */
    uint64_t rounding_bytes;  /* allocated beyond what was requested */
};

struct tensor_table {
    struct device_row *device;
    uint32_t devices;
    struct storage_row *row; /* the largest first */
    uint32_t rows;
};
extern const struct row_type tensor_table_row_type;
extern const struct row_type storage_row_type;
extern const struct row_type device_row_type;

struct allocated_bytes {
    str device;
    uint64_t allocated, requested;
};

/* Texts live in `keep`. */
enum vrs_status tensor_table_compute(const struct known_tensor *tensor, uint32_t tensors,
                                     const struct allocated_bytes *allocated, uint32_t devices,
                                     struct arena *keep, struct tensor_table *ret,
                                     struct vrs_error *err) MUST_CHECK;

#endif
