/* names.c - names by a hash of their bytes, paths by a hash of their two ids. */
#include "profiler/names.h"

#include <stddef.h>

#include "base/hash.h"

bool names_init(struct names *n, uint32_t most)
{
    *n = (struct names){ .refused = 0 };
    n->name.max = n->path.max = most + NAME_FIRST;
    arena_init(&n->text, SIZE_MAX);
    return pthread_mutex_init(&n->guard, NULL) == 0 && vec_push(&n->name, S("")) &&
           vec_push(&n->name, S("(other)")) && vec_push(&n->path, (struct path){ 0, NAME_NONE }) &&
           vec_push(&n->path, (struct path){ 0, NAME_OTHER });
}

void names_free(struct names *n)
{
    vec_free(&n->name);
    vec_free(&n->path);
    idtab_free(&n->name_index);
    idtab_free(&n->path_index);
    arena_free(&n->text);
    pthread_mutex_destroy(&n->guard);
}

void names_after_fork(struct names *n)
{
    pthread_mutex_init(&n->guard, NULL);
}

static uint32_t name_found(const struct names *n, uint64_t hash, str name)
{
    for (uint32_t at = idtab_first(&n->name_index, hash); n->name_index.slot[at].id != 0;
         at = idtab_next(&n->name_index, hash, at))
        if (str_equal(n->name.at[n->name_index.slot[at].id], name))
            return n->name_index.slot[at].id;
    return NAME_NONE;
}

static uint32_t name_added(struct names *n, uint64_t hash, str name)
{
    if (!vec_reserve(&n->name, 1))
        return NAME_OTHER;
    str kept = arena_copy(&n->text, name);
    if (kept.ptr == NULL)
        return NAME_OTHER;
    n->name.at[n->name.len] = kept;
    idtab_put(&n->name_index, hash, n->name.len);
    return n->name.len++;
}

uint32_t names_id(struct names *n, str name)
{
    if (name.len == 0)
        return NAME_NONE;
    uint64_t hash = hash_bytes(name.ptr, name.len);
    pthread_mutex_lock(&n->guard);
    uint32_t id = NAME_OTHER;
    if (idtab_reserve(&n->name_index)) {
        id = name_found(n, hash, name);
        if (id == NAME_NONE)
            id = name_added(n, hash, name);
    }
    n->refused += id == NAME_OTHER;
    pthread_mutex_unlock(&n->guard);
    return id;
}

str names_text(struct names *n, uint32_t id)
{
    pthread_mutex_lock(&n->guard);
    str text = n->name.at[id < n->name.len ? id : NAME_NONE];
    pthread_mutex_unlock(&n->guard);
    return text;
}

static uint32_t path_found(const struct names *n, uint64_t hash, struct path path)
{
    for (uint32_t at = idtab_first(&n->path_index, hash); n->path_index.slot[at].id != 0;
         at = idtab_next(&n->path_index, hash, at)) {
        struct path there = n->path.at[n->path_index.slot[at].id];
        if (there.parent == path.parent && there.name == path.name)
            return n->path_index.slot[at].id;
    }
    return NAME_NONE;
}

uint32_t names_path(struct names *n, uint32_t parent, uint32_t name)
{
    struct path path = { parent, name };
    uint64_t hash = hash_pair(parent, name);
    pthread_mutex_lock(&n->guard);
    uint32_t id = NAME_OTHER;
    if (idtab_reserve(&n->path_index)) {
        id = path_found(n, hash, path);
        if (id == NAME_NONE && vec_push(&n->path, path)) {
            id = n->path.len - 1;
            idtab_put(&n->path_index, hash, id);
        } else if (id == NAME_NONE) {
            id = NAME_OTHER;
        }
    }
    n->refused += id == NAME_OTHER;
    pthread_mutex_unlock(&n->guard);
    return id;
}

struct path names_path_at(struct names *n, uint32_t path)
{
    pthread_mutex_lock(&n->guard);
    struct path there = n->path.at[path < n->path.len ? path : NAME_NONE];
    pthread_mutex_unlock(&n->guard);
    return there;
}

uint64_t names_refused(struct names *n)
{
    pthread_mutex_lock(&n->guard);
    uint64_t refused = n->refused;
    pthread_mutex_unlock(&n->guard);
    return refused;
}
