/* sim_refusal.c - the message of torch.cuda.OutOfMemoryError, as versions from 2.2 on word it. */
#include "profiler/sim_refusal.h"

#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "base/buf.h"
#include "profiler/sim_device.h"
#include "vramscope/profiler.h"

struct sim_refusal sim_refusal_of(const struct sim_device *d, uint32_t device, uint64_t bytes)
{
    const struct machine *m = &d->m;
    return (struct sim_refusal){
        .device = device,
        .requested_bytes = bytes,
        .segment_bytes = config_segment_bytes(&m->config, machine_round(m, bytes)),
        .total_bytes = d->total_bytes,
        .free_bytes = sim_device_left(d),
        .allowed_bytes = m->limit == UINT64_MAX ? VRS_UNKNOWN : m->limit,
        .process_bytes = d->context_bytes + m->reserved,
        .allocated_bytes = m->allocated,
        .private_bytes = sim_device_private_free(d),
        .reserved_bytes = m->reserved,
    };
}

/* PyTorch names no unit above GiB. */
static void size(struct buf *to, const char *before, uint64_t bytes, const char *behind)
{
    static const char *const units[] = { " KiB", " MiB", " GiB" };
    uint32_t unit = bytes <= (1u << 20) ? 0 : bytes <= (1u << 30) ? 1 : 2;
    buf_text(to, before);
    if (bytes <= 1024) {
        buf_u64(to, bytes);
        buf_text(to, " bytes");
    } else {
        buf_fixed(to, (double)bytes / (double)((uint64_t)1 << (10 * (unit + 1))), 2);
        buf_text(to, units[unit]);
    }
    buf_text(to, behind);
}

void sim_refusal_text(const struct sim_refusal *r, struct buf *to)
{
    /* Free parts of private pools count as allocated in this sentence. */
    uint64_t allocated = r->allocated_bytes + r->private_bytes;
    size(to, "CUDA out of memory. Tried to allocate ", r->segment_bytes, ". GPU ");
    buf_u64(to, r->device);
    size(to, " has a total capacity of ", r->total_bytes, " of which ");
    size(to, "", r->free_bytes, " is free. ");
    size(to, "Including non-PyTorch memory, this process has ", r->process_bytes,
         " memory in use. ");
    if (r->allowed_bytes != VRS_UNKNOWN)
        size(to, "", r->allowed_bytes, " allowed; ");
    size(to, "Of the allocated memory ", allocated, " is allocated by PyTorch, ");
    if (r->private_bytes > 0)
        size(to, "with ", r->private_bytes, " allocated in private pools (e.g., CUDA Graphs), ");
    size(to, "and ", r->reserved_bytes - allocated, " is reserved by PyTorch but unallocated.");
}
