/* known_device.c - every moment is a row of the curves. */
#include "made/known_device.h"

#include <assert.h>
#include <string.h>

void known_device_begin(struct known_device *d)
{
    memset(d, 0, sizeof *d);
    d->moments = 1;
}

/* One more moment, in which nothing has changed yet. */
static uint64_t *tick(struct known_device *d)
{
    assert(d->moments < KNOWN_MOMENTS);
    memcpy(d->at[d->moments], d->at[d->moments - 1], sizeof d->at[0]);
    return d->at[d->moments++];
}

static const uint64_t *present(const struct known_device *d)
{
    return d->at[d->moments - 1];
}

void known_device_change(struct known_device *d, enum vrs_curve k, int64_t bytes)
{
    uint64_t *now = tick(d);
    uint64_t by = bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes;
    if (bytes < 0 && by > now[k])
        by = now[k];
    now[k] = bytes < 0 ? now[k] - by : now[k] + by;
    if (now[k] > d->peak[k])
        d->peak[k] = now[k];
    if (k != VRS_ALLOCATED || by == 0)
        return;
    *(bytes < 0 ? &d->ever.freed : &d->ever.allocated) += by;
    ++*(bytes < 0 ? &d->ever.frees : &d->ever.allocations);
}

void known_device_spike(struct known_device *d, uint64_t bytes)
{
    for (int k = 0; k < VRS_CURVES; k++)
        known_device_change(d, (enum vrs_curve)k, (int64_t)bytes);
    for (int k = 0; k < VRS_CURVES; k++)
        known_device_change(d, (enum vrs_curve)k, -(int64_t)bytes);
}

void known_device_reset_peak(struct known_device *d)
{
    tick(d);
    memcpy(d->peak, present(d), sizeof d->peak);
    d->reset_at = d->moments - 1;
}

void known_device_reset_totals(struct known_device *d)
{
    tick(d);
    d->reset_ever = d->ever;
}

uint64_t known_device_highest(const struct known_device *d, enum vrs_curve k, uint32_t from,
                              uint32_t to)
{
    uint64_t highest = 0;
    for (uint32_t i = from; i <= to; i++)
        if (d->at[i][k] > highest)
            highest = d->at[i][k];
    return highest;
}

static void show(const struct known_device *d, struct vrs_stats *ret)
{
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        if (!(d->hidden & 1u << k)) {
            ret->now[k] = present(d)[k];
            ret->peak[k] = d->peak[k];
        }
    if (d->hidden & TOTALS_UNKNOWN)
        return;
    ret->allocated_bytes = d->ever.allocated - d->reset_ever.allocated;
    ret->freed_bytes = d->ever.freed - d->reset_ever.freed;
    ret->allocations = d->ever.allocations - d->reset_ever.allocations;
    ret->frees = d->ever.frees - d->reset_ever.frees;
}

static enum vrs_status read_counters(struct known_device *d, struct vrs_stats *ret, bool swap)
{
    tick(d);
    d->readings++;
    if (d->inside != NULL)
        d->inside(d->arg);
    bool fails = d->fail_readings & 1;
    d->fail_readings >>= 1;
    if (fails)
        return VRS_IO;
    show(d, ret);
    uint32_t moment = d->moments - 1;
    if (d->read != NULL)
        d->read(d->arg, ret, moment, swap);
    if (swap) {
        d->resets++;
        memcpy(d->peak, present(d), sizeof d->peak);
        d->reset_at = moment;
        if (d->was_reset != NULL)
            d->was_reset(d->arg, false);
    }
    return VRS_OK;
}

static enum vrs_status stats(void *arg, uint32_t device, struct vrs_stats *ret)
{
    (void)device;
    return read_counters(arg, ret, false);
}

static enum vrs_status swap_peak(void *arg, uint32_t device, struct vrs_stats *ret)
{
    (void)device;
    struct known_device *d = arg;
    return d->fail_resets ? VRS_IO : read_counters(d, ret, true);
}

static enum vrs_status reset_peak(void *arg, uint32_t device)
{
    (void)device;
    struct known_device *d = arg;
    bool spikes = d->spike != 0;
    if (spikes)
        known_device_spike(d, d->spike);
    d->spike = 0;
    if (d->fail_resets)
        return VRS_IO;
    d->resets++;
    known_device_reset_peak(d);
    if (d->was_reset != NULL)
        d->was_reset(d->arg, spikes);
    return VRS_OK;
}

struct vrs_backend known_device_backend(struct known_device *d, uint32_t resets)
{
    return (struct vrs_backend){
        .size = sizeof(struct vrs_backend),
        .name = "known",
        .arg = d,
        .stats = stats,
        .reset_peak = resets & KNOWN_RESETS ? reset_peak : NULL,
        .swap_peak = resets & KNOWN_SWAPS ? swap_peak : NULL,
    };
}
