/* recorded_stacks.c - looks at every stack once, callers first. */
#include "analysis/snapshot/trust/recorded_stacks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "base/arena.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/strings.h"

/* For each frame whether it is native; NULL when memory ran out. */
static uint8_t *native_frames(const struct recording *r, struct arena *scratch)
{
    enum { UNSEEN, NATIVE, OTHER };
    uint8_t *file = arena_array(scratch, uint8_t, r->code.strings.rows.len);
    uint8_t *frame = arena_array(scratch, uint8_t, r->code.frames.rows.len);
    if (file == NULL || frame == NULL)
        return NULL;
    for (uint32_t i = 1; i < r->code.frames.rows.len; i++) {
        uint32_t id = r->code.frames.file[i];
        if (file[id] == UNSEEN) {
            str path = path_tail(strings_text(&r->code.strings, (string_id){ id }));
            file[id] = file_is_native(path) ? NATIVE : OTHER;
        }
        frame[i] = file[id] == NATIVE;
    }
    return frame;
}

enum stack_kind { WITHOUT_STACK, PYTHON_ONLY, WITH_NATIVE, STACK_KINDS };

/* The kind of each stack; NULL when memory ran out. */
static uint8_t *kinds_of_stacks(const struct recording *r, struct arena *scratch)
{
    uint8_t *native = native_frames(r, scratch);
    uint8_t *kind = arena_array(scratch, uint8_t, r->code.stacks.rows.len);
    if (native == NULL || kind == NULL)
        return NULL;
    for (uint32_t i = 1; i < r->code.stacks.rows.len; i++) {
        bool found = native[r->code.stacks.frame[i]] != 0;
        kind[i] =
            found || kind[r->code.stacks.caller[i]] == WITH_NATIVE ? WITH_NATIVE : PYTHON_ONLY;
    }
    return kind;
}

static void count_free(const struct recording *r, uint32_t allocation, struct recorded_stacks *c)
{
    uint32_t born = r->allocations.alloc_event[allocation];
    uint32_t asked = r->allocations.free_requested_event[allocation];
    /* An alloc that ends an older allocation is no free. */
    if (born == NO_ROW || asked == NO_ROW || r->events.action[asked] == ACTION_ALLOC)
        return;
    uint32_t stack = r->events.stack[born];
    c->frees++;
    c->frees_same += stack != 0 && stack == r->events.stack[asked];
}

enum vrs_status recorded_stacks_of(const struct recording *r, uint32_t device,
                                   struct recorded_stacks *ret, struct vrs_error *err)
{
    const struct devices *d = &r->devices;
    struct recorded_stacks c = { 0 };
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX);
    uint64_t stacks[STACK_KINDS] = { 0 };
    uint8_t *kind = kinds_of_stacks(r, &scratch);
    if (kind == NULL) {
        arena_free(&scratch);
        return vrs_no_memory(err);
    }
    for (uint32_t i = 0; i < d->events[device]; i++) {
        uint32_t event = d->first_event[device] + i;
        /* No branch: allocs and frees come in no order that could be guessed. */
        stacks[kind[r->events.stack[event]]] += r->events.action[event] == ACTION_ALLOC;
    }
    for (uint32_t i = 0; d->events[device] == 0 && i < d->blocks[device]; i++) {
        uint32_t block = d->first_block[device] + i;
        stacks[kind[r->blocks.stack[block]]] += block_live(r, block);
    }
    c.without_stack = stacks[WITHOUT_STACK];
    c.python_only = stacks[PYTHON_ONLY];
    c.with_native = stacks[WITH_NATIVE];
    for (uint32_t i = 0; i < d->allocations[device]; i++)
        count_free(r, d->first_allocation[device] + i, &c);
    arena_free(&scratch);
    *ret = c;
    return VRS_OK;
}
