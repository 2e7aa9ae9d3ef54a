/* sim.h - simulated devices: PyTorch's caching allocator without a device, driven by a program.
 *
 * A simulation has one or several devices and a virtual clock, which moves by vrs_sim_advance and a
 * microsecond with each event.  What happens stands in a history, as PyTorch's recorder would have
 * written it.  Calls may come from any thread.  Devices count from 0; another number is VRS_USAGE.
 * Where the process itself runs out of memory the simulation is of no use any more: all later calls
 * fail with VRS_NOMEM. */
#ifndef VRAMSCOPE_SIM_H
#define VRAMSCOPE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/error.h"
#include "vramscope/profiler.h"
#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vrs_sim;

struct vrs_sim_options {
    size_t size;
    uint64_t total_bytes;     /* of each device: 80 GiB */
    uint32_t devices;         /* 1; at most 64 */
    uint32_t history_entries; /* of each device; 0: the history is off at first */
    uint64_t context_bytes;   /* what this process holds on each device beside the allocator */
    const char *settings;     /* as PYTORCH_CUDA_ALLOC_CONF; NULL: none */
    uint64_t clock_ns;        /* what the clock shows at first */
};
VRS_API enum vrs_status vrs_sim_make(const struct vrs_sim_options *options, struct vrs_sim **ret,
                                     struct vrs_error *err);
VRS_API void vrs_sim_close(struct vrs_sim *sim);

/* Fills a backend for a meter; the simulation has to outlive it. */
VRS_API void vrs_sim_backend(struct vrs_sim *sim, struct vrs_backend *ret);

/* Stacks.  A frame is a line of some code, which has a number; innermost first, and of more than 64
 * only those. */
enum { VRS_SIM_FRAMES = 64 };

struct vrs_sim_frame {
    uint32_t code;
    uint32_t line;
};

struct vrs_sim_stack {
    const struct vrs_sim_frame *frame;
    uint32_t frames;
};

/* The number of a function in a file; both are UTF-8, what is not is repaired. */
VRS_API enum vrs_status vrs_sim_code(struct vrs_sim *sim, const char *file, size_t file_len,
                                     const char *function, size_t function_len, uint32_t *ret,
                                     struct vrs_error *err);

/* Memory. */

struct vrs_sim_request {
    size_t size;
    uint32_t device;
    uint32_t pool; /* of a torch.cuda.MemPool; 0: the default one */
    uint64_t bytes;
    uint64_t stream;
    const char *tag; /* UTF-8, written as the user's metadata; NULL: none */
    size_t tag_len;
    struct vrs_sim_stack stack;
};

struct vrs_sim_block {
    uint32_t device, place;
    uint64_t turn;
    uint64_t address;
    uint64_t block_bytes; /* at least what was asked for */
};

/* Why a device refused, and PyTorch's sentence of it.  Bytes. */
struct vrs_sim_refusal {
    uint32_t device;
    uint64_t requested, segment; /* what the device was asked for */
    uint64_t total, free;
    uint64_t allowed; /* by per_process_memory_fraction; VRS_UNKNOWN: all */
    uint64_t process; /* what this process holds on the device */
    uint64_t allocated, reserved;
    char message[640];
};

/* VRS_LIMIT: the device refused, and `*ret_refusal`, which may be NULL, says why. */
VRS_API enum vrs_status vrs_sim_alloc(struct vrs_sim *sim, const struct vrs_sim_request *request,
                                      struct vrs_sim_block *ret,
                                      struct vrs_sim_refusal *ret_refusal, struct vrs_error *err);

/* VRS_USAGE: it was freed before.  A block that vrs_sim_record_stream gave to another stream waits
 * for the device to be synchronised. */
VRS_API enum vrs_status vrs_sim_free(struct vrs_sim *sim, const struct vrs_sim_block *block,
                                     const struct vrs_sim_stack *stack, struct vrs_error *err);
VRS_API enum vrs_status vrs_sim_record_stream(struct vrs_sim *sim,
                                              const struct vrs_sim_block *block, uint64_t stream,
                                              struct vrs_error *err);
