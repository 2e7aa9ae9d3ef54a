/* prove.c - the block size of each allocation, from a replay that reproduces the recording. */
#include "allocator/replay/prove.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/replay/program.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/start_state.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

static void put(struct block_sizes *s, uint32_t row, uint64_t bytes)
{
    s->bytes[row] = bytes;
    s->source[row] = SOURCE_REPLAYED;
}

/* The start block at an address, or NO_ROW. */
static uint32_t start_at(const struct program *p, uint64_t address)
{
    uint32_t i = program_start_from(p, address);
    return i < p->starts && p->start[i].address == address ? i : NO_ROW;
}

static void take_sizes(const struct recording *r, const struct program *p,
                       const struct start_state *start, const uint64_t *block_bytes,
                       struct block_sizes *ret)
{
    const struct allocations *a = &r->allocations;
    uint32_t allocs = 0; /* allocations stand in the order of their allocs */
    for (uint32_t i = 0; i < r->devices.allocations[p->device]; i++) {
        uint32_t row = r->devices.first_allocation[p->device] + i;
        uint32_t done = a->free_completed_event[row];
        bool born = a->alloc_event[row] != NO_ROW;
        uint32_t alloc = allocs;
        allocs += born;
        if (ret->source[row] == SOURCE_FINAL)
            continue;
        if (born) {
            put(ret, row, block_bytes[alloc]);
            continue;
        }
        uint32_t s = done == NO_ROW ? NO_ROW : start_at(p, r->events.address[done]);
        if (s != NO_ROW && start->size[s] != UNKNOWN_U64)
            put(ret, row, start->size[s]);
    }
}

static enum vrs_status prove_device(const struct recording *r, uint32_t device,
                                    struct arena *scratch, struct proof *proof,
                                    struct vrs_error *err)
{
    struct allocator_config config = config_of_recording(r);
    struct program program = { 0 };
    struct start_state start = { 0 };
    enum replay_refusal refusal = REFUSED_NOT;
    struct agreement *ret = &proof->agreement[device];
    *ret = (struct agreement){ .grade = GRADE_NONE };
    TRY(program_make(r, device, scratch, &program, &refusal, err));
    if (refusal == REFUSED_NOT)
        TRY(start_state_make(&program, &config, scratch, &start, &refusal, err));
    ret->refusal = refusal;
    if (refusal != REFUSED_NOT)
        return VRS_OK;
    uint64_t *block_bytes = arena_array(scratch, uint64_t, r->devices.allocations[device]);
    if (block_bytes == NULL)
        return vrs_no_memory(err);
    TRY(replay_run(&program, &start, &config, block_bytes, ret, err));
    if (grade_is_exact(ret->grade))
        take_sizes(r, &program, &start, block_bytes, &proof->block_sizes);
    return VRS_OK;
}

static enum vrs_status prove_devices(const struct recording *r, uint64_t events_max,
                                     struct proof *ret, struct vrs_error *err)
{
    for (uint32_t d = 0; d < r->devices.rows.len; d++) {
        ret->agreement[d] = (struct agreement){ .refusal = REFUSED_ASKED };
        if (r->devices.events[d] > events_max)
            continue;
        struct arena scratch;
        arena_init(&scratch, SIZE_MAX / 2);
        enum vrs_status status = prove_device(r, d, &scratch, ret, err);
        arena_free(&scratch);
        TRY(status);
    }
    return VRS_OK;
}

enum vrs_status prove_recording(const struct recording *r, uint64_t events_max, struct proof *ret,
                                struct vrs_error *err)
{
    TRY(block_sizes_round(r, &ret->block_sizes, err));
    enum vrs_status status = prove_devices(r, events_max, ret, err);
    if (status != VRS_OK)
        ret->block_sizes.rows.len = 0;
    return status;
}
