/* fuzz_replay.c - bytes as a recording, each device of which is replayed and asked questions. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "allocator/machine/config.h"
#include "allocator/replay/program.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"
#include "allocator/replay/start_state.h"
#include "allocator/whatif/run_recording.h"
#include "allocator/whatif/whatif.h"
#include "base/arena.h"
#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/read.h"
#include "fuzz_read.h"
#include "model/ids.h"
#include "model/pairing.h"
#include "model/recording.h"
#include "model/verify.h"

enum { EVENTS_MAX = 4096 }; /* more would only be slow */

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void check_agreement(const struct program *p, const struct agreement *a)
{
    require(a->addresses_equal <= a->addresses, "more addresses agree than there are");
    require(a->new_memory_equal <= a->new_memory, "more growth agrees than there is");
    require(a->release_runs_equal <= a->release_runs, "more runs agree than there are");
    require(a->final_blocks_equal <= a->final_blocks, "more blocks agree than there are");
    require(a->first.event <= (int64_t)p->events, "a disagreement after the end");
    require(!grade_is_exact(a->grade) || a->first.kind == AGREES, "exact, and disagrees");
}

static void check_answer(const struct whatif_question *q, const struct whatif_answer *a)
{
    require(a->oom.event == -1 || a->active.bytes <= a->reserved.bytes,
            "more active than reserved");
    require(q->capacity_bytes == UNKNOWN_U64 || a->ran_out ||
                a->reserved.bytes <= q->capacity_bytes,
            "passed its capacity");
}

/* The run as a recording, which must keep every invariant. */
static void make_run(const struct recording *r, const struct program *p,
                     const struct start_state *start, const struct whatif_question *q)
{
    struct recording made;
    struct whatif_answer a;
    struct vrs_error err = { .message = "" };
    require(recording_init(&made, 1 << 22, 1 << 22), "out of memory");
    enum vrs_status status = run_recording_begin(&made, r, q->config, &err);
    if (status == VRS_OK)
        status = run_recording_add(&made, p, start, q, &a, &err);
    if (status == VRS_OK)
        status = run_recording_finish(&made, &err);
    if (status == VRS_OK && verify_recording(&made, &err) != VRS_OK)
        fuzz_fail("a made run breaks an invariant", &err);
    recording_free(&made);
}

static void ask(const struct recording *r, const struct program *p, const struct start_state *start,
                const struct allocator_config *recorded)
{
    static const struct scope scopes[] = { { -1, 20 }, { 3, 9 }, { 10, 14 }, { 22, 4000 } };
    struct vrs_error err = { .message = "" };
    struct site_change changes[] = {
        { .kind = CHANGE_DROP },
        { .kind = CHANGE_SCALE, .factor = 0.5 },
        { .kind = CHANGE_FREE_EARLY, .scope = scopes, .scopes = 4 },
    };
    struct whatif_question q = { .config = recorded, .capacity_bytes = UNKNOWN_U64 };
    struct whatif_answer a;
    struct identities identities;
    require(whatif_identities(p, start, recorded, &identities, &err) == VRS_OK, "out of memory");
    require(whatif_run(p, start, &q, &a, &err) == VRS_OK, "out of memory");
    check_answer(&q, &a);
    make_run(r, p, start, &q);
    uint8_t *change_of_stack = calloc(r->code.stacks.rows.len, 1);
    require(change_of_stack != NULL, "out of memory");
    for (uint32_t i = 1; i < r->code.stacks.rows.len; i++)
        change_of_stack[i] = (uint8_t)(i % 4);
    struct allocator_config other = *recorded;
    other.expandable = !other.expandable;
    other.max_split_bytes = 64 * MIB;
    q = (struct whatif_question){ .config = &other,
                                  .capacity_bytes = a.reserved.bytes / 10 * 9,
                                  .change = changes,
                                  .change_of_stack = change_of_stack };
    require(whatif_run(p, start, &q, &a, &err) == VRS_OK, "out of memory");
    check_answer(&q, &a);
    make_run(r, p, start, &q);
    free(change_of_stack);
}

static void replay_device(const struct recording *r, uint32_t device)
{
    struct allocator_config recorded = config_of_recording(r);
    struct vrs_error err = { .message = "" };
    struct arena arena;
    struct program p;
    struct start_state start;
    struct agreement a;
    enum replay_refusal refusal;
    arena_init(&arena, 1 << 28);
    if (program_make(r, device, &arena, &p, &refusal, &err) == VRS_OK && refusal == REFUSED_NOT &&
        start_state_make(&p, &recorded, &arena, &start, &refusal, &err) == VRS_OK &&
        refusal == REFUSED_NOT && replay_run(&p, &start, &recorded, NULL, &a, &err) == VRS_OK) {
        check_agreement(&p, &a);
        ask(r, &p, &start, &recorded);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct limits limits = {
        .nesting = 64,
        .string_bytes = 1 << 16,
        .strings_bytes = 1 << 20,
        .items = 1 << 18,
        .unpacked_bytes = 1 << 22,
        .frames = 100,
    };
    struct memory_bytes bytes = { .start = data, .end = data + size };
    const struct read_options options = { .limits = &limits, .size_bytes = size };
    struct vrs_error err = { .message = "" };
    struct entries entries;
    if (read_recordings(source_of_memory(&bytes), &options, &entries, &err) != VRS_OK)
        return 0;
    for (uint32_t i = 0; i < entries.list.len; i++) {
        struct recording *r = entries.list.at[i].recording;
        if (entries.list.at[i].status != VRS_OK || r->events.rows.len > EVENTS_MAX ||
            pair_allocations(r, &err) != VRS_OK)
            continue;
        for (uint32_t d = 0; d < r->devices.rows.len; d++)
            replay_device(r, d);
    }
    entries_free(&entries);
    return 0;
}
