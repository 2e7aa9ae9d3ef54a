/* sampler.c - the public calls of a sampler. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/file.h"
#include "api/profiler/meter_object.h"
#include "base/fail.h"
#include "base/vec.h"
#include "profiler/ring.h"
#include "profiler/sampler.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"

struct vrs_sampler {
    struct sampler sampler;
    struct vrs_meter *meter;
};

static void renew(void *object)
{
    sampler_after_fork(object);
}

const char *vrs_sampler_state_name(enum vrs_sampler_state state)
{
    static const char *const names[] = { "stopped", "running", "stopped by fork" };
    return names[state <= VRS_SAMPLER_FORKED ? state : VRS_SAMPLER_STOPPED];
}

enum vrs_status vrs_sampler_make(struct vrs_meter *meter, const struct vrs_sampler_options *options,
                                 struct vrs_sampler **ret, struct vrs_error *err)
{
    struct vrs_sampler_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct vrs_sampler *s = NULL;
    if (!vec_resize((void **)&s, 1, sizeof *s))
        return vrs_no_memory(err);
    s->meter = meter;
    enum vrs_status status = sampler_init(&s->sampler, &meter->meter, &o, err);
    if (status != VRS_OK) {
        if (status == VRS_NOMEM)
            sampler_free(&s->sampler);
        vec_resize((void **)&s, 0, 0);
        return status;
    }
    if (!meter_object_add(meter, (struct forked){ renew, &s->sampler })) {
        vrs_sampler_free(s);
        return vrs_no_memory(err);
    }
    *ret = s;
    return VRS_OK;
}

enum vrs_status vrs_sampler_start(struct vrs_sampler *sampler, struct vrs_error *err)
{
    return sampler_start(&sampler->sampler, err);
}

void vrs_sampler_stop(struct vrs_sampler *sampler)
{
    sampler_stop(&sampler->sampler);
}

void vrs_sampler_now(struct vrs_sampler *sampler)
{
    sampler_now(&sampler->sampler);
}

uint32_t vrs_sampler_copy(struct vrs_sampler *sampler, uint64_t from, uint32_t most,
                          struct vrs_sample *ret, uint64_t *ret_first)
{
    uint32_t count = ring_copy(&sampler->sampler.ring, from, most, ret, ret_first);
    for (uint32_t i = 0; i < count; i++)
        ret[i].index = *ret_first + i; /* which was not known when the row was written */
    return count;
}

void vrs_sampler_clear(struct vrs_sampler *sampler)
{
    sampler_clear(&sampler->sampler);
}

void vrs_sampler_count(struct vrs_sampler *sampler, struct vrs_sampler_counts *ret)
{
    sampler_count(&sampler->sampler, ret);
}

bool vrs_sampler_needs_reader(const struct vrs_sampler *sampler)
{
    return !sampler->sampler.backend.any_thread;
}

bool vrs_sampler_wait(struct vrs_sampler *sampler)
{
    return sampler_wait(&sampler->sampler);
}

void vrs_sampler_read(struct vrs_sampler *sampler)
{
    sampler_read(&sampler->sampler);
}

void vrs_sampler_free(struct vrs_sampler *sampler)
{
    if (sampler == NULL)
        return;
    meter_object_remove(sampler->meter, &sampler->sampler);
    sampler_free(&sampler->sampler);
    vec_resize((void **)&sampler, 0, 0);
}
