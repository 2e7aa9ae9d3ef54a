/* site_table.c - reduced stacks and lone sizes become consecutive numbers. */
#include "analysis/snapshot/study/site_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "base/vec.h"

/* What makes one site: a reduced stack, or a size where there is none. */
struct key {
    uint32_t reduced;
    uint32_t lead; /* its largest allocation, of several the first */
    uint64_t bytes;
};

struct numbering {
    VEC(struct key) keys; /* key 0 is none, as in idtab */
    struct idtab index;
};

static uint64_t hash_of_key(const struct key *k)
{
    return hash_pair(k->reduced, k->bytes);
}

static bool number_of(struct numbering *n, struct key key, uint32_t *ret)
{
    uint64_t hash = hash_of_key(&key);
    if (!idtab_reserve(&n->index))
        return false;
    uint32_t at = idtab_first(&n->index, hash);
    for (; n->index.slot[at].id != 0; at = idtab_next(&n->index, hash, at)) {
        const struct key *k = &n->keys.at[n->index.slot[at].id];
        if (k->reduced == key.reduced && k->bytes == key.bytes)
            break;
    }
    if (n->index.slot[at].id == 0) {
        if (!vec_push(&n->keys, key))
            return false;
        idtab_put(&n->index, hash, n->keys.len - 1);
    }
    *ret = n->index.slot[at].id;
    return true;
}

static bool number_all(const struct study *s, struct sites *sites, struct numbering *n,
                       struct site_table *t)
{
    uint32_t *of_stack = arena_array(s->scratch, uint32_t, s->r->code.stacks.rows.len);
    if (of_stack == NULL || !vec_push(&n->keys, (struct key){ .lead = NO_ROW }))
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint32_t number = of_stack[l->alloc_stack.n];
        struct key key = { .lead = i };
        if (number == 0) {
            if (!sites_of(sites, l->alloc_stack, &key.reduced))
                return false;
            if (key.reduced == 0)
                key.bytes = l->bytes;
            if (!number_of(n, key, &number))
                return false;
        }
        if (key.reduced != 0)
            of_stack[l->alloc_stack.n] = number;
        t->of[i] = number - 1;
        uint32_t *lead = &n->keys.at[number].lead;
        if (l->bytes > s->lifetimes.at[*lead].bytes)
            *lead = i;
    }
    t->sites = n->keys.len - 1;
    return true;
}

enum vrs_status site_table_make(const struct study *s, enum site_key key, struct site_table *ret,
                                struct vrs_error *err)
{
    struct sites sites;
    struct numbering n = { .keys.max = UINT32_MAX };
    struct site_table t = { .of = arena_array(s->scratch, uint32_t, s->lifetimes.count) };
    if (t.of == NULL || !sites_init(&sites, &s->r->code, s->naming, key, s->scratch))
        return vrs_no_memory(err);
    bool ok = number_all(s, &sites, &n, &t);
    sites_free(&sites);
    t.lead = ok ? arena_array(s->scratch, uint32_t, t.sites) : NULL;
    for (uint32_t i = 0; t.lead != NULL && i < t.sites; i++)
        t.lead[i] = n.keys.at[i + 1].lead;
    vec_free(&n.keys);
    idtab_free(&n.index);
    if (t.lead == NULL)
        return vrs_no_memory(err);
    *ret = t;
    return VRS_OK;
}

enum vrs_status site_table_show(const struct study *s, const struct site_table *t, uint32_t site,
                                struct site_ref *ret, struct vrs_error *err)
{
    return study_site(s, s->lifetimes.at[t->lead[site]].alloc_stack, ret, err);
}
