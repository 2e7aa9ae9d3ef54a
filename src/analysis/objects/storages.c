/* storages.c - walks the places once. */
#include "analysis/objects/storages.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/idtab.h"

static bool is_equal(const struct tensor_place *a, const struct tensor_place *b)
{
    return a->storage == b->storage && a->offset_bytes == b->offset_bytes && a->bytes == b->bytes;
}

enum vrs_status storages_find(const struct tensor_place *place, uint32_t count, uint32_t *ret_first,
                              struct vrs_error *err)
{
    struct idtab seen = { 0 };
    bool ok = idtab_restart(&seen, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint64_t hash =
            hash_pair(hash_pair(place[i].storage, place[i].offset_bytes), place[i].bytes);
        uint32_t at = idtab_first(&seen, hash);
        while (seen.slot[at].id != 0 && !is_equal(&place[seen.slot[at].id - 1], &place[i]))
            at = idtab_next(&seen, hash, at);
        ret_first[i] = seen.slot[at].id == 0 ? i : seen.slot[at].id - 1;
        if (seen.slot[at].id == 0)
            idtab_put(&seen, hash, i + 1);
    }
    idtab_free(&seen);
    return ok ? VRS_OK : vrs_no_memory(err);
}
