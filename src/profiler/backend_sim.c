/* backend_sim.c - several simulated devices under one lock and one clock. */
#include "profiler/backend_sim.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/table.h"
#include "profiler/sim_device.h"
#include "profiler/sim_events.h"
#include "profiler/sim_refusal.h"
#include "vramscope/profiler.h"

/* The whole. */

static enum vrs_status check(const struct sim_options *o, struct vrs_error *err)
{
    if (o->devices == 0 || o->devices > SIM_DEVICES_MAX)
        return vrs_fail(err, VRS_USAGE, "%u simulated devices; there can be 1 to %d",
                        (unsigned)o->devices, SIM_DEVICES_MAX);
    if (o->total_bytes == 0 || o->total_bytes > SIM_TOTAL_MAX)
        return vrs_fail(err, VRS_USAGE, "a simulated device of %llu bytes; it may have up to 4 TiB",
                        (unsigned long long)o->total_bytes);
    if (o->context_bytes > o->total_bytes)
        return vrs_fail(err, VRS_USAGE, "a context of %llu bytes on a device of %llu",
                        (unsigned long long)o->context_bytes, (unsigned long long)o->total_bytes);
    return VRS_OK;
}

static bool fill(struct sim *s, const struct sim_options *o)
{
    s->common.clock_ns = o->clock_ns;
    s->lock = lock_make(&s->arena);
    s->device = arena_array(&s->arena, struct sim_device, o->devices);
    if (s->lock == NULL || s->device == NULL)
        return false;
    if (o->history_most > 0)
        sim_history_start(s, o->history_most, SIM_STACKS_ALL, true);
    for (; s->devices < o->devices; s->devices++)
        if (!sim_device_init(&s->device[s->devices], &s->common, s->devices, &o->config,
                             o->total_bytes, o->context_bytes)) {
            sim_device_free(&s->device[s->devices]);
            return false;
        }
    return true;
}

enum vrs_status sim_make(const struct sim_options *options, struct sim **ret, struct vrs_error *err)
{
    struct arena arena;
    TRY(check(options, err));
    arena_init(&arena, SIZE_MAX / 2);
    struct sim *s = arena_take(&arena, sizeof *s);
    if (s == NULL)
        return vrs_no_memory(err);
    s->arena = arena;
    if (!fill(s, options)) {
        sim_free(s);
        return vrs_no_memory(err);
    }
    *ret = s;
    return VRS_OK;
}

void sim_free(struct sim *s)
{
    if (s == NULL)
        return;
    struct arena arena = s->arena;
    for (uint32_t i = 0; i < s->devices; i++)
        sim_device_free(&s->device[i]);
    lock_end(s->lock);
    arena_free(&arena);
}

void sim_lock(struct sim *s)
{
    lock_take(s->lock);
}

void sim_unlock(struct sim *s)
{
    lock_give(s->lock);
}

struct sim_device *sim_device_at(struct sim *s, uint32_t device, struct vrs_error *err)
{
    if (device < s->devices)
        return &s->device[device];
    vrs_fail(err, VRS_USAGE, "there is no simulated device %u: they are 0 to %u", (unsigned)device,
             (unsigned)s->devices - 1);
    return NULL;
}

/* Requests. */

static enum vrs_status memory_left(const struct sim *s, struct vrs_error *err)
{
    return s->common.no_memory ? vrs_no_memory(err) : VRS_OK;
}

static enum vrs_status lane_of(struct sim_device *d, const struct sim_request *r, uint32_t *ret,
                               struct vrs_error *err)
{
    *ret = machine_lane(&d->m, r->pool, r->stream);
    if (*ret != NO_ROW)
        return VRS_OK;
    if (d->m.lanes.len < LANES_MAX)
        return vrs_no_memory(err);
    return vrs_fail(err, VRS_USAGE, "more than %d pairs of pool and stream", LANES_MAX);
}

