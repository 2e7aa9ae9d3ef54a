/* model_size.c - the modules and tensors of a model, added up. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/objects/model_size.h"
#include "api/file.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/objects/object_answers.h"
#include "vramscope/objects.h"
#include "vramscope/vramscope.h"

/* Copies what the answer will keep; false: no memory. */
static bool take_modules(struct arena *keep, const struct vrs_module *module, uint32_t modules,
                         struct model_module *ret)
{
    bool ok = ret != NULL;
    for (uint32_t i = 0; ok && i < modules; i++) {
        ret[i] = (struct model_module){ .path = result_text(keep, str_from(module[i].path)),
                                        .type = result_text(keep, str_from(module[i].type)) };
        ok = ret[i].path.ptr != NULL && ret[i].type.ptr != NULL;
    }
    return ok;
}

static bool take_tensors(struct arena *keep, const struct vrs_tensor *tensor, uint32_t tensors,
                         struct model_tensor *ret)
{
    bool ok = ret != NULL;
    for (uint32_t i = 0; ok && i < tensors; i++) {
        const struct vrs_tensor *t = &tensor[i];
        ret[i] = (struct model_tensor){ .owner = t->owner,
                                        .name = result_text(keep, str_from(t->name)),
                                        .is_parameter = t->kind == VRS_PARAMETER,
                                        .trainable = t->trainable,
                                        .elements = t->elements,
                                        .bytes = t->bytes,
                                        .full_bytes = t->full_bytes,
                                        .storage = t->storage,
                                        .storage_bytes = t->storage_bytes,
                                        .offset_bytes = t->offset_bytes };
        ok = ret[i].name.ptr != NULL;
    }
    return ok;
}

static bool take_outputs(const struct vrs_output *output, uint32_t outputs,
                         struct module_output *ret)
{
    for (uint32_t i = 0; ret != NULL && i < outputs; i++)
        ret[i] = (struct module_output){ output[i].module, output[i].call, output[i].bytes };
    return ret != NULL;
}

static enum vrs_status fill(struct vrs_result *result, const struct vrs_module *module,
                            uint32_t modules, const struct vrs_tensor *tensor, uint32_t tensors,
                            const struct vrs_model_options *o, struct vrs_error *err)
{
    struct arena *keep = result->arena;
    struct model_module *m = arena_array(keep, struct model_module, modules);
    struct model_tensor *t = arena_array(keep, struct model_tensor, tensors);
    struct module_output *out = arena_array(keep, struct module_output, o->outputs);
    if (!take_modules(keep, module, modules, m) || !take_tensors(keep, tensor, tensors, t) ||
        !take_outputs(o->output, o->outputs, out))
        return vrs_no_memory(err);
    struct model_objects of = { m,           t,       o->output == NULL ? NULL : out,
                                modules,     tensors, o->outputs,
                                o->depth - 1 };
    return model_size_compute(&of, keep, result->set.answers, err);
}

/* Whether all name modules that there are. */
static enum vrs_status check_modules(uint32_t modules, const struct vrs_tensor *tensor,
                                     uint32_t tensors, const struct vrs_model_options *o,
                                     struct vrs_error *err)
{
    for (uint32_t i = 0; i < tensors; i++)
        if (tensor[i].owner >= modules)
            return vrs_fail(err, VRS_USAGE, "tensor %u is of module %u, and there are %u",
                            (unsigned)i, (unsigned)tensor[i].owner, (unsigned)modules);
    for (uint32_t i = 0; i < o->outputs; i++)
        if (o->output[i].module >= modules)
            return vrs_fail(err, VRS_USAGE, "output %u is of module %u, and there are %u",
                            (unsigned)i, (unsigned)o->output[i].module, (unsigned)modules);
    return VRS_OK;
}

enum vrs_status vrs_model_size(const struct vrs_module *module, uint32_t modules,
                               const struct vrs_tensor *tensor, uint32_t tensors,
                               const struct vrs_model_options *options, struct vrs_result **ret,
                               struct vrs_error *err)
{
    struct vrs_model_options o = { 0 };
    options_take(&o, sizeof o, options);
    TRY(check_modules(modules, tensor, tensors, &o, err));
    struct vrs_result *result = result_make(&model_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    result->alone = "sizes of models are not joined";
    enum vrs_status status = fill(result, module, modules, tensor, tensors, &o, err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
