/* diff_sums.c - one pass over the allocations of each side, then one over its stacks. */
#include "analysis/snapshot/diff/diff_sums.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/attribution/module_path.h"
#include "analysis/attribution/site.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/diff/diff_keys.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/ids.h"

static void add(struct diff_amount *to, const struct diff_amount *more)
{
    to->bytes += more->bytes;
    to->count += more->count;
    to->byte_events += more->byte_events;
}

/* What an allocation counts; nothing where its count is 0. */
static struct diff_amount amount_of(const struct lifetime *l, enum diff_weight weight,
                                    struct diff_range range)
{
    struct diff_amount amount = { l->bytes, 1, 0 };
    bool counts = false;
    if (weight == DIFF_LIVE) {
        counts = lifetime_alive(l, range.last);
    } else if (weight == DIFF_BYTE_EVENTS) {
        int64_t from = l->birth > range.first ? l->birth : range.first;
        int64_t to = l->freed < range.last + 1 ? l->freed : range.last + 1;
        counts = from < to;
        amount.byte_events = counts ? l->bytes * (uint64_t)(to - from) : 0;
    } else {
        counts = l->birth >= 0 && range.first <= l->birth && l->birth <= range.last;
    }
    return counts ? amount : (struct diff_amount){ 0 };
}

/* `name` is copied into `keep` where it is new. */
static bool tally_add(struct tally *t, struct arena *keep, str name, uint64_t number, uint32_t side,
                      const struct diff_amount *amount)
{
    if (!idtab_reserve(&t->index))
        return false;
    uint64_t hash = hash_pair(hash_bytes(name.ptr, name.len), number);
    uint32_t at = idtab_first(&t->index, hash);
    for (; t->index.slot[at].id != 0; at = idtab_next(&t->index, hash, at)) {
        struct diff_part *part = &t->parts.at[t->index.slot[at].id];
        if (part->number == number && str_equal(part->name, name)) {
            add(&part->of[side], amount);
            return true;
        }
    }
    struct diff_part part = { .name = arena_copy(keep, name), .number = number };
    part.of[side] = *amount;
    if (part.name.ptr == NULL || !vec_push(&t->parts, part))
        return false;
    idtab_put(&t->index, hash, t->parts.len - 1);
    return true;
}

static bool tally_init(struct tally *t)
{
    t->parts.max = UINT32_MAX - 1;
    return vec_push(&t->parts, (struct diff_part){ .number = 0 });
}

static void tally_free(struct tally *t)
{
    vec_free(&t->parts);
    idtab_free(&t->index);
}

/* The piece of a kind and number, old or new; 0 when out of memory. */
static uint32_t piece_of(struct sums *s, enum diff_piece_kind kind, uint64_t number)
{
    if (!idtab_reserve(&s->index))
        return 0;
    uint64_t hash = hash_pair(kind, number);
    uint32_t at = idtab_first(&s->index, hash);
    for (; s->index.slot[at].id != 0; at = idtab_next(&s->index, hash, at)) {
        const struct diff_piece *piece = &s->pieces.at[s->index.slot[at].id];
        if (piece->kind == kind && piece->number == number)
            return s->index.slot[at].id;
    }
    if (!vec_push(&s->pieces, (struct diff_piece){ .kind = kind, .number = number }))
        return 0;
    idtab_put(&s->index, hash, s->pieces.len - 1);
    return s->pieces.len - 1;
}

static void piece_add(struct sums *s, uint32_t id, uint32_t side, stack_id stack,
                      const struct diff_amount *amount)
{
    struct diff_piece *piece = &s->pieces.at[id];
    uint64_t figure = diff_figure(s->options->weight, amount);
    add(&piece->of[side], amount);
    if (!piece->largest[side].there || figure > piece->largest[side].figure) {
        piece->largest[side].there = true;
        piece->largest[side].stack = stack;
        piece->largest[side].figure = figure;
    }
}

/* The module of a stack; "(no module)" where nothing of it is one. */
static enum vrs_status module_of(struct sums *s, const struct study *study, stack_id stack,
                                 str *ret, struct vrs_error *err)
{
    s->text.len = 0;
    TRY(module_path(&study->r->code, study->naming, stack, MODULE_FILES, s->scratch, &s->text,
                    err));
    *ret = s->text.len == 0 ? S("(no module)") : buf_slice(&s->text);
    return VRS_OK;
}

static str phase_of(const struct study *study, const struct lifetime *l)
{
    if (l->alloc_stack.n == 0 && l->birth < 0)
        return S("unknown");
    return str_from(phase_names[study->phases.of_stack[l->alloc_stack.n]]);
}

/* What has no stack, or none that a key can use. */
static bool add_stackless(struct sums *s, uint32_t side, uint32_t allocation,
                          const struct diff_amount *amount)
{
    enum diff_piece_kind kind = PIECE_UNATTRIBUTED;
    uint64_t number = 0;
    const struct study *study = s->side[side];
    if (s->split) {
        kind = PIECE_CATEGORY;
        number = study->categories.of[allocation];
    } else if (s->no_stacks) {
        kind = PIECE_SIZE;
        number = study->lifetimes.at[allocation].bytes;
    }
    uint32_t piece = piece_of(s, kind, number);
    if (piece != 0)
        piece_add(s, piece, side, (stack_id){ 0 }, amount);
    return piece != 0;
}

