/* sim_refusal.h - why a simulated device refused a request, as figures and in PyTorch's words. */
#ifndef VRS_PROFILER_SIM_REFUSAL_H
#define VRS_PROFILER_SIM_REFUSAL_H

#include <stdint.h>

#include "base/buf.h"
#include "profiler/sim_device.h"

struct sim_refusal {
    uint32_t device;
    uint64_t requested_bytes;
    uint64_t segment_bytes; /* what the device was asked for, or would have been */
    uint64_t total_bytes, free_bytes;
    uint64_t allowed_bytes; /* to this process by a setting; VRS_UNKNOWN: all */
    uint64_t process_bytes;
    uint64_t allocated_bytes, private_bytes, reserved_bytes;
};

/* Of a request that the device has just refused. */
struct sim_refusal sim_refusal_of(const struct sim_device *d, uint32_t device, uint64_t bytes);

/* Appends the message of PyTorch's exception. */
void sim_refusal_text(const struct sim_refusal *r, struct buf *to);

#endif
