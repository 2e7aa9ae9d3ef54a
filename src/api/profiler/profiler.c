/* profiler.c - the public calls of a profiler: records, scopes, losses. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/file.h"
#include "api/profiler/meter_object.h"
#include "api/profiler/profiler_object.h"
#include "api/result.h"
#include "base/fail.h"
#include "base/vec.h"
#include "profiler/profile.h"
#include "profiler/profiler.h"
#include "profiler/ring.h"
#include "render/profiler/profile_answer.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"
#include "vramscope/vramscope.h"

static void renew(void *object)
{
    profiler_after_fork(object);
}

enum vrs_status vrs_profiler_make(struct vrs_meter *meter,
                                  const struct vrs_profiler_options *options,
                                  struct vrs_profiler **ret, struct vrs_error *err)
{
    struct vrs_profiler_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct vrs_profiler *p = NULL;
    if (!vec_resize((void **)&p, 1, sizeof *p))
        return vrs_no_memory(err);
    p->meter = meter;
    bool ok = profiler_init(&p->profiler, &meter->meter, &o);
    if (!ok || !meter_object_add(meter, (struct forked){ renew, &p->profiler })) {
        vrs_profiler_free(p);
        return vrs_no_memory(err);
    }
    *ret = p;
    return VRS_OK;
}

void vrs_profiler_free(struct vrs_profiler *profiler)
{
    if (profiler == NULL)
        return;
    meter_object_remove(profiler->meter, &profiler->profiler);
    profiler_free(&profiler->profiler);
    vec_resize((void **)&profiler, 0, 0);
}

void vrs_profiler_backend(struct vrs_profiler *profiler, uint32_t backend)
{
    profiler_backend(&profiler->profiler, backend);
}

void vrs_profiler_watch(struct vrs_profiler *profiler, uint32_t device)
{
    profiler_watch(&profiler->profiler, device);
}

void vrs_profiler_reset(struct vrs_profiler *profiler)
{
    profiler_reset(&profiler->profiler);
}

void vrs_checkpoint(struct vrs_profiler *profiler, uint32_t device, uint32_t path,
                    const struct vrs_detail *detail, struct vrs_record *ret)
{
    profiler_checkpoint(&profiler->profiler, device, path, detail, ret);
}

void vrs_scope_open(struct vrs_profiler *profiler, uint32_t device, uint32_t path,
                    struct vrs_scope *ret)
{
    profiler_open(&profiler->profiler, device, path, ret);
}

void vrs_scope_close(struct vrs_profiler *profiler, struct vrs_scope *scope, uint32_t raised,
                     uint64_t device_ns, struct vrs_scope_result *ret)
{
    profiler_close(&profiler->profiler, scope, raised, device_ns, ret);
}

bool vrs_scope_timed(struct vrs_profiler *profiler, struct vrs_scope_result *result,
                     uint64_t device_ns)
{
    return profiler_timed(&profiler->profiler, result, device_ns);
}

void vrs_scope_drop(struct vrs_profiler *profiler, struct vrs_scope *scope)
{
    profiler_drop(&profiler->profiler, scope);
}

uint32_t vrs_records(struct vrs_profiler *profiler, uint64_t from, uint32_t most,
                     struct vrs_record *ret, uint64_t *ret_first)
{
    uint32_t count = ring_copy(&profiler->profiler.records, from, most, ret, ret_first);
    for (uint32_t i = 0; i < count; i++)
        ret[i].index = *ret_first + i; /* which was not known when the row was written */
    return count;
}

uint32_t vrs_scopes(struct vrs_profiler *profiler, uint64_t from, uint32_t most,
                    struct vrs_scope_result *ret, uint64_t *ret_first)
{
    uint32_t count = ring_copy(&profiler->profiler.scopes, from, most, ret, ret_first);
    for (uint32_t i = 0; i < count; i++)
        ret[i].index = *ret_first + i;
    return count;
}

enum vrs_status vrs_profiler_summary(struct vrs_profiler *profiler, struct vrs_result **ret,
                                     struct vrs_error *err)
{
    struct vrs_result *result = result_make(&profile_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    result->alone = "what profilers have measured is not joined";
    enum vrs_status status = profile_make(&profiler->profiler, &profiler->meter->names,
                                          result->arena, result->set.answers, err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}

void vrs_profiler_losses(struct vrs_profiler *profiler, struct vrs_profiler_losses *ret)
{
    profiler_losses(&profiler->profiler, ret);
}