/* Whether a stack has no key; asked once a stack, hence before its allocations are summed. */
static bool is_keyless(const struct sums *s, const struct study *study, stack_id stack)
{
    return stack.n == 0 ||
           (s->keys->python_only && !(study->tokens->of_stack[stack.n] & TOKEN_PYTHON));
}

static bool tally_kinds(struct sums *s, uint32_t side, uint32_t allocation,
                        const struct diff_amount *amount)
{
    const struct study *study = s->side[side];
    const struct lifetime *l = &study->lifetimes.at[allocation];
    str category = str_from(category_names[study->categories.of[allocation]]);
    return tally_add(&s->category, s->keep, category, 0, side, amount) &&
           tally_add(&s->phase, s->keep, phase_of(study, l), 0, side, amount) &&
           tally_add(&s->size, s->keep, S(""), l->bytes, side, amount);
}

/* Each allocation once; sums of stacks go to `of_stack`. */
static bool sum_allocations(struct sums *s, uint32_t side, struct diff_amount *of_stack)
{
    const struct study *study = s->side[side];
    const struct lifetimes *all = &study->lifetimes;
    bool ok = true;
    for (uint32_t i = 0; ok && i < all->count; i++) {
        const struct lifetime *l = &all->at[i];
        struct diff_amount amount = amount_of(l, s->options->weight, s->options->range[side]);
        if (amount.count == 0)
            continue;
        add(&s->total[side], &amount);
        ok = s->piece_of[side] != NULL || tally_kinds(s, side, i, &amount);
        add(&of_stack[l->alloc_stack.n], &amount);
        if (is_keyless(s, study, l->alloc_stack))
            ok = ok && add_stackless(s, side, i, &amount);
    }
    return ok;
}

static enum vrs_status add_site(struct sums *s, uint32_t side, stack_id stack,
                                const struct diff_amount *amount, struct vrs_error *err)
{
    stack_id key[DIFF_KEYS] = { { 0 } };
    for (uint32_t k = s->options->key; k < DIFF_KEYS; k++)
        TRY(diff_keys_of(s->keys, side, stack, (enum site_key)k, &key[k], err));
    uint32_t id = piece_of(s, PIECE_SITE, key[s->options->key].n);
    if (id == 0)
        return vrs_no_memory(err);
    struct diff_piece *piece = &s->pieces.at[id];
    if (!piece->largest[0].there && !piece->largest[1].there) {
        memcpy(piece->key, key, sizeof key);
        piece->phase = s->side[side]->phases.of_stack[stack.n];
    }
    piece_add(s, id, side, stack, amount);
    if (s->piece_of[side] != NULL)
        s->piece_of[side][stack.n] = id;
    return VRS_OK;
}

static enum vrs_status tally_module(struct sums *s, uint32_t side, stack_id stack,
                                    const struct diff_amount *amount, struct vrs_error *err)
{
    str module = S("(no stack)");
    if (stack.n != 0)
        TRY(module_of(s, s->side[side], stack, &module, err));
    return tally_add(&s->module, s->keep, module, 0, side, amount) ? VRS_OK : vrs_no_memory(err);
}

static enum vrs_status sum_side(struct sums *s, uint32_t side, struct vrs_error *err)
{
    const struct study *study = s->side[side];
    uint32_t stacks = study->r->code.stacks.rows.len;
    struct diff_amount *of_stack = arena_array(s->scratch, struct diff_amount, stacks);
    if (of_stack == NULL || !sum_allocations(s, side, of_stack))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < stacks; i++) {
        stack_id stack = { i };
        if (of_stack[i].count == 0)
            continue;
        if (s->piece_of[side] == NULL)
            TRY(tally_module(s, side, stack, &of_stack[i], err));
        if (!is_keyless(s, study, stack))
            TRY(add_site(s, side, stack, &of_stack[i], err));
    }
    return VRS_OK;
}

enum vrs_status sums_make(struct sums *s, struct vrs_error *err)
{
    s->pieces.max = UINT32_MAX - 1;
    buf_init(&s->text, SIZE_MAX / 2);
    if (!tally_init(&s->category) || !tally_init(&s->module) || !tally_init(&s->phase) ||
        !tally_init(&s->size) || !vec_push(&s->pieces, (struct diff_piece){ .number = 0 }))
        return vrs_no_memory(err);
    TRY(sum_side(s, 0, err));
    return sum_side(s, 1, err);
}

void sums_free(struct sums *s)
{
    tally_free(&s->category);
    tally_free(&s->module);
    tally_free(&s->phase);
    tally_free(&s->size);
    vec_free(&s->pieces);
    idtab_free(&s->index);
    buf_free(&s->text);
}
