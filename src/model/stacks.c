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

bool stacks_init(struct stacks *s)
{
    *s = (struct stacks){ .rows.max = UINT32_MAX - 1, .callee.max = UINT32_MAX - 1 };
    if (!table_reserve(s, &stacks_kind, 1) || !vec_push(&s->callee, (struct first_callee){ 0, 0 }))
        return false;
    s->caller[0] = s->frame[0] = 0;
    s->rows.len = 1;
    return true;
}

void stacks_free(struct stacks *s)
{
    table_free(s, &stacks_kind);
    vec_free(&s->callee);
    idtab_free(&s->index);
}

static bool append(struct stacks *s, stack_id caller, frame_id frame)
{
    if (!table_reserve(s, &stacks_kind, 1) || !vec_push(&s->callee, (struct first_callee){ 0, 0 }))
        return false;
    uint32_t id = s->rows.len++;
    s->caller[id] = caller.n;
    s->frame[id] = frame.n;
    return true;
}

bool stacks_push(struct stacks *s, stack_id caller, frame_id frame, stack_id *ret)
{
    assert(caller.n < s->rows.len);
    struct first_callee first = s->callee.at[caller.n];
    if (first.stack == 0) {
        if (!append(s, caller, frame))
            return false;
        ret->n = s->rows.len - 1;
        s->callee.at[caller.n] = (struct first_callee){ ret->n, frame.n };
        return true;
    }
    if (first.frame == frame.n) {
        ret->n = first.stack;
        return true;
    }

    if (!idtab_reserve(&s->index, hash_of, s))
        return false;
    uint64_t hash = hash_pair(caller.n, frame.n);
    for (uint32_t at = idtab_first(&s->index, hash); s->index.slot[at] != 0;
         at = idtab_next(&s->index, at)) {
        uint32_t id = s->index.slot[at];
        if (s->caller[id] == caller.n && s->frame[id] == frame.n) {
            ret->n = id;
            return true;
        }
    }
    if (!append(s, caller, frame))
        return false;
    ret->n = s->rows.len - 1;
    idtab_put(&s->index, hash, ret->n);
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