enum vrs_status sim_alloc(struct sim *s, const struct sim_request *request, struct sim_grant *ret,
                          struct sim_refusal *ret_refusal, struct vrs_error *err)
{
    uint32_t lane;
    struct sim_device *d = sim_device_at(s, request->device, err);
    if (d == NULL)
        return VRS_USAGE;
    if (request->bytes == 0 || request->bytes > ENDLESS_BYTES)
        return vrs_fail(err, VRS_USAGE, "a request of %llu bytes; it needs 1 to 2^62",
                        (unsigned long long)request->bytes);
    TRY(memory_left(s, err));
    TRY(lane_of(d, request, &lane, err));
    uint32_t block = sim_device_alloc(d, lane, request->bytes, s->turns + 1, request->origin);
    TRY(memory_left(s, err));
    if (block == 0) {
        *ret_refusal = sim_refusal_of(d, request->device, request->bytes);
        return vrs_fail(err, VRS_LIMIT, "the simulated device %u is out of memory",
                        (unsigned)request->device);
    }
    const struct machine_block *b = &d->m.blocks.at[block];
    *ret = (struct sim_grant){ request->device, block, ++s->turns, b->address, b->size };
    return VRS_OK;
}

/* The device of an allocation that is not freed yet; else NULL with a failure. */
static struct sim_device *holder(struct sim *s, const struct sim_grant *g, struct vrs_error *err)
{
    struct sim_device *d = sim_device_at(s, g->device, err);
    if (d == NULL)
        return NULL;
    if (g->turn != 0 && g->block < d->life.len && d->life.at[g->block].turn == g->turn)
        return d;
    vrs_fail(err, VRS_USAGE, "it is freed already");
    return NULL;
}

enum vrs_status sim_release(struct sim *s, const struct sim_grant *grant, uint32_t stack,
                            struct vrs_error *err)
{
    TRY(memory_left(s, err));
    struct sim_device *d = holder(s, grant, err);
    if (d == NULL)
        return VRS_USAGE;
    sim_device_release(d, grant->block, stack);
    return memory_left(s, err);
}

enum vrs_status sim_record_stream(struct sim *s, const struct sim_grant *grant, uint64_t stream,
                                  struct vrs_error *err)
{
    TRY(memory_left(s, err));
    struct sim_device *d = holder(s, grant, err);
    if (d == NULL)
        return VRS_USAGE;
    uint32_t side = d->m.blocks.at[grant->block].side;
    if (d->m.lanes.at[side / 2].stream != stream)
        d->life.at[grant->block].elsewhere = true;
    return VRS_OK;
}

enum vrs_status sim_other(struct sim *s, uint32_t device, uint64_t bytes, struct vrs_error *err)
{
    struct sim_device *d = sim_device_at(s, device, err);
    if (d == NULL)
        return VRS_USAGE;
    if (bytes > d->total_bytes - d->context_bytes)
        return vrs_fail(err, VRS_USAGE,
                        "other processes with %llu bytes; beside the context the device has %llu",
                        (unsigned long long)bytes,
                        (unsigned long long)(d->total_bytes - d->context_bytes));
    sim_device_other(d, bytes);
    return VRS_OK;
}

enum vrs_status sim_empty_cache(struct sim *s, uint32_t device, uint32_t stack,
                                struct vrs_error *err)
{
    struct sim_device *d = sim_device_at(s, device, err);
    if (d == NULL)
        return VRS_USAGE;
    TRY(memory_left(s, err));
    sim_device_empty_cache(d, (struct sim_origin){ stack, 0 });
    return memory_left(s, err);
}

enum vrs_status sim_synchronize(struct sim *s, uint32_t device, struct vrs_error *err)
{
    struct sim_device *d = sim_device_at(s, device, err);
    if (d == NULL)
        return VRS_USAGE;
    TRY(memory_left(s, err));
    sim_device_synchronize(d);
    return memory_left(s, err);
}

enum vrs_status sim_advance(struct sim *s, uint64_t ns, struct vrs_error *err)
{
    /* Events add to the clock too, and never so much. */
    const uint64_t end = UINT64_MAX / 2;
    if (s->common.clock_ns > end || ns > end - s->common.clock_ns)
        return vrs_fail(err, VRS_USAGE, "the virtual clock ends after 292 years");
    s->common.clock_ns += ns;
    return VRS_OK;
}

/* History. */

void sim_history_start(struct sim *s, uint32_t most, enum sim_stacks stacks, bool trace)
{
    s->common.history_most = most == 0 ? 1 : most;
    s->common.stacks = (uint8_t)stacks;
    s->common.trace = trace;
    s->common.recording = true;
    for (uint32_t i = 0; i < s->devices; i++)
        sim_events_keep(&s->device[i].history, s->common.history_most);
}

void sim_history_clear(struct sim *s)
{
    for (uint32_t i = 0; i < s->devices; i++)
        sim_events_clear(&s->device[i].history);
}

