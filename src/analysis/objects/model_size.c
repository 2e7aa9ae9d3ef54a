/* model_size.c - goes through the tensors in the order of their modules; a hash table has the
 * storages that were counted. */
#include "analysis/objects/model_size.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/objects/storages.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

struct summing {
    const struct model_objects *of;
    uint32_t *row_of; /* of each module */
    bool *is_row;     /* whether that row is the module's own */
    uint32_t *first;  /* of each tensor, the first one on its storage */
    uint32_t *same;   /* the first one on the same bytes */
    struct arena *keep;
    struct model_size *size;
};

/* Modules around one, by its path: 0 for the model itself. */
static uint32_t level_of(str path)
{
    uint32_t level = path.len > 0;
    for (size_t i = 0; i < path.len; i++)
        level += path.ptr[i] == '.';
    return level;
}

/* A row for each module that is not too far inside; the others belong to the row before them. */
static void make_rows(struct summing *s)
{
    struct model_size *size = s->size;
    for (uint32_t i = 0; i < s->of->modules; i++) {
        const struct model_module *module = &s->of->module[i];
        s->is_row[i] = size->rows == 0 || level_of(module->path) <= s->of->depth;
        if (s->is_row[i])
            size->row[size->rows++] = (struct module_row){ .path = module->path,
                                                           .type = module->type,
                                                           .calls = NOT_KNOWN,
                                                           .output_bytes = NOT_KNOWN };
        s->row_of[i] = size->rows - 1;
        size->row[size->rows - 1].modules++;
    }
    for (uint32_t i = 0; i + 1 < size->rows; i++)
        size->row[i].own = level_of(size->row[i].path) < level_of(size->row[i + 1].path);
}

/* Modules that were not called have no outputs, not outputs of 0 bytes. */
static void count_outputs(struct summing *s)
{
    s->size->called = s->of->output != NULL;
    for (uint32_t r = 0; s->size->called && r < s->size->rows; r++)
        s->size->row[r].calls = 0;
    for (uint32_t i = 0; i < s->of->outputs; i++) {
        const struct module_output *o = &s->of->output[i];
        struct module_row *row = &s->size->row[s->row_of[o->module]];
        if (!s->is_row[o->module])
            continue;
        if (i == 0 || o[-1].call != o->call)
            row->calls++;
        if (o->bytes != NOT_KNOWN)
            row->output_bytes = o->bytes + (row->output_bytes == NOT_KNOWN ? 0 : row->output_bytes);
    }
}

static void add(uint64_t *sum, uint64_t more)
{
    *sum = *sum == NOT_KNOWN || more == NOT_KNOWN ? NOT_KNOWN : *sum + more;
}

static enum vrs_status share(struct summing *s, struct module_row *row, str name,
                             struct vrs_error *err)
{
    for (uint32_t i = 0; i < row->shareds; i++)
        if (str_equal(row->shared[i], name))
            return VRS_OK;
    /* Rooms of 1, 2, 4, …: an arena does not take the smaller ones back. */
    if ((row->shareds & (row->shareds - 1)) == 0) {
        str *more = arena_array(s->keep, str, row->shareds == 0 ? 1 : 2 * (size_t)row->shareds);
        if (more == NULL)
            return vrs_no_memory(err);
        for (uint32_t i = 0; i < row->shareds; i++)
            more[i] = row->shared[i];
        row->shared = more;
    }
    row->shared[row->shareds++] = name;
    return VRS_OK;
}

