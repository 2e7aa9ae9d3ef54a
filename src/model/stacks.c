/* stacks.c - interning of (caller, frame) pairs. */
#include "model/stacks.h"

#include <assert.h>

#include "base/hash.h"

static const struct column columns[] = {
    { "caller", offsetof(struct stacks, caller), COLUMN_U32 },
    { "frame", offsetof(struct stacks, frame), COLUMN_U32 },
};
const struct table_kind stacks_kind = { "stacks", columns, 2 };

static uint64_t hash_of(uint32_t id, const void *arg)
{
    const struct stacks *s = arg;
    return hash_pair(s->caller[id], s->frame[id]);
}

/* Room for `more` stacks. */
static bool reserve(struct stacks *s, uint32_t more)
{
    return table_reserve(s, &stacks_kind, more) && vec_reserve(&s->callee, more);
}

bool stacks_init(struct stacks *s)
{
    *s = (struct stacks){ .rows.max = UINT32_MAX - 1, .callee.max = UINT32_MAX - 1 };
    if (!reserve(s, 1))
        return false;
    s->caller[0] = s->frame[0] = s->callee.at[0] = 0;
    s->rows.len = s->callee.len = 1;
    return true;
}

void stacks_free(struct stacks *s)
{
    table_free(s, &stacks_kind);
    vec_free(&s->callee);
    idtab_free(&s->index);
}

/* The stack that `frame` called from `caller` makes, or 0. */
static uint32_t find(const struct stacks *s, uint32_t caller, uint32_t frame)
{
    uint32_t first = s->callee.at[caller];
    if (first == 0 || s->frame[first] == frame)
        return first;
    if (s->index.slot == NULL)
        return 0;
    for (uint32_t at = idtab_first(&s->index, hash_pair(caller, frame)); s->index.slot[at] != 0;
         at = idtab_next(&s->index, at)) {
        uint32_t id = s->index.slot[at];
        if (s->caller[id] == caller && s->frame[id] == frame)
            return id;
    }
    return 0;
}

/* Appends `count` (at least one) frames, of which the outermost is not yet called from `caller`:
 * what a new stack calls is new too, so only the first has to be made known to its caller. */
static bool append(struct stacks *s, uint32_t caller, const uint32_t *frame, uint32_t count)
{
    if (!reserve(s, count) || !idtab_reserve(&s->index, hash_of, s))
        return false;
    uint32_t id = s->rows.len, last = id + count - 1;
    bool first = s->callee.at[caller] == 0;
    if (first)
        s->callee.at[caller] = id;
    s->caller[id] = caller;
    s->frame[id] = frame[count - 1];
    s->callee.at[id] = 0;
    if (!first)
        idtab_put(&s->index, hash_pair(caller, frame[count - 1]), id);
    for (uint32_t i = 1; i < count; i++) {
        s->caller[id + i] = id + i - 1;
        s->frame[id + i] = frame[count - 1 - i];
        s->callee.at[id + i - 1] = id + i;
    }
    s->callee.at[last] = 0;
    s->rows.len = s->callee.len = last + 1;
    return true;
}

bool stacks_push_all(struct stacks *s, const uint32_t *frame, uint32_t count, stack_id *ret)
{
    uint32_t stack = 0, left = count;
    while (left > 0) {
        uint32_t callee = find(s, stack, frame[left - 1]);
        if (callee == 0)
            break;
        stack = callee;
        left--;
    }
    if (left > 0 && !append(s, stack, frame, left))
        return false;
    ret->n = left > 0 ? s->rows.len - 1 : stack;
    return true;
}

bool stacks_push(struct stacks *s, stack_id caller, frame_id frame, stack_id *ret)
{
    assert(caller.n < s->rows.len);
    uint32_t callee = find(s, caller.n, frame.n);
    if (callee == 0 && !append(s, caller.n, &frame.n, 1))
        return false;
    ret->n = callee != 0 ? callee : s->rows.len - 1;
    return true;
}

uint32_t stacks_depth(const struct stacks *s, stack_id id)
{
    uint32_t depth = 0;
    for (; id.n != 0; id = stacks_caller(s, id))
        depth++;
    return depth;
}

void stacks_sum_up(const struct stacks *s, uint64_t *value)
{
    for (uint32_t id = s->rows.len; id-- > 1;)
        value[s->caller[id]] += value[id];
}