void sim_history_stop(struct sim *s)
{
    s->common.recording = false;
    sim_history_clear(s);
}

/* The backend. */

static enum vrs_status backend_stats(void *arg, uint32_t device, struct vrs_stats *ret)
{
    struct sim *s = arg;
    if (device >= s->devices)
        return VRS_USAGE;
    sim_lock(s);
    enum vrs_status status = memory_left(s, NULL);
    if (status == VRS_OK)
        sim_device_stats(&s->device[device], ret);
    sim_unlock(s);
    return status;
}

static enum vrs_status backend_reset_peak(void *arg, uint32_t device)
{
    struct sim *s = arg;
    if (device >= s->devices)
        return VRS_USAGE;
    sim_lock(s);
    sim_device_reset_peak(&s->device[device]);
    sim_unlock(s);
    return VRS_OK;
}

static enum vrs_status backend_swap_peak(void *arg, uint32_t device, struct vrs_stats *ret)
{
    struct sim *s = arg;
    if (device >= s->devices)
        return VRS_USAGE;
    sim_lock(s);
    enum vrs_status status = memory_left(s, NULL);
    if (status == VRS_OK) {
        sim_device_stats(&s->device[device], ret);
        sim_device_reset_peak(&s->device[device]);
    }
    sim_unlock(s);
    return status;
}

static uint32_t backend_count(void *arg)
{
    const struct sim *s = arg;
    return s->devices;
}

static uint32_t backend_current(void *arg)
{
    struct sim *s = arg;
    sim_lock(s);
    uint32_t current = s->current;
    sim_unlock(s);
    return current;
}

static enum vrs_status backend_device_name(void *arg, uint32_t device, char *ret, size_t room)
{
    const struct sim *s = arg;
    if (device >= s->devices)
        return VRS_USAGE;
    snprintf(ret, room, "simulated device %u", (unsigned)device);
    return VRS_OK;
}

static enum vrs_status backend_memory(void *arg, uint32_t device, uint64_t *ret_free,
                                      uint64_t *ret_total)
{
    struct sim *s = arg;
    if (device >= s->devices)
        return VRS_USAGE;
    sim_lock(s);
    *ret_free = sim_device_left(&s->device[device]);
    *ret_total = s->device[device].total_bytes;
    sim_unlock(s);
    return VRS_OK;
}

static enum vrs_status backend_utilisation(void *arg, uint32_t device, double *ret_percent)
{
    struct sim *s = arg;
    if (device >= s->devices)
        return VRS_USAGE;
    sim_lock(s);
    bool known = sim_device_busy(&s->device[device], ret_percent);
    sim_unlock(s);
    return known ? VRS_OK : VRS_UNSUPPORTED;
}

static enum vrs_status backend_empty_cache(void *arg, uint32_t device)
{
    struct sim *s = arg;
    sim_lock(s);
    enum vrs_status status = sim_empty_cache(s, device, 0, NULL);
    sim_unlock(s);
    return status;
}

static enum vrs_status backend_synchronize(void *arg, uint32_t device)
{
    struct sim *s = arg;
    sim_lock(s);
    enum vrs_status status = sim_synchronize(s, device, NULL);
    sim_unlock(s);
    return status;
}

static uint64_t backend_clock_ns(void *arg)
{
    struct sim *s = arg;
    sim_lock(s);
    uint64_t now = s->common.clock_ns;
    sim_unlock(s);
    return now;
}

static enum vrs_status backend_device_ns(void *arg, uint32_t device, uint64_t *ret)
{
    const struct sim *s = arg;
    if (device >= s->devices)
        return VRS_USAGE;
    *ret = backend_clock_ns(arg);
    return VRS_OK;
}

void sim_backend(struct sim *s, struct vrs_backend *ret)
{
    *ret = (struct vrs_backend){
        .size = sizeof *ret,
        .name = "sim",
        .arg = s,
        .stats = backend_stats,
        .reset_peak = backend_reset_peak,
        .swap_peak = backend_swap_peak,
        .count = backend_count,
        .current = backend_current,
        .device_name = backend_device_name,
        .memory = backend_memory,
        .utilisation = backend_utilisation,
        .empty_cache = backend_empty_cache,
        .synchronize = backend_synchronize,
        .device_ns = backend_device_ns,
        .clock_ns = backend_clock_ns,
        .any_thread = true,
    };
}
