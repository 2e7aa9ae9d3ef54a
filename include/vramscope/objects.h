/* objects.h - what the Python objects of a running program hold: the modules of a model with their
 * parameters and buffers, the tensors that the collector knows, the cycles of references that keep
 * some of them, and what grows from step to step.
 *
 * The caller lists the objects; here they are added up.  A storage, the memory under tensors, is
 * counted once, however many tensors stand on it.  UINT64_MAX is what is not known.  Texts are
 * UTF-8, and none is kept. */
#ifndef VRAMSCOPE_OBJECTS_H
#define VRAMSCOPE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/error.h"
#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a tensor is to its program; of several on one storage the first of these is told. */
enum vrs_tensor_kind {
    VRS_PARAMETER,
    VRS_GRADIENT,
    VRS_OPTIMIZER_STATE,
    VRS_BUFFER,
    VRS_OTHER_TENSOR
};

/* A tensor, or one of the dense ones that a sparse or quantised tensor is made of. */
struct vrs_tensor {
    uint32_t owner;   /* the number of the module that has it; of a model alone */
    const char *name; /* "layers.0.weight"; "" where it has none */
    const char *shape, *dtype, *device;
    enum vrs_tensor_kind kind;
    bool trainable;
    uint64_t elements, bytes; /* UINT64_MAX: it has no shape yet */
    uint64_t full_bytes;      /* of all shards */
    uint64_t storage;         /* equal for tensors of one storage */
    uint64_t storage_bytes;
    uint64_t offset_bytes; /* in the storage */
};

/* A module; the caller gives them as named_modules does: each before those inside it. */
struct vrs_module {
    const char *path; /* "layers.0"; "" is the model itself */
    const char *type;
};

/* A tensor that a module returned from one of its calls in a forward. */
struct vrs_output {
    uint32_t module;
    uint32_t call;  /* outputs of one call stand together and have its number */
    uint64_t bytes; /* UINT64_MAX: the call returned no tensor */
};

struct vrs_model_options {
    size_t size;
    uint32_t depth; /* modules further inside are counted in the one around them; plus 1; 0: none
                     * is */
    const struct vrs_output *output; /* NULL: no forward was run */
    uint32_t outputs;
};
/* The size of a model: a row for each module with what it owns itself, and the total. */
VRS_API enum vrs_status vrs_model_size(const struct vrs_module *module, uint32_t modules,
                                       const struct vrs_tensor *tensor, uint32_t tensors,
                                       const struct vrs_model_options *options,
                                       struct vrs_result **ret, struct vrs_error *err);

/* What the allocator of a device says. */
struct vrs_device_bytes {
    const char *device;
    uint64_t allocated, requested;
};
/* The storages under some tensors, the largest first, and by device how much of what is allocated
 * none of them has. */
VRS_API enum vrs_status vrs_tensors(const struct vrs_tensor *tensor, uint32_t tensors,
                                    const struct vrs_device_bytes *device, uint32_t devices,
                                    struct vrs_result **ret, struct vrs_error *err);

/* An object that nothing in the program refers to any more. */
struct vrs_garbage {
    const char *type;
    uint64_t storage, bytes; /* of a tensor that counts; UINT64_MAX bytes: it is none */
};
struct vrs_reference {
    uint32_t from, to; /* numbers of objects */
};
/* Which reference cycles kept tensors alive, and the shortest way to the largest of each; those
 * that hold less than `least_bytes` are left out. */
VRS_API enum vrs_status vrs_cycles(const struct vrs_garbage *object, uint32_t objects,
                                   const struct vrs_reference *reference, uint32_t references,
                                   uint64_t least_bytes, struct vrs_result **ret,
                                   struct vrs_error *err);

/* The cycle that holds most, as a drawing in SVG; nothing is written where there is none. */
VRS_API enum vrs_status vrs_cycles_svg(const struct vrs_garbage *object, uint32_t objects,
                                       const struct vrs_reference *reference, uint32_t references,
                                       const struct vrs_sink *sink, struct vrs_error *err);

/* What the peak of a training step consists of, in bytes, where nothing but its size is known. */
struct vrs_step_parts {
    uint64_t gradients;      /* as many as of parameters */
    uint64_t states;         /* of the optimizer */
    uint64_t activations;    /* the rest; 0: there is none; UINT64_MAX: the peak is not known */
    bool mostly_activations; /* more than half of the peak */
};
/* `states` is UINT64_MAX for those of Adam, which has two for each parameter. */
VRS_API void vrs_step_parts(uint64_t peak, uint64_t parameters, uint64_t states,
                            struct vrs_step_parts *ret);

/* What was alive on a device at the end of a step, and what its allocator said then. */
struct vrs_census {
    const struct vrs_tensor *tensor; /* name, shape, dtype, device and storage are looked at */
    uint32_t tensors;
    uint32_t step;
    uint64_t requested;
};

struct vrs_growth_options {
    size_t size;
    uint32_t first_step;      /* the step that the first reading is the end of */
    uint32_t every;           /* steps from one reading to the next */
    uint32_t wanted;          /* readings that decide, 3 at least */
    uint64_t least_bytes;     /* what grows by less does not count */
    uint64_t present_bytes;   /* a reading of now, before garbage is collected; as the next */
    uint64_t collected_bytes; /* a reading after garbage was collected; UINT64_MAX: there is none */
    const struct vrs_census *first, *last; /* NULL: objects were not counted */
};
/* Whether memory at the ends of steps, after a warm-up, keeps growing, by the rule that leaks of a
 * recording are judged by; and the shapes and dtypes that grew.  UINT64_MAX is a reading that is
 * not known.  vrs_verdict() of the result is yes where it grows. */
VRS_API enum vrs_status vrs_growth(const uint64_t *bytes, uint32_t moments,
                                   const struct vrs_growth_options *options,
                                   struct vrs_result **ret, struct vrs_error *err);

#ifdef __cplusplus
}
#endif

#endif
