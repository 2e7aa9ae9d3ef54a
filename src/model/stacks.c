/* stacks.c - interning of (caller, frame) pairs. */
#include "model/stacks.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

static const struct column columns[] = {
    { "caller", offsetof(struct stacks, caller), COLUMN_U32 },
    { "frame", offsetof(struct stacks, frame), COLUMN_U32 },
};
const struct table_kind stacks_kind = { "stacks", columns, 2 };

bool stacks_init(struct stacks *s)
{
    *s = (struct stacks){ .rows.max = UINT32_MAX - 1 };
    if (!table_reserve(s, &stacks_kind, 1))
        return false;
    s->caller[0] = s->frame[0] = 0;
    s->rows.len = 1;
    return true;
}

void stacks_free(struct stacks *s)
{
    table_free(s, &stacks_kind);
    idtab_free(&s->index);
}

/* The stack that `frame` called from `caller` makes, or 0.  The row after the caller's is asked
 * first, by its number: where a chain is followed, the processor need not wait for one row to
 * know which is the next. */
static uint32_t find(const struct stacks *s, uint32_t caller, uint32_t frame)
{
    uint32_t next = caller + 1;
    if (next < s->rows.len && s->frame[next] == frame && s->caller[next] == caller)
        return next;
    if (s->index.slot == NULL)
        return 0;
    uint64_t hash = hash_pair(caller, frame);
    for (uint32_t at = idtab_first(&s->index, hash); s->index.slot[at].id != 0;
         at = idtab_next(&s->index, hash, at)) {
        uint32_t id = s->index.slot[at].id;
        if (s->caller[id] == caller && s->frame[id] == frame)
            return id;
    }
    return 0;
}

/* Appends `count` (at least one) frames, of which the outermost is not yet called from `caller`:
 * what a new stack calls is new too, so only the first may have to be put where it is found. */
static bool append(struct stacks *s, uint32_t caller, const uint32_t *frame, uint32_t count)
{
    if (!table_reserve(s, &stacks_kind, count) || !idtab_reserve(&s->index))
        return false;
    uint32_t id = s->rows.len;
    if (id != caller + 1)
        idtab_put(&s->index, hash_pair(caller, frame[count - 1]), id);
    for (uint32_t i = 0; i < count; i++) {
        s->caller[id + i] = i == 0 ? caller : id + i - 1;
        s->frame[id + i] = frame[count - 1 - i];
    }
    s->rows.len = id + count;
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
