/* release_runs.c - why a trace gives memory back: by the stack, else by what happens next. */
#include "allocator/replay/release_runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/other_events.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

static bool names_call(str name, str call)
{
    size_t at = str_find(name, call);
    return at < name.len && (at + call.len == name.len || name.ptr[at + call.len] == '(');
}

static bool is_memory_py(str file)
{
    str tail = S("memory.py");
    if (!str_ends(file, tail) || file.len == tail.len)
        return false;
    char before = file.ptr[file.len - tail.len - 1];
    return before == '/' || before == '\\';
}

enum release_words release_stack_says(const struct recording *r, stack_id stack)
{
    enum release_words says = RELEASE_NOT_TOLD;
    for (; stack.n != 0; stack = stacks_caller(&r->code.stacks, stack)) {
        struct frame frame = frames_get(&r->code.frames, stacks_frame(&r->code.stacks, stack));
        str name = strings_text(&r->code.strings, frame.name);
        if (names_call(name, S("emptyCache")) ||
            (str_equal(name, S("empty_cache")) &&
             is_memory_py(strings_text(&r->code.strings, frame.file))))
            return RELEASE_EMPTY_CACHE;
        if (names_call(name, S("CachingAllocator::malloc")))
            says = RELEASE_MALLOC;
    }
    return says;
}

/* Without a stack: what asks for memory next, and gets it, most likely released first. */
static uint8_t cause_by_sequence(const struct program *p, uint32_t last)
{
    const uint8_t *action = p->r->events.action + p->first;
    uint32_t i = last + 1;
    while (i < p->events && action_obtains(action[i]))
        i++;
    bool oom = i < p->events && action[i] == ACTION_OOM;
    bool alloc = i < p->events && action[i] == ACTION_ALLOC && i > last + 1;
    return oom || alloc ? RUN_RETRY : RUN_EMPTY_CACHE;
}

/* `stack_says` is of each stack what it says, or 0: not asked yet. */
static struct release_run judge_run(const struct program *p, uint8_t *stack_says, uint32_t first,
                                    uint32_t last)
{
    uint32_t stack = p->r->events.stack[p->first + first];
    uint8_t *says = &stack_says[stack];
    if (*says == 0)
        *says = (uint8_t)release_stack_says(p->r, (stack_id){ stack });
    struct release_run run = { first, last, RUN_RETRY, true };
    if (*says == RELEASE_EMPTY_CACHE)
        run.cause = RUN_EMPTY_CACHE;
    if (*says == RELEASE_NOT_TOLD) {
        run.cause = cause_by_sequence(p, last);
        run.by_stack = false;
    }
    return run;
}

enum vrs_status release_runs_find(struct program *p, struct arena *arena, struct arena *scratch,
                                  struct vrs_error *err)
{
    const uint8_t *action = p->r->events.action + p->first;
    uint32_t runs = 0;
    for (uint32_t i = 0; other_event_next(action, &i, p->events); i++)
        runs += action_returns(action[i]) && (i == 0 || !action_returns(action[i - 1]));
    p->run = arena_array(arena, struct release_run, runs);
    uint8_t *stack_says = arena_array(scratch, uint8_t, p->r->code.stacks.rows.len);
    if (p->run == NULL || stack_says == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; other_event_next(action, &i, p->events); i++) {
        if (!action_returns(action[i]))
            continue;
        uint32_t last = i;
        while (last + 1 < p->events && action_returns(action[last + 1]))
            last++;
        p->run[p->runs++] = judge_run(p, stack_says, i, last);
        i = last;
    }
    return VRS_OK;
}
