/* held_names.c - sums of what has a name, and the largest of it. */
#include "analysis/snapshot/study/held_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/table.h"
#include "base/utf8.h"
#include "model/ids.h"
#include "model/named.h"
#include "model/strings.h"

const char *const named_kind_names[NAMED_KINDS] = {
    [NAMED_TENSOR] = "tensor",
    [NAMED_PARAMETER] = "parameter",
    [NAMED_BUFFER] = "buffer",
    [NAMED_GRADIENT] = "gradient",
    [NAMED_OPTIMIZER_STATE] = "optimizer_state",
};

static const struct field name_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct held_name, name) },
    { "kind", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct held_name, kind) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct held_name, bytes), .least = 1 },
    { "requested_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct held_name, requested_bytes), .null = NULL_ALL_ONES },
    { "dtype", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct held_name, dtype) },
    { "shape", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct held_name, shape) },
};
const struct row_type held_name_row_type =
    LINE_ROW_TYPE("named_tensor", struct held_name, name_fields);

static uint64_t counted_bytes(uint64_t requested, uint64_t tensor)
{
    return requested == UNKNOWN_U64 ? tensor : requested;
}

uint64_t held_name_bytes(const struct held_name *name)
{
    return counted_bytes(name->requested_bytes, name->bytes);
}

/* Of a row of named that holds. */
static uint64_t bytes_of(const struct recording *r, uint32_t row)
{
    return counted_bytes(r->allocations.size[r->named.allocation[row]], r->named.bytes[row]);
}

static bool stands_before(const struct recording *r, uint32_t a, uint32_t b)
{
    uint64_t x = bytes_of(r, a), y = bytes_of(r, b);
    return x != y ? x > y : a < b;
}

static bool are_alike(const struct named_tensors *n, uint32_t a, uint32_t b)
{
    return n->dtype[a] == n->dtype[b] && n->shape[a] == n->shape[b];
}

void names_sum_add(struct names_sum *sum, uint32_t allocation)
{
    uint32_t row = named_find(sum->r, allocation), at = sum->shown;
    if (row == NO_ROW)
        return;
    sum->differ |= sum->count > 0 && !are_alike(&sum->r->named, row, sum->row[0]);
    sum->count++;
    sum->bytes += bytes_of(sum->r, row);
    while (at > 0 && stands_before(sum->r, row, sum->row[at - 1]))
        at--;
    if (at == HELD_NAMES)
        return;
    sum->shown += sum->shown < HELD_NAMES;
    for (uint32_t i = sum->shown - 1; i > at; i--)
        sum->row[i] = sum->row[i - 1];
    sum->row[at] = row;
}

static bool keep_text(const struct recording *r, uint32_t id, struct arena *arena, str *ret)
{
    *ret = (str){ NULL, 0 };
    if (id == 0)
        return true;
    struct buf clipped;
    buf_init(&clipped, SIZE_MAX / 2);
    utf8_append_clipped(&clipped, strings_text(&r->code.strings, (string_id){ id }),
                        HELD_NAME_BYTES_MAX);
    if (!clipped.failed)
        *ret = arena_copy(arena, buf_slice(&clipped));
    buf_free(&clipped);
    return ret->ptr != NULL;
}

enum vrs_status names_sum_end(const struct names_sum *sum, struct arena *arena,
                              struct held_names *ret, struct vrs_error *err)
{
    const struct named_tensors *n = &sum->r->named;
    struct held_names made = { .shown = sum->shown,
                               .alike = !sum->differ,
                               .count = sum->count,
                               .bytes = sum->bytes };
    *ret = made;
    if (sum->shown == 0)
        return VRS_OK;
    made.at = arena_array(arena, struct held_name, sum->shown);
    if (made.at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < sum->shown; i++) {
        uint32_t row = sum->row[i];
        struct held_name *name = &made.at[i];
        name->kind = named_kind_names[n->kind[row]];
        name->bytes = n->bytes[row];
        name->requested_bytes = sum->r->allocations.size[n->allocation[row]];
        if (!keep_text(sum->r, n->name[row], arena, &name->name) ||
            !keep_text(sum->r, n->dtype[row], arena, &name->dtype) ||
            !keep_text(sum->r, n->shape[row], arena, &name->shape))
            return vrs_no_memory(err);
    }
    *ret = made;
    return VRS_OK;
}

static bool copy_text(str *text, struct arena *arena)
{
    if (text->ptr == NULL)
        return true;
    *text = arena_copy(arena, *text);
    return text->ptr != NULL;
}

enum vrs_status held_names_keep(const struct held_names *from, struct arena *arena,
                                struct held_names *ret, struct vrs_error *err)
{
    struct held_names kept = *from;
    kept.at = arena_array(arena, struct held_name, from->shown);
    if (kept.at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->shown; i++) {
        struct held_name *name = &kept.at[i];
        *name = from->at[i];
        if (!copy_text(&name->name, arena) || !copy_text(&name->dtype, arena) ||
            !copy_text(&name->shape, arena))
            return vrs_no_memory(err);
    }
    *ret = kept;
    return VRS_OK;
}
