/* diff_fuzzy.c - sequence alignment of two lists of frames, by dynamic programming. */
#include "analysis/snapshot/diff/diff_fuzzy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"

/* Tenths of the mean weight that a pair gives. */
enum { PAIR_SAME = 10, PAIR_FUNCTION = 8, PAIR_GENERIC = 4 };

static const char *const generic_names[] = { "forward", "__call__", "main", "wrapper", "<module>" };

/* 2^20 / sqrt(n), rounded down. */
static uint32_t inverse_root(uint32_t n)
{
    uint64_t square = (UINT64_C(1) << 40) / n, root = 0;
    for (uint64_t bit = UINT64_C(1) << 20; bit != 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= square)
            root += bit;
    return (uint32_t)root;
}

bool fuzzy_init(struct fuzzy *f, const struct diff_keys *keys, struct arena *scratch)
{
    *f = (struct fuzzy){ .keys = keys };
    for (uint32_t i = 0; i < FUZZY_FRAMES; i++)
        f->weight[i] = inverse_root(i + 1);
    f->in_a = arena_array(scratch, uint32_t, keys->strings.rows.len);
    f->in_b = arena_array(scratch, uint32_t, keys->strings.rows.len);
    return f->in_a != NULL && f->in_b != NULL;
}

static bool is_generic(str name)
{
    for (size_t i = 0; i < sizeof generic_names / sizeof *generic_names; i++)
        if (str_equal(name, str_from(generic_names[i])))
            return true;
    return false;
}

void fuzzy_read(const struct fuzzy *f, stack_id stack, struct fuzzy_stack *ret)
{
    const struct diff_keys *k = f->keys;
    ret->frames = ret->weight = 0;
    for (; stack.n != 0 && ret->frames < FUZZY_FRAMES; stack = stacks_caller(&k->stacks, stack)) {
        uint32_t i = ret->frames++;
        struct frame frame = frames_get(&k->frames, stacks_frame(&k->stacks, stack));
        ret->name[i] = frame.name.n;
        ret->file[i] = frame.file.n;
        ret->generic[i] = is_generic(strings_text(&k->strings, frame.name));
        ret->weight += f->weight[i];
    }
}

/* What the pairs can come to at most: every frame whose function the other stack has as well. */
static uint32_t upper_bound(struct fuzzy *f, const struct fuzzy_stack *a,
                            const struct fuzzy_stack *b)
{
    uint32_t bound = 0;
    f->turn++;
    for (uint32_t i = 0; i < a->frames; i++)
        f->in_a[a->name[i]] = f->turn;
    for (uint32_t i = 0; i < b->frames; i++) {
        f->in_b[b->name[i]] = f->turn;
        bound += f->in_a[b->name[i]] == f->turn ? f->weight[i] : 0;
    }
    for (uint32_t i = 0; i < a->frames; i++)
        bound += f->in_b[a->name[i]] == f->turn ? f->weight[i] : 0;
    return bound * PAIR_SAME;
}

static uint32_t pair_share(const struct fuzzy_stack *a, uint32_t i, const struct fuzzy_stack *b,
                           uint32_t j)
{
    if (a->name[i] != b->name[j])
        return 0;
    if (a->file[i] == b->file[j])
        return PAIR_SAME;
    return a->generic[i] ? PAIR_GENERIC : PAIR_FUNCTION;
}

static uint32_t align(const struct fuzzy *f, const struct fuzzy_stack *a,
                      const struct fuzzy_stack *b)
{
    /* best[j]: of the first frames of `a` so far with the first j of `b`. */
    uint32_t best[FUZZY_FRAMES + 1] = { 0 };
    for (uint32_t i = 0; i < a->frames; i++) {
        uint32_t diagonal = 0;
        for (uint32_t j = 0; j < b->frames; j++) {
            uint32_t paired = diagonal + pair_share(a, i, b, j) * (f->weight[i] + f->weight[j]);
            diagonal = best[j + 1];
            uint32_t most = best[j] > best[j + 1] ? best[j] : best[j + 1];
            best[j + 1] = paired > most ? paired : most;
        }
    }
    return best[b->frames];
}

bool fuzzy_sizes_fit(uint64_t a, uint64_t b)
{
    return a / FUZZY_SIZES <= b && b / FUZZY_SIZES <= a;
}

uint32_t fuzzy_score(struct fuzzy *f, const struct fuzzy_stack *a, const struct fuzzy_stack *b)
{
    uint64_t whole = PAIR_SAME * ((uint64_t)a->weight + b->weight);
    if (whole == 0 || upper_bound(f, a, b) * UINT64_C(1000000) / whole < FUZZY_ENOUGH)
        return 0;
    return (uint32_t)(align(f, a, b) * UINT64_C(1000000) / whole);
}