static enum vrs_status count_tensor(struct summing *s, uint32_t i, struct vrs_error *err)
{
    const struct model_tensor *t = &s->of->tensor[i], *first = &s->of->tensor[s->first[i]];
    struct module_row *row = &s->size->row[s->row_of[t->owner]];
    if (s->first[i] == i)
        add(&row->sums.storage_bytes, t->storage_bytes);
    else if (s->row_of[first->owner] != s->row_of[t->owner])
        TRY(share(s, row, first->name, err));
    if (s->same[i] != i)
        return VRS_OK;
    add(&row->sums.full_bytes, t->full_bytes);
    if (!t->is_parameter) {
        add(&row->sums.buffer_bytes, t->bytes);
        return VRS_OK;
    }
    add(&row->sums.parameters, t->elements);
    add(&row->sums.trainable, t->trainable ? t->elements : 0);
    add(&row->sums.parameter_bytes, t->bytes);
    return VRS_OK;
}

/* Adds what is known; false where it is not. */
static bool add_known(uint64_t *sum, uint64_t more)
{
    *sum += more == NOT_KNOWN ? 0 : more;
    return more != NOT_KNOWN;
}

static void sum_rows(struct model_size *size)
{
    struct model_sums *total = &size->total;
    bool known = true;
    for (uint32_t i = 0; i < size->rows; i++) {
        const struct model_sums *sums = &size->row[i].sums;
        known = add_known(&total->parameters, sums->parameters) && known;
        known = add_known(&total->trainable, sums->trainable) && known;
        known = add_known(&total->parameter_bytes, sums->parameter_bytes) && known;
        known = add_known(&total->buffer_bytes, sums->buffer_bytes) && known;
        known = add_known(&total->storage_bytes, sums->storage_bytes) && known;
        known = add_known(&total->full_bytes, sums->full_bytes) && known;
    }
    size->at_least = !known;
    size->sharded = total->full_bytes > total->parameter_bytes + total->buffer_bytes;
}

/* Each row with those that follow it and lie inside, from the last to the first. */
static void sum_inside(struct model_size *size)
{
    for (uint32_t i = size->rows; i-- > 0;) {
        struct module_row *row = &size->row[i];
        uint32_t level = level_of(row->path);
        row->all_bytes = row->sums.storage_bytes;
        for (uint32_t k = i + 1; k < size->rows && level_of(size->row[k].path) > level; k++)
            if (level_of(size->row[k].path) == level + 1)
                add(&row->all_bytes, size->row[k].all_bytes);
    }
    assert(size->at_least || size->rows == 0 ||
           size->row[0].all_bytes == size->total.storage_bytes);
}

static enum vrs_status find_storages(struct summing *s, struct vrs_error *err)
{
    uint32_t tensors = s->of->tensors;
    struct tensor_place *place = arena_array(s->keep, struct tensor_place, tensors);
    s->first = arena_array(s->keep, uint32_t, tensors);
    s->same = arena_array(s->keep, uint32_t, tensors);
    if (place == NULL || s->first == NULL || s->same == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < tensors; i++)
        place[i].storage = s->of->tensor[i].storage;
    TRY(storages_find(place, tensors, s->first, err));
    for (uint32_t i = 0; i < tensors; i++) {
        place[i].offset_bytes = s->of->tensor[i].offset_bytes;
        place[i].bytes = s->of->tensor[i].bytes;
    }
    return storages_find(place, tensors, s->same, err);
}

enum vrs_status model_size_compute(const struct model_objects *of, struct arena *keep,
                                   struct model_size *ret, struct vrs_error *err)
{
    struct model_size size = { .row = arena_array(keep, struct module_row, of->modules) };
    struct summing s = { .of = of, .keep = keep, .size = &size };
    s.row_of = arena_array(keep, uint32_t, of->modules);
    s.is_row = arena_array(keep, bool, of->modules);
    if (size.row == NULL || s.row_of == NULL || s.is_row == NULL)
        return vrs_no_memory(err);
    if (of->modules > 0)
        size.type = of->module[0].type;
    make_rows(&s);
    TRY(find_storages(&s, err));
    for (uint32_t i = 0; i < of->tensors; i++)
        TRY(count_tensor(&s, i, err));
    count_outputs(&s);
    sum_rows(&size);
    sum_inside(&size);
    *ret = size;
    return VRS_OK;
}
