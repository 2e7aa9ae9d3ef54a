/* by_name.c - gives named memory its category, and what stood there in earlier steps the same. */
#include "analysis/snapshot/categories/by_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "model/named.h"

const char *const by_name_rules[BY_NAMES] = {
    [BY_NAME_NOT] = "U",
    [BY_NAME_SAID] = "N1",
    [BY_NAME_LIKE] = "N2",
};

/* Where memory is named, and of which size. */
struct origin_of_name {
    uint64_t bytes;
    uint32_t stack;
    uint8_t category; /* CATEGORY_UNKNOWN: names of several kinds */
};

struct origins {
    struct origin_of_name *at;
    uint32_t count;
    struct idtab index; /* of `at`, plus 1 */
};

static uint8_t category_of_kind(uint8_t kind)
{
    static const uint8_t category[NAMED_KINDS] = {
        [NAMED_TENSOR] = CATEGORY_UNKNOWN,
        [NAMED_PARAMETER] = CATEGORY_PARAMETER,
        [NAMED_BUFFER] = CATEGORY_BUFFER,
        [NAMED_GRADIENT] = CATEGORY_GRADIENT,
        [NAMED_OPTIMIZER_STATE] = CATEGORY_OPTIMIZER_STATE,
    };
    return category[kind];
}

/* What is said of it; false: there is no name, or one of a plain tensor. */
static bool said(const struct recording *r, const struct lifetimes *l, uint32_t i, uint8_t *ret,
                 bool *ret_named)
{
    uint32_t row = named_find(r, l->first + i);
    *ret_named = row != NO_ROW;
    *ret = row == NO_ROW ? (uint8_t)CATEGORY_UNKNOWN : category_of_kind(r->named.kind[row]);
    return *ret != CATEGORY_UNKNOWN;
}

static uint32_t find_slot(const struct origins *o, const struct lifetime *l, uint64_t *ret_hash)
{
    uint64_t hash = hash_pair(l->bytes, l->alloc_stack.n);
    uint32_t at = idtab_first(&o->index, hash);
    *ret_hash = hash;
    for (; o->index.slot[at].id != 0; at = idtab_next(&o->index, hash, at)) {
        const struct origin_of_name *one = &o->at[o->index.slot[at].id - 1];
        if (one->bytes == l->bytes && one->stack == l->alloc_stack.n)
            break;
    }
    return at;
}

/* One kind for a site and size, or none: a plain tensor of it counts against it. */
static bool note_origin(struct origins *o, const struct lifetime *l, uint8_t category)
{
    uint64_t hash;
    if (l->alloc_stack.n == 0)
        return true;
    if (!idtab_reserve(&o->index))
        return false;
    uint32_t id = o->index.slot[find_slot(o, l, &hash)].id;
    if (id != 0) {
        if (o->at[id - 1].category != category)
            o->at[id - 1].category = CATEGORY_UNKNOWN;
        return true;
    }
    o->at[o->count++] = (struct origin_of_name){ l->bytes, l->alloc_stack.n, category };
    idtab_put(&o->index, hash, o->count);
    return true;
}

static bool note_said(const struct recording *r, const struct lifetimes *l, struct origins *o,
                      struct named_categories *to)
{
    if (!idtab_reserve(&o->index))
        return false;
    for (uint32_t i = 0; i < l->count; i++) {
        uint8_t category;
        bool named;
        if (said(r, l, i, &category, &named)) {
            to->how[i] = BY_NAME_SAID;
            to->of[i] = category;
        }
        if (named && !note_origin(o, &l->at[i], category))
            return false;
    }
    return true;
}

static void give_likes(const struct lifetimes *l, int64_t events, const struct origins *o,
                       struct named_categories *to)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const struct lifetime *life = &l->at[i];
        uint64_t hash;
        if (life->requested >= events || life->alloc_stack.n == 0)
            continue;
        uint32_t id = o->index.slot[find_slot(o, life, &hash)].id;
        if (id == 0 || o->at[id - 1].category == CATEGORY_UNKNOWN)
            continue;
        to->how[i] = BY_NAME_LIKE;
        to->of[i] = o->at[id - 1].category;
    }
}

enum vrs_status named_categories_find(const struct recording *r, const struct lifetimes *lifetimes,
                                      int64_t events, struct arena *scratch,
                                      struct named_categories *ret, struct vrs_error *err)
{
    uint32_t holding = named_holding(r);
    *ret = (struct named_categories){ .how = NULL };
    if (holding == 0)
        return VRS_OK;
    struct named_categories made = { arena_array(scratch, uint8_t, lifetimes->count),
                                     arena_array(scratch, uint8_t, lifetimes->count) };
    struct origins o = { .at = arena_array(scratch, struct origin_of_name, holding) };
    bool ok =
        made.how != NULL && made.of != NULL && o.at != NULL && note_said(r, lifetimes, &o, &made);
    if (ok)
        give_likes(lifetimes, events, &o, &made);
    idtab_free(&o.index);
    if (!ok)
        return vrs_no_memory(err);
    *ret = made;
    return VRS_OK;
}
