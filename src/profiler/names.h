/* names.h - interned names, and paths of names from outside in: a tree of calling contexts.
 *
 * A name is any bytes; equal bytes have one id.  A path is its parent and a name.  When there is no
 * more room, names and paths become NAME_OTHER.  Any number of threads may ask. */
#ifndef VRS_PROFILER_NAMES_H
#define VRS_PROFILER_NAMES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/vec.h"

/* Ids of names and paths alike: none, which is empty, and what stands for all that found no room,
 * which is called "(other)". */
enum { NAME_NONE, NAME_OTHER, NAME_FIRST };

struct path {
    uint32_t parent, name;
};

struct names {
    pthread_mutex_t guard;
    struct arena text;
    VEC(str) name;
    VEC(struct path) path;
    struct idtab name_index, path_index;
    uint64_t refused;
};

/* At most `most` names and as many paths.  False: no memory, and to be freed all the same. */
bool names_init(struct names *n, uint32_t most);
void names_free(struct names *n);
void names_after_fork(struct names *n);

uint32_t names_id(struct names *n, str name);
/* Lives as long as the names. */
str names_text(struct names *n, uint32_t id);

uint32_t names_path(struct names *n, uint32_t parent, uint32_t name);
struct path names_path_at(struct names *n, uint32_t path);

uint64_t names_refused(struct names *n);

#endif
