/* advise_blocks.c - a block that the forward repeats, to be recomputed instead of kept.
 *
 * Blocks are looked for among what one forward made and still holds at the peak, whether it came to
 * its backward or not: a line that comes back every so many allocations, with as many bytes each
 * time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/stacks.h"

/* What one forward keeps: allocations in the order in which they were made. */
struct kept {
    uint32_t *at;
    uint32_t len;
    uint64_t bytes;
};

/* A way to part it: from one allocation at a line to the next. */
struct parting {
    uint32_t stack;
    uint32_t first, blocks;  /* of `kept`, where the first block begins */
    uint32_t end;            /* behind the last block */
    uint64_t bytes, largest; /* of all blocks, and of the largest */
    uint64_t boundary;       /* of each block is kept all the same */
};

static bool is_kept(const struct advising *a, uint32_t i)
{
    const struct study *s = a->s;
    const struct lifetime *l = &s->lifetimes.at[i];
    uint8_t category = s->categories.of[i];
    return l->birth >= 0 && s->phases.of_stack[l->alloc_stack.n] == PHASE_FORWARD &&
           !s->categories.retained[i] &&
           (category == CATEGORY_ACTIVATION || category == CATEGORY_TEMPORARY ||
            category == CATEGORY_UNKNOWN);
}

/* Of the last step, or forward, that the peak lies in. */
static bool find_kept(struct advising *a, struct kept *ret)
{
    const struct study *s = a->s;
    int64_t step = steps_at(&s->steps, a->peak_event);
    int64_t begin = -1;
    if (step >= 0 && s->steps.count > 0)
        begin = step < (int64_t)s->steps.count ? (int64_t)s->steps.boundary[step].event
                                               : (int64_t)s->steps.end_event + 1;
    ret->at = arena_array(s->scratch, uint32_t, a->alive.len);
    if (ret->at == NULL)
        return false;
    for (uint32_t k = 0; k < a->alive.len; k++) {
        uint32_t i = a->alive.at[k];
        if (!is_kept(a, i) || s->lifetimes.at[i].birth < begin)
            continue;
        ret->at[ret->len++] = i;
        ret->bytes += s->lifetimes.at[i].bytes;
    }
    return true;
}

static uint64_t bytes_between(const struct advising *a, const struct kept *kept, uint32_t from,
                              uint32_t to)
{
    uint64_t bytes = 0;
    for (uint32_t k = from; k < to; k++)
        bytes += a->s->lifetimes.at[kept->at[k]].bytes;
    return bytes;
}

static int by_bytes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The size that most tensors of a block have, of those that are worth keeping: what the next block
 * begins with has it.  `room` is for the sizes of all that is kept. */
static uint64_t common_size(const struct advising *a, const struct kept *kept, uint32_t from,
                            uint32_t to, uint64_t least, uint64_t *room)
{
    uint64_t best = 0;
    uint32_t len = to - from, most = 0;
    for (uint32_t k = 0; k < len; k++)
        room[k] = a->s->lifetimes.at[kept->at[from + k]].bytes;
    if (len > 1)
        qsort(room, len, sizeof *room, by_bytes);
    for (uint32_t k = 0, count; k < len; k += count) {
        for (count = 1; k + count < len && room[k + count] == room[k];)
            count++;
        /* Of sizes that are as frequent the largest, which comes last. */
        if (room[k] >= least && count >= most) {
            most = count;
            best = room[k];
        }
    }
    return best;
}