VRS_API enum vrs_status vrs_sim_empty_cache(struct vrs_sim *sim, uint32_t device,
                                            const struct vrs_sim_stack *stack,
                                            struct vrs_error *err);
VRS_API enum vrs_status vrs_sim_synchronize(struct vrs_sim *sim, uint32_t device,
                                            struct vrs_error *err);

/* The device and what is around it. */

VRS_API uint32_t vrs_sim_devices(const struct vrs_sim *sim);
/* What the backend says is current; 0 at first. */
VRS_API enum vrs_status vrs_sim_set_current(struct vrs_sim *sim, uint32_t device,
                                            struct vrs_error *err);
VRS_API enum vrs_status vrs_sim_advance(struct vrs_sim *sim, uint64_t ns, struct vrs_error *err);
VRS_API uint64_t vrs_sim_clock_ns(struct vrs_sim *sim);

/* The device is so busy for so long, from now on or from where what was said before ends; when
 * nothing is said its utilisation is unknown. */
VRS_API enum vrs_status vrs_sim_utilisation(struct vrs_sim *sim, uint32_t device, double percent,
                                            uint64_t ns, struct vrs_error *err);
/* Other processes hold so many bytes of the device. */
VRS_API enum vrs_status vrs_sim_other(struct vrs_sim *sim, uint32_t device, uint64_t bytes,
                                      struct vrs_error *err);
/* So many requests are refused, without anything being tried or given back. */
VRS_API enum vrs_status vrs_sim_fail_next(struct vrs_sim *sim, uint32_t device, uint64_t requests,
                                          struct vrs_error *err);

/* Around fork: no other thread is inside the simulation between the two, of which parent and child
 * both call the second.  No other call of this thread may stand between them. */
VRS_API void vrs_sim_hold(struct vrs_sim *sim);
VRS_API void vrs_sim_let_go(struct vrs_sim *sim);

/* History, as torch.cuda.memory._record_memory_history keeps it. */

/* Which stacks are kept. */
enum vrs_sim_stacks {
    VRS_SIM_STACKS_ALL,    /* of every event */
    VRS_SIM_STACKS_ALLOC,  /* of allocations; a free has that of its allocation */
    VRS_SIM_STACKS_BLOCKS, /* of what is allocated at the end */
    VRS_SIM_STACKS_NONE
};

struct vrs_sim_history_options {
    size_t size;
    uint32_t entries; /* of each device, the newest; 100,000 */
    enum vrs_sim_stacks stacks;
    bool state_only; /* no events */
    bool clear;      /* forgets what was recorded before */
};
VRS_API enum vrs_status vrs_sim_history_start(struct vrs_sim *sim,
                                              const struct vrs_sim_history_options *options,
                                              struct vrs_error *err);
/* And forgets all events. */
VRS_API void vrs_sim_history_stop(struct vrs_sim *sim);
VRS_API bool vrs_sim_history_on(struct vrs_sim *sim);
/* Events of a device that are kept, and those that later ones have overwritten. */
VRS_API enum vrs_status vrs_sim_history_count(struct vrs_sim *sim, uint32_t device,
                                              uint64_t *ret_entries, uint64_t *ret_dropped,
                                              struct vrs_error *err);

/* Marks of the program, as record_function makes: the beginning of a range, or its end. */
VRS_API enum vrs_status vrs_sim_mark(struct vrs_sim *sim, const char *name, size_t name_len,
                                     bool end, struct vrs_error *err);

struct vrs_sim_dump_options {
    size_t size;
};
/* Writes the history and what the devices hold now as a snapshot that PyTorch's own tools open; a
 * sink that refuses a piece is VRS_IO.  Others may go on meanwhile. */
VRS_API enum vrs_status vrs_sim_dump(struct vrs_sim *sim,
                                     const struct vrs_sim_dump_options *options,
                                     const struct vrs_sink *sink, struct vrs_error *err);

#ifdef __cplusplus
}
#endif
#endif
