/* model_size.h - the size of a model: what each of its modules owns, every storage counted once.
 *
 * A row is a module with the parameters and buffers it has itself, so that rows add up to the
 * total.  A tensor that stands on a storage counted before is told by the name of the one that was
 * counted. */
#ifndef VRS_ANALYSIS_MODEL_SIZE_H
#define VRS_ANALYSIS_MODEL_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

#define NOT_KNOWN UINT64_MAX

struct model_tensor {
    uint32_t owner; /* row of the modules */
    str name;
    bool is_parameter, trainable;
    uint64_t elements, bytes, full_bytes, storage, storage_bytes, offset_bytes;
};

struct model_module {
    str path, type;
};

/* What a module returned from one of its calls; see vrs_output. */
struct module_output {
    uint32_t module, call;
    uint64_t bytes;
};

/* What is added up; `output` NULL: no forward was run. */
struct model_objects {
    const struct model_module *module;
    const struct model_tensor *tensor;
    const struct module_output *output;
    uint32_t modules, tensors, outputs;
    uint32_t depth; /* of modules that have rows; UINT32_MAX: all */
};

/* NOT_KNOWN: a tensor among them has no shape yet. */
struct model_sums {
    uint64_t parameters, trainable, parameter_bytes, buffer_bytes, storage_bytes;
    uint64_t full_bytes; /* of parameters and buffers, all shards of them */
};

struct module_row {
    str path, type;
    bool own;         /* it has modules inside, which have rows of their own */
    uint32_t modules; /* that the row is for: more than one where depth ends */
    struct model_sums sums;
    uint64_t all_bytes; /* storage bytes of the row and all modules inside */
    str *shared;        /* names of tensors counted elsewhere that it has too */
    uint32_t shareds;
    uint64_t calls, output_bytes; /* NOT_KNOWN: no forward was run */
};

struct model_size {
    str type; /* of the model */
    struct model_sums total;
    bool at_least; /* some tensors have no shape yet, and are not in the total */
    bool sharded;  /* full_bytes are more */
    bool called;   /* a forward was run */
    struct module_row *row;
    uint32_t rows;
};
extern const struct row_type model_size_row_type;
extern const struct row_type module_row_type;
extern const struct row_type model_sums_row_type;

/* Texts live in `keep`. */
enum vrs_status model_size_compute(const struct model_objects *of, struct arena *keep,
                                   struct model_size *ret, struct vrs_error *err) MUST_CHECK;

#endif