/* Parts at each allocation that has the stack; false where blocks differ. */
static bool part_at(const struct advising *a, const struct kept *kept, uint32_t stack,
                    uint64_t *room, struct parting *ret)
{
    struct parting p = { .stack = stack, .first = NO_ROW };
    uint32_t last = NO_ROW, length = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < kept->len; k++) {
        if (a->s->lifetimes.at[kept->at[k]].alloc_stack.n != stack)
            continue;
        if (last != NO_ROW) {
            uint64_t bytes = bytes_between(a, kept, last, k);
            least = bytes < least ? bytes : least;
            p.largest = bytes > p.largest ? bytes : p.largest;
            p.bytes += bytes;
            p.blocks++;
            length = k - last;
        }
        p.first = p.first == NO_ROW ? k : p.first;
        last = k;
    }
    if (p.blocks + 1 < BLOCKS_LEAST || p.largest - least > percent_of(p.largest, BLOCKS_DIFFER))
        return false;
    /* The last block is as long as those before it, or was cut short. */
    p.end = last + length < kept->len ? last + length : kept->len;
    p.bytes += bytes_between(a, kept, last, p.end);
    p.blocks++;
    p.boundary = common_size(a, kept, p.first, p.first + length, p.largest / BOUNDARY_SHARES, room);
    *ret = p;
    return true;
}

static int by_stack(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The parting whose blocks hold most; of such that hold as much the one of fewer, larger blocks. */
static bool find_blocks(const struct advising *a, const struct kept *kept, struct parting *ret)
{
    uint32_t *stack = arena_array(a->s->scratch, uint32_t, kept->len);
    uint64_t *room = arena_array(a->s->scratch, uint64_t, kept->len);
    uint32_t tried = 0;
    if (stack == NULL || room == NULL)
        return false;
    for (uint32_t k = 0; k < kept->len; k++)
        stack[k] = a->s->lifetimes.at[kept->at[k]].alloc_stack.n;
    if (kept->len > 1)
        qsort(stack, kept->len, sizeof *stack, by_stack);
    for (uint32_t k = 0, count; k < kept->len && tried < PARTINGS_MOST; k += count) {
        struct parting p;
        count = 1;
        while (k + count < kept->len && stack[k + count] == stack[k])
            count++;
        if (count < BLOCKS_LEAST)
            continue;
        tried++;
        if (!part_at(a, kept, stack[k], room, &p))
            continue;
        uint64_t margin = percent_of(ret->bytes, BLOCKS_DIFFER);
        bool more = p.bytes > ret->bytes + margin;
        bool larger = p.bytes + margin >= ret->bytes && p.blocks < ret->blocks;
        if (ret->blocks == 0 || more || larger)
            *ret = p;
    }
    return true;
}

static bool recomputes(const struct study *s)
{
    for (uint32_t i = 0; i < s->phases.intervals; i++)
        if (s->phases.interval[i].phase == PHASE_RECOMPUTE)
            return true;
    return false;
}

/* Is a graph kept for a backward?  One is run, an optimizer is, or what a graph saved is released.
 */
static bool is_training(const struct advising *a, const struct kept *kept)
{
    if (a->backward_seen || a->optimizer_seen)
        return true;
    for (uint32_t k = 0; k < kept->len; k++)
        if ((advise_freed_by(a, kept->at[k]) & TOKEN_SAVED) != 0)
            return true;
    return false;
}

/* What is saved comes off every allocation of a block alike, in every step, so that the next peak,
 * in another phase, bounds it. */
static bool remove_blocks(struct advising *a, const struct kept *kept, const struct parting *p)
{
    const struct study *s = a->s;
    uint64_t stays = p->largest + p->boundary * p->blocks;
    uint64_t permille = stays < p->bytes ? (p->bytes - stays) / (p->bytes / 1000 + 1) : 0;
    bool *in_block = arena_array(s->scratch, bool, a->sites.sites);
    if (in_block == NULL)
        return false;
    for (uint32_t k = p->first; k < p->end; k++)
        in_block[a->sites.of[kept->at[k]]] = true;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (in_block[a->sites.of[i]] && is_kept(a, i) &&
            !advise_remove(a, i, l->birth, l->freed, l->bytes / 1000 * permille))
            return false;
    }
    a->now.source = SAVING_ESTIMATED;
    return true;
}

/* Adds the bytes of the blocks to the callers of their line, each to the innermost that they have
 * in common with it.  False when out of memory. */
