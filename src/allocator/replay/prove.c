/* prove.c - from a replay to a size for each allocation. */
#include "allocator/replay/prove.h"

#include "allocator/replay/recorded.h"
#include "allocator/replay/start_state.h"

static void put(struct recording *r, uint32_t row, uint64_t bytes, enum block_source source)
{
    r->block_sizes.bytes[row] = bytes;
    r->block_sizes.source[row] = (uint8_t)source;
}

static void round_device(struct recording *r, uint32_t device)
{
    const struct allocations *a = &r->allocations;
    struct rounding rounding = rounding_of(r);
    for (uint32_t i = 0; i < r->devices.allocations[device]; i++) {
        uint32_t row = r->devices.first_allocation[device] + i, block = a->block[row];
        uint64_t size = a->size[row];
        if (block != NO_ROW && r->blocks.size[block] != UNKNOWN_U64)
            put(r, row, r->blocks.size[block], SOURCE_BLOCK);
        else if (size == UNKNOWN_U64)
            put(r, row, UNKNOWN_U64, SOURCE_ROUNDED);
        else
            put(r, row, rounding_apply(&rounding, size), SOURCE_ROUNDED);
    }
}

/* The start block at an address, or NO_ROW. */
static uint32_t start_at(const struct program *p, uint64_t address)
{
    uint32_t i = program_start_from(p, address);
    return i < p->starts && p->start[i].address == address ? i : NO_ROW;
}

static void take_sizes(struct recording *r, const struct program *p,
                       const struct start_state *start, const uint64_t *block_bytes)
{
    const struct allocations *a = &r->allocations;
    uint32_t allocs = 0; /* allocations stand in the order of their allocs */
    for (uint32_t i = 0; i < r->devices.allocations[p->device]; i++) {
        uint32_t row = r->devices.first_allocation[p->device] + i;
        uint32_t done = a->free_completed_event[row];
        bool born = a->alloc_event[row] != NO_ROW;
        uint32_t alloc = allocs;
        allocs += born;
        if (r->block_sizes.source[row] == SOURCE_BLOCK)
            continue;
        if (born) {
            put(r, row, block_bytes[alloc], SOURCE_REPLAYED);
            continue;
        }
        uint32_t s = done == NO_ROW ? NO_ROW : start_at(p, r->events.address[done]);
        if (s != NO_ROW && start->size[s] != UNKNOWN_U64)
            put(r, row, start->size[s], SOURCE_REPLAYED);
    }
}

static enum vrs_status prove_device(struct recording *r, uint32_t device, struct arena *scratch,
                                    struct agreement *ret, struct vrs_error *err)
{
    struct allocator_config config = config_of_recording(r);
    struct program program = { 0 };
    struct start_state start = { 0 };
    enum replay_refusal refusal = REFUSED_NOT;
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
        take_sizes(r, &program, &start, block_bytes);
    return VRS_OK;
}

enum vrs_status prove_recording(struct recording *r, uint64_t events_max, struct agreement *ret,
                                struct vrs_error *err)
{
    if (!table_reserve(&r->block_sizes, &block_sizes_kind, r->allocations.rows.len))
        return vrs_no_memory(err);
    for (uint32_t d = 0; d < r->devices.rows.len; d++) {
        round_device(r, d);
        ret[d] = (struct agreement){ .refusal = REFUSED_ASKED };
        if (r->devices.events[d] > events_max)
            continue;
        struct arena scratch;
        arena_init(&scratch, SIZE_MAX / 2);
        enum vrs_status status = prove_device(r, d, &scratch, &ret[d], err);
        arena_free(&scratch);
        TRY(status);
    }
    r->block_sizes.rows.len = r->allocations.rows.len;
    return VRS_OK;
}
