/* meter.c - the public calls of a meter: backends, slots, names. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/file.h"
#include "api/profiler/meter_object.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"
#include "profiler/driver.h"
#include "profiler/meter.h"
#include "profiler/names.h"
#include "profiler/sources.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"

enum { NAMES_DEFAULT = 65536, OBJECTS_MAX = 1 << 20 };

const char *vrs_state_name(enum vrs_state state)
{
    static const char *const names[] = { "exact", "sampled", "lost", "raced", "nested", "unknown" };
    return names[state <= VRS_STATE_UNKNOWN ? state : VRS_STATE_UNKNOWN];
}

enum vrs_status vrs_meter_make(const struct vrs_meter_options *options, struct vrs_meter **ret,
                               struct vrs_error *err)
{
    struct vrs_meter_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct vrs_meter *m = NULL;
    if (!vec_resize((void **)&m, 1, sizeof *m))
        return vrs_no_memory(err);
    *m = (struct vrs_meter){ .forked.max = OBJECTS_MAX };
    bool ok = meter_init(&m->meter, &o);
    ok = names_init(&m->names, o.names != 0 ? o.names : NAMES_DEFAULT) && ok;
    ok = pthread_mutex_init(&m->guard, NULL) == 0 && ok;
    if (!ok) {
        vrs_meter_free(m);
        return vrs_no_memory(err);
    }
    *ret = m;
    return VRS_OK;
}

void vrs_meter_free(struct vrs_meter *meter)
{
    if (meter == NULL)
        return;
    meter_free(&meter->meter);
    names_free(&meter->names);
    vec_free(&meter->forked);
    pthread_mutex_destroy(&meter->guard);
    vec_resize((void **)&meter, 0, 0);
}

void vrs_meter_after_fork(struct vrs_meter *meter)
{
    pthread_mutex_init(&meter->guard, NULL);
    meter_after_fork(&meter->meter);
    names_after_fork(&meter->names);
    for (uint32_t i = 0; i < meter->forked.len; i++)
        meter->forked.at[i].renew(meter->forked.at[i].object);
}

bool meter_object_add(struct vrs_meter *meter, struct forked who)
{
    pthread_mutex_lock(&meter->guard);
    bool ok = vec_push(&meter->forked, who);
    pthread_mutex_unlock(&meter->guard);
    return ok;
}

void meter_object_remove(struct vrs_meter *meter, const void *object)
{
    pthread_mutex_lock(&meter->guard);
    for (uint32_t i = 0; i < meter->forked.len; i++)
        if (meter->forked.at[i].object == object) {
            meter->forked.at[i] = meter->forked.at[--meter->forked.len];
            break;
        }
    pthread_mutex_unlock(&meter->guard);
}

enum vrs_status vrs_meter_backend(struct vrs_meter *meter, const struct vrs_backend *backend,
                                  uint32_t *ret_id, struct vrs_error *err)
{
    struct vrs_backend b = { 0 };
    options_take(&b, sizeof b, backend);
    uint32_t id = meter_add(&meter->meter, &b);
    if (id == 0)
        return vrs_no_memory(err);
    *ret_id = id;
    return VRS_OK;
}

void vrs_meter_retire(struct vrs_meter *meter, uint32_t id)
{
    meter_retire(&meter->meter, id);
}

void vrs_meter_losses(struct vrs_meter *meter, struct vrs_meter_losses *ret)
{
    meter_losses(&meter->meter, ret);
    ret->names = names_refused(&meter->names);
}

void vrs_slot_open(struct vrs_meter *meter, uint32_t backend, uint32_t device, uint32_t flags,
                   struct vrs_slot *ret)
{
    meter_open(&meter->meter, backend, device, flags, ret);
}

void vrs_slot_mark(struct vrs_meter *meter, struct vrs_slot *slot, struct vrs_peaks *ret)
{
    meter_mark(&meter->meter, slot, ret);
}

void vrs_slot_close(struct vrs_meter *meter, struct vrs_slot *slot, struct vrs_peaks *ret)
{
    if (ret != NULL)
        meter_close(&meter->meter, slot, ret);
    else
        meter_drop(&meter->meter, slot);
}

uint32_t vrs_slots_open(struct vrs_meter *meter, uint32_t backend, uint32_t device)
{
    return meter_slots(&meter->meter, backend, device);
}

enum vrs_state vrs_meter_read(struct vrs_meter *meter, uint32_t backend, uint32_t device, bool wait,
                              struct vrs_stats *ret)
{
    return meter_read(&meter->meter, backend, device, wait, ret);
}

void vrs_device_memory(const struct vrs_backend *backend, uint32_t device,
                       struct vrs_device_memory *ret)
{
    struct vrs_backend b = { 0 };
    options_take(&b, sizeof b, backend);
    sources_memory(&b, device, ret);
}

void vrs_driver(struct vrs_meter *meter, const char *id, struct vrs_driver_figures *ret)
{
    struct driver_figures found;
    driver_ask(&meter->meter.driver, id, DRIVER_MEMORY | DRIVER_UTILISATION | DRIVER_PROCESSES,
               &found);
    *ret = (struct vrs_driver_figures){
        .used = found.used,
        .total = found.total,
        .utilisation = found.utilisation,
        .processes = found.processes == UINT32_MAX ? VRS_UNKNOWN : found.processes,
        .own = found.own,
    };
    memcpy(ret->why, found.why, sizeof ret->why);
}

uint32_t vrs_name(struct vrs_meter *meter, const char *bytes, size_t len)
{
    return names_id(&meter->names, (str){ bytes, len });
}

const char *vrs_name_text(struct vrs_meter *meter, uint32_t name, size_t *ret_len)
{
    str text = names_text(&meter->names, name);
    *ret_len = text.len;
    return text.ptr;
}

uint32_t vrs_path(struct vrs_meter *meter, uint32_t parent, uint32_t name)
{
    return names_path(&meter->names, parent, name);
}

void vrs_path_parts(struct vrs_meter *meter, uint32_t path, uint32_t *ret_parent,
                    uint32_t *ret_name)
{
    struct path parts = names_path_at(&meter->names, path);
    *ret_parent = parts.parent;
    *ret_name = parts.name;
}