static bool add_to_callers(const struct advising *a, const struct kept *kept,
                           const struct parting *p, const uint32_t *caller, uint64_t *bytes,
                           uint32_t callers)
{
    const struct stacks *stacks = &a->s->r->code.stacks;
    /* Of each stack_id the place of that caller among them, plus 1; 0: none is in common. */
    uint32_t *common = arena_array(a->s->scratch, uint32_t, stacks->rows.len);
    if (common == NULL)
        return false;
    for (uint32_t i = 0; i < callers; i++)
        common[caller[i]] = i + 1;
    for (uint32_t i = 1; i < stacks->rows.len; i++)
        if (common[i] == 0)
            common[i] = common[stacks->caller[i]];
    for (uint32_t k = p->first; k < p->end; k++) {
        const struct lifetime *l = &a->s->lifetimes.at[kept->at[k]];
        uint32_t at = common[l->alloc_stack.n];
        if (at != 0)
            bytes[at - 1] += l->bytes;
    }
    return true;
}

/* What calls the block: the innermost caller of its line that most of the blocks have in common;
 * the line itself where that lies outside of the forward. */
static bool name_caller(struct advising *a, const struct kept *kept, const struct parting *p)
{
    const struct stacks *stacks = &a->s->r->code.stacks;
    uint32_t callers = 0;
    for (stack_id at = { p->stack }; at.n != 0; at = stacks_caller(stacks, at))
        callers++;
    uint32_t *caller = arena_array(a->s->scratch, uint32_t, callers);
    uint64_t *bytes = arena_array(a->s->scratch, uint64_t, callers);
    if (caller == NULL || bytes == NULL)
        return false;
    uint32_t i = 0;
    for (stack_id at = { p->stack }; at.n != 0; at = stacks_caller(stacks, at))
        caller[i++] = at.n;
    if (!add_to_callers(a, kept, p, caller, bytes, callers))
        return false;
    uint64_t under = 0;
    for (i = 0; i < callers && under < percent_of(p->bytes, COMMON_PERCENT); i++)
        under += bytes[i];
    struct stack_names names;
    stack_id common = { i == 0 || under < percent_of(p->bytes, COMMON_PERCENT) ? p->stack
                                                                               : caller[i - 1] };
    if (naming_of(a->s->naming, common, &names, a->err) != VRS_OK)
        return false;
    bool inside = a->s->phases.of_stack[common.n] == PHASE_FORWARD && names.owner_frame.n != 0;
    return advise_site(a, inside ? common : (stack_id){ p->stack });
}

static bool judge(struct advising *a)
{
    struct kept kept = { 0 };
    struct parting p = { 0 };
    if (!find_kept(a, &kept))
        return false;
    uint64_t peak = a->peak_bytes > 0 ? (uint64_t)a->peak_bytes : 0;
    advise_condition(a, "activation_ratio", (double)kept.bytes / (double)(peak > 0 ? peak : 1),
                     ACTIVATION_PERCENT / 100.0);
    if (kept.bytes < percent_of(peak, ACTIVATION_PERCENT) || kept.bytes == 0)
        return advise_silent(a, "what the forward keeps is less than half of the peak");
    if (recomputes(a->s))
        return advise_silent(a, "layers are recomputed already");
    if (!find_blocks(a, &kept, &p))
        return false;
    if (!is_training(a, &kept) && (p.blocks == 0 || (p.end - p.first) / p.blocks < GRAPH_VALUES))
        return advise_silent(a, "the recording shows no training");
    if (p.blocks < BLOCKS_LEAST)
        return advise_silent(a, "no line of the forward comes back four times with as many bytes");
    if (p.bytes < percent_of(kept.bytes, ACTIVATION_PERCENT))
        return advise_silent(a,
                             "the blocks that the forward repeats keep less than half of what it "
                             "keeps");
    advise_condition(a, "blocks", p.blocks, BLOCKS_LEAST);
    a->now.bytes = p.bytes;
    advise_event(a, a->peak_event);
    return remove_blocks(a, &kept, &p) && name_caller(a, &kept, &p);
}

bool advise_checkpoint(struct advising *a)
{
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool ok = judge(a);
    arena_release(a->s->scratch, mark);
    return ok;
}
