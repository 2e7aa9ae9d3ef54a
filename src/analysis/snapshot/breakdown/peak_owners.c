/* peak_owners.c - sums the members of a row by owner, and keeps the heaviest. */
#include "analysis/snapshot/breakdown/peak_owners.h"

#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/breakdown/peak.h"
#include "analysis/snapshot/curves/live.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

static int by_name(const void *a, const void *b)
{
    const struct peak_owner *x = a, *y = b;
    return str_compare(x->name, y->name);
}

static int by_bytes(const void *a, const void *b)
{
    const struct peak_owner *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return str_compare(x->name, y->name);
}

/* One for each name, from one for each member in the order of names. */
static uint32_t join(struct peak_owner *owner, uint32_t members)
{
    uint32_t owners = 0;
    for (uint32_t i = 0; i < members; i++) {
        if (owners == 0 || !str_equal(owner[owners - 1].name, owner[i].name)) {
            owner[owners++] = owner[i];
            continue;
        }
        owner[owners - 1].bytes += owner[i].bytes;
        owner[owners - 1].count += owner[i].count;
    }
    return owners;
}

enum vrs_status peak_owners_find(struct naming *naming, const struct live *member, uint32_t members,
                                 struct arena *arena, struct arena *scratch, struct peak_row *row,
                                 struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct peak_owner *owner = arena_array(scratch, struct peak_owner, members);
    if (owner == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < members; i++) {
        struct stack_names names;
        TRY(naming_of(naming, member[i].stack, &names, err));
        owner[i] = (struct peak_owner){ names.owner, member[i].bytes, 1 };
    }
    if (members > 1)
        qsort(owner, members, sizeof *owner, by_name);
    row->distinct_owners = join(owner, members);
    if (row->distinct_owners > 1)
        qsort(owner, row->distinct_owners, sizeof *owner, by_bytes);
    row->owners = row->distinct_owners < PEAK_OWNERS ? row->distinct_owners : PEAK_OWNERS;
    row->owner_rows = arena_array(arena, struct peak_owner, row->owners);
    if (row->owner_rows == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < row->owners; i++)
        row->owner_rows[i] = owner[i];
    arena_release(scratch, mark);
    return VRS_OK;
}
