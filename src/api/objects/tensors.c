/* tensors.c - the tensors of a program, by the storages under them. */
#include <stddef.h>
#include <stdint.h>

#include "analysis/objects/tensor_table.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/objects/object_answers.h"
#include "vramscope/objects.h"
#include "vramscope/vramscope.h"

static const enum tensor_kind kinds[] = {
    [VRS_PARAMETER] = TENSOR_PARAMETER,
    [VRS_GRADIENT] = TENSOR_GRADIENT,
    [VRS_OPTIMIZER_STATE] = TENSOR_OPTIMIZER_STATE,
    [VRS_BUFFER] = TENSOR_BUFFER,
    [VRS_OTHER_TENSOR] = TENSOR_OTHER,
};

static enum vrs_status take(struct arena *keep, const struct vrs_tensor *tensor, uint32_t tensors,
                            struct known_tensor *ret, struct vrs_error *err)
{
    for (uint32_t i = 0; i < tensors; i++) {
        const struct vrs_tensor *t = &tensor[i];
        if ((unsigned)t->kind > VRS_OTHER_TENSOR)
            return vrs_fail(err, VRS_USAGE, "there is no kind %d of tensors", (int)t->kind);
        ret[i] = (struct known_tensor){ .name = result_text(keep, str_from(t->name)),
                                        .shape = result_text(keep, str_from(t->shape)),
                                        .dtype = result_text(keep, str_from(t->dtype)),
                                        .device = result_text(keep, str_from(t->device)),
                                        .kind = kinds[t->kind],
                                        .storage = t->storage,
                                        .storage_bytes = t->storage_bytes };
        if (ret[i].name.ptr == NULL || ret[i].shape.ptr == NULL || ret[i].dtype.ptr == NULL ||
            ret[i].device.ptr == NULL)
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

static enum vrs_status fill(struct vrs_result *result, const struct vrs_tensor *tensor,
                            uint32_t tensors, const struct vrs_device_bytes *device,
                            uint32_t devices, struct vrs_error *err)
{
    struct arena *keep = result->arena;
    struct known_tensor *known = arena_array(keep, struct known_tensor, tensors);
    struct allocated_bytes *allocated = arena_array(keep, struct allocated_bytes, devices);
    if (known == NULL || allocated == NULL)
        return vrs_no_memory(err);
    TRY(take(keep, tensor, tensors, known, err));
    for (uint32_t i = 0; i < devices; i++) {
        allocated[i] = (struct allocated_bytes){ result_text(keep, str_from(device[i].device)),
                                                 device[i].allocated, device[i].requested };
        if (allocated[i].device.ptr == NULL)
            return vrs_no_memory(err);
    }
    return tensor_table_compute(known, tensors, allocated, devices, keep, result->set.answers, err);
}

enum vrs_status vrs_tensors(const struct vrs_tensor *tensor, uint32_t tensors,
                            const struct vrs_device_bytes *device, uint32_t devices,
                            struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_result *result = result_make(&tensors_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    result->alone = "tables of tensors are not joined";
    enum vrs_status status = fill(result, tensor, tensors, device, devices, err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
