/* capture.c - looks at every stack once, callers first. */
#include "analysis/capture.h"

#include "analysis/frame_class.h"
#include "base/arena.h"

/* For each frame whether it is native; NULL when memory ran out. */
static uint8_t *native_frames(const struct recording *r, struct arena *scratch)
{
    enum { UNSEEN, NATIVE, OTHER };
    uint8_t *file = arena_array(scratch, uint8_t, r->strings.rows.len);
    uint8_t *frame = arena_array(scratch, uint8_t, r->frames.rows.len);
    if (file == NULL || frame == NULL)
        return NULL;
    for (uint32_t i = 1; i < r->frames.rows.len; i++) {
        uint32_t id = r->frames.file[i];
        if (file[id] == UNSEEN) {
            str path = path_tail(strings_text(&r->strings, (string_id){ id }));
            file[id] = file_is_native(path) ? NATIVE : OTHER;
        }
        frame[i] = file[id] == NATIVE;
    }
    return frame;
}

/* For each stack whether it holds a native frame; NULL when memory ran out. */
static uint8_t *native_stacks(const struct recording *r, struct arena *scratch)
{
    uint8_t *frame = native_frames(r, scratch);
    uint8_t *stack = arena_array(scratch, uint8_t, r->stacks.rows.len);
    if (frame == NULL || stack == NULL)
        return NULL;
    for (uint32_t i = 1; i < r->stacks.rows.len; i++)
        stack[i] = frame[r->stacks.frame[i]] | stack[r->stacks.caller[i]];
    return stack;
}

static void count_stack(struct capture *c, const uint8_t *native, uint32_t stack)
{
    if (stack == 0)
        c->without_stack++;
    else if (native[stack])
        c->with_native++;
    else
        c->python_only++;
}

static void count_free(const struct recording *r, uint32_t allocation, struct capture *c)
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

enum vrs_status capture_of(const struct recording *r, uint32_t device, struct capture *ret,
                           struct vrs_error *err)
{
    const struct devices *d = &r->devices;
    struct capture c = { 0 };
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX);
    uint8_t *native = native_stacks(r, &scratch);
    if (native == NULL) {
        arena_free(&scratch);
        return vrs_no_memory(err);
    }
    for (uint32_t i = 0; i < d->events[device]; i++) {
        uint32_t event = d->first_event[device] + i;
        if (r->events.action[event] == ACTION_ALLOC)
            count_stack(&c, native, r->events.stack[event]);
    }
    for (uint32_t i = 0; d->events[device] == 0 && i < d->blocks[device]; i++) {
        uint32_t block = d->first_block[device] + i;
        if (block_live(r, block))
            count_stack(&c, native, r->blocks.stack[block]);
    }
    for (uint32_t i = 0; i < d->allocations[device]; i++)
        count_free(r, d->first_allocation[device] + i, &c);
    arena_free(&scratch);
    *ret = c;
    return VRS_OK;
}
