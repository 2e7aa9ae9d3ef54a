/* tensor_table.c - one row for each storage, then sums by device. */
#include "analysis/objects/tensor_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/objects/storages.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

const char *const tensor_kind_names[TENSOR_KINDS] = {
    [TENSOR_PARAMETER] = "parameter",
    [TENSOR_GRADIENT] = "gradient",
    [TENSOR_OPTIMIZER_STATE] = "optimizer_state",
    [TENSOR_BUFFER] = "buffer",
    [TENSOR_OTHER] = "other",
};

/* What a tensor says of its storage: its kind first, then whether it has a name. */
static bool says_more(const struct known_tensor *a, const struct known_tensor *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->name.len > 0 && b->name.len == 0;
}

static struct storage_row row_from(const struct known_tensor *t)
{
    return (struct storage_row){ .bytes = t->storage_bytes,
                                 .kind = (uint8_t)t->kind,
                                 .name = t->name,
                                 .shape = t->shape,
                                 .dtype = t->dtype,
                                 .device = t->device };
}

struct gathering {
    const struct known_tensor *tensor;
    uint32_t tensors;
    uint32_t *first;  /* of each tensor, the first one on its storage */
    uint32_t *best;   /* of that one, the tensor that says most */
    uint32_t *row_of; /* of that one */
    struct arena *keep;
    struct tensor_table *table;
};

static enum vrs_status find_storages(struct gathering *g, struct vrs_error *err)
{
    struct tensor_place *place = arena_array(g->keep, struct tensor_place, g->tensors);
    g->first = arena_array(g->keep, uint32_t, g->tensors);
    g->best = arena_array(g->keep, uint32_t, g->tensors);
    g->row_of = arena_array(g->keep, uint32_t, g->tensors);
    g->table->row = arena_array(g->keep, struct storage_row, g->tensors);
    if (place == NULL || g->first == NULL || g->best == NULL || g->row_of == NULL ||
        g->table->row == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < g->tensors; i++)
        place[i].storage = g->tensor[i].storage;
    return storages_find(place, g->tensors, g->first, err);
}

static enum vrs_status make_rows(struct gathering *g, struct vrs_error *err)
{
    struct tensor_table *table = g->table;
    for (uint32_t i = 0; i < g->tensors; i++) {
        uint32_t first = g->first[i];
        if (first == i || says_more(&g->tensor[i], &g->tensor[g->best[first]]))
            g->best[first] = i;
    }
    for (uint32_t i = 0; i < g->tensors; i++) {
        if (g->first[i] == i) {
            g->row_of[i] = table->rows;
            table->row[table->rows++] = row_from(&g->tensor[g->best[i]]);
        }
        table->row[g->row_of[g->first[i]]].count++;
    }
    for (uint32_t r = 0; r < table->rows; r++) {
        struct storage_row *row = &table->row[r];
        row->shared = row->count > 1 ? arena_array(g->keep, str, row->count) : NULL;
        if (row->count > 1 && row->shared == NULL)
            return vrs_no_memory(err);
    }
    for (uint32_t i = 0; i < g->tensors; i++) {
        struct storage_row *row = &table->row[g->row_of[g->first[i]]];
        if (g->best[g->first[i]] != i && g->tensor[i].name.len > 0)
            row->shared[row->shareds++] = g->tensor[i].name;
    }
    return VRS_OK;
}

static struct device_row *device_of(struct tensor_table *table, str device)
{
    for (uint32_t i = 0; i < table->devices; i++)
        if (str_equal(table->device[i].device, device))
            return &table->device[i];
    struct device_row *made = &table->device[table->devices++];
    *made = (struct device_row){ .device = device,
                                 .allocated_bytes = UINT64_MAX,
                                 .invisible_bytes = UINT64_MAX,
                                 .rounding_bytes = UINT64_MAX };
    return made;
}

/* Of tensors that were freed since they were listed the sum may be larger: then it is not known. */
static uint64_t rest(uint64_t whole, uint64_t part)
{
    return whole == UINT64_MAX || part == UINT64_MAX || whole < part ? UINT64_MAX : whole - part;
}

static enum vrs_status sum_devices(struct gathering *g, const struct allocated_bytes *allocated,
                                   uint32_t devices, struct vrs_error *err)
{
    struct tensor_table *table = g->table;
    size_t most = (size_t)table->rows + devices;
    table->device = arena_array(g->keep, struct device_row, most);
    if (most > 0 && table->device == NULL)
        return vrs_no_memory(err);
    for (uint32_t r = 0; r < table->rows; r++) {
        struct device_row *device = device_of(table, table->row[r].device);
        device->storages++;
        if (table->row[r].bytes == UINT64_MAX)
            device->unknown++;
        else
            device->bytes += table->row[r].bytes;
    }
    for (uint32_t i = 0; i < devices; i++) {
        struct device_row *device = device_of(table, allocated[i].device);
        device->allocated_bytes = allocated[i].allocated;
        device->rounding_bytes = rest(allocated[i].allocated, allocated[i].requested);
        device->invisible_bytes = rest(allocated[i].requested, device->bytes);
    }
    return VRS_OK;
}

/* The largest first, what is not known last; what was listed first of equals. */
static int by_bytes(const void *a, const void *b)
{
    const struct storage_row *const *left = a, *const *right = b;
    uint64_t one = (*left)->bytes + 1, other = (*right)->bytes + 1;
    if (one != other)
        return one < other ? 1 : -1;
    return *left < *right ? -1 : *left > *right;
}

static enum vrs_status sort_rows(struct gathering *g, struct vrs_error *err)
{
    uint32_t rows = g->table->rows;
    const struct storage_row **order = arena_array(g->keep, const struct storage_row *, rows);
    struct storage_row *sorted = arena_array(g->keep, struct storage_row, rows);
    if (order == NULL || sorted == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < rows; i++)
        order[i] = &g->table->row[i];
    if (rows > 0)
        qsort((void *)order, rows, sizeof *order, by_bytes);
    for (uint32_t i = 0; i < rows; i++)
        sorted[i] = *order[i];
    g->table->row = sorted;
    return VRS_OK;
}

enum vrs_status tensor_table_compute(const struct known_tensor *tensor, uint32_t tensors,
                                     const struct allocated_bytes *allocated, uint32_t devices,
                                     struct arena *keep, struct tensor_table *ret,
                                     struct vrs_error *err)
{
    struct tensor_table table = { 0 };
    struct gathering g = { .tensor = tensor, .tensors = tensors, .keep = keep, .table = &table };
    TRY(find_storages(&g, err));
    TRY(make_rows(&g, err));
    TRY(sum_devices(&g, allocated, devices, err));
    TRY(sort_rows(&g, err));
    *ret = table;
    return VRS_OK;
}
