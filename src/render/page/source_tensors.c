/* source_tensors.c - numbers the names that hold for a device's allocations, with their texts. */
#include "render/page/source_tensors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/study/held_names.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/sorted.h"
#include "base/str.h"
#include "base/utf8.h"
#include "model/ids.h"
#include "model/named.h"
#include "model/recording.h"

enum { STRINGS_MOST = 1 << 30 };

/* The rows that hold stand in the order of allocations, those of a device side by side. */
static uint32_t rows_before(const struct recording *r, uint32_t allocation)
{
    uint32_t at;
    SORTED_FIND(at, named_holding(r), r->named.allocation[at] < allocation);
    return at;
}

static enum vrs_status intern(struct page_tensors *t, str text, uint32_t *ret,
                              struct vrs_error *err)
{
    struct buf b;
    string_id id = { 0 };
    buf_init(&b, SIZE_MAX / 2);
    utf8_append_clipped(&b, text, HELD_NAME_BYTES_MAX);
    bool made = !b.failed && strings_intern(&t->strings, buf_slice(&b), &id);
    buf_free(&b);
    *ret = id.n;
    return made ? VRS_OK : vrs_no_memory(err);
}

/* Of each name its string of `from`, a column of named. */
static enum vrs_status intern_all(const struct study *s, struct page_tensors *t,
                                  const uint32_t *from, uint32_t **ret, struct vrs_error *err)
{
    *ret = arena_array(s->scratch, uint32_t, (size_t)t->count + 1);
    if (*ret == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < t->count; i++)
        TRY(intern(t, strings_text(&s->r->code.strings, (string_id){ from[t->first + i] }),
                   &(*ret)[i + 1], err));
    return VRS_OK;
}

/* Of each name the module in it. */
static enum vrs_status intern_paths(const struct study *s, struct page_tensors *t,
                                    struct vrs_error *err)
{
    const struct named_tensors *n = &s->r->named;
    t->path = arena_array(s->scratch, uint32_t, (size_t)t->count + 1);
    if (t->path == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < t->count; i++) {
        str name = strings_text(&s->r->code.strings, (string_id){ n->name[t->first + i] });
        TRY(intern(t, peak_path_of_name(name, n->kind[t->first + i]), &t->path[i + 1], err));
    }
    return VRS_OK;
}

enum vrs_status page_tensors_make(const struct study *s, struct page_tensors *ret,
                                  struct vrs_error *err)
{
    const struct named_tensors *n = &s->r->named;
    uint32_t first = s->r->devices.first_allocation[s->device];
    uint32_t allocations = s->r->devices.allocations[s->device];
    *ret = (struct page_tensors){ .first = rows_before(s->r, first) };
    ret->count = rows_before(s->r, first + allocations) - ret->first;
    if (ret->count == 0)
        return VRS_OK;
    ret->of = arena_array(s->scratch, uint32_t, allocations);
    if (ret->of == NULL || !strings_init(&ret->strings, STRINGS_MOST))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < ret->count; i++)
        ret->of[n->allocation[ret->first + i] - first] = i + 1;
    /* Names first: there is mostly a new one for each row, and their ids ascend. */
    TRY(intern_all(s, ret, n->name, &ret->name, err));
    TRY(intern_paths(s, ret, err));
    TRY(intern_all(s, ret, n->shape, &ret->shape, err));
    TRY(intern_all(s, ret, n->dtype, &ret->dtype, err));
    TRY(intern_all(s, ret, n->owner, &ret->owner, err));
    return intern_all(s, ret, n->shared, &ret->shared, err);
}

void page_tensors_end(struct page_tensors *tensors)
{
    strings_free(&tensors->strings);
}
