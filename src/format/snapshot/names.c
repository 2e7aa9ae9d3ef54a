/* names.c - the key "vramscope": what the recorded process said of its memory and its recorder.
 *
 * Nothing in it changes what the rest of the file means.  An entry that names nothing is left out,
 * a member of a wrong type is unknown, and both are counted apart from those of the rest. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "format/snapshot/build.h"
#include "format/snapshot/builder.h"
#include "format/snapshot/keys.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* Texts made of lists are for people. */
enum { DIMENSIONS_MAX = 64, SHARED_BYTES_MAX = 1024 };

/* The value of a key of the dict at hand; NULL: not given. */
static const struct value *member(const struct builder *b, enum key key)
{
    const struct fields *f = &b->fields;
    bool given = (f->present >> key & 1) != 0 && f->value[key].tag != TAG_NONE;
    return given ? &f->value[key] : NULL;
}

static void note_flaw(struct builder *b, enum named_flaw flaw)
{
    b->r->named_facts.flaws[flaw]++;
}

static uint32_t text_of(struct builder *b, enum key key)
{
    const struct value *v = member(b, key);
    if (v == NULL)
        return 0;
    if (v->tag != TAG_STRING)
        note_flaw(b, FLAW_MEMBER);
    return v->tag == TAG_STRING ? v->row : 0;
}

static enum named_kind kind_of_name(struct builder *b)
{
    switch (text_of(b, KEY_KIND)) {
    case VALUE_PARAMETER:
        return NAMED_PARAMETER;
    case VALUE_BUFFER:
        return NAMED_BUFFER;
    case VALUE_GRADIENT:
        return NAMED_GRADIENT;
    case VALUE_OPTIMIZER_STATE:
        return NAMED_OPTIMIZER_STATE;
    default:
        return NAMED_TENSOR;
    }
}

/* Appends one item of a list to a text; false where it is not of the list's kind. */
typedef bool append_item(struct builder *b, struct buf *to, struct value item);

static bool append_extent(struct builder *b, struct buf *to, struct value item)
{
    uint64_t extent;
    (void)b;
    if (!value_size(item, &extent))
        return false;
    if (to->len > 0)
        buf_text(to, " x ");
    buf_u64(to, extent);
    return true;
}

static bool append_name(struct builder *b, struct buf *to, struct value item)
{
    if (item.tag != TAG_STRING)
        return false;
    if (to->len > SHARED_BYTES_MAX)
        return true;
    if (to->len > 0)
        buf_text(to, ", ");
    utf8_append_clipped(to, strings_text(&b->r->code.strings, (string_id){ item.row }),
                        SHARED_BYTES_MAX);
    return true;
}

/* A pair is what two numbers in a tuple became. */
static bool append_pair(struct builder *b, struct buf *to, uint32_t pool)
{
    struct value first = { .tag = TAG_INT, .bits = b->r->pools.first[pool] };
    struct value second = { .tag = TAG_INT, .bits = b->r->pools.second[pool] };
    return append_extent(b, to, first) && append_extent(b, to, second);
}

static bool append_list(struct builder *b, struct value v, append_item *append, struct buf *to)
{
    uint32_t items = 0;
    if (v.tag == TAG_PAIR && append == append_extent)
        return append_pair(b, to, v.row);
    if (v.tag != TAG_LIST)
        return is_empty_list(v);
    for (const struct link *l = chain_first(b, v.row); l != NULL; l = link_next(b, l))
        if (items++ >= DIMENSIONS_MAX || !append(b, to, l->value))
            return false;
    return true;
}

/* A list as one text; 0: not given. */
static enum vrs_status list_text(struct builder *b, enum key key, append_item *append, str empty,
                                 uint32_t *ret, struct vrs_error *err)
{
    const struct value *v = member(b, key);
    string_id id = { 0 };
    *ret = 0;
    if (v == NULL)
        return VRS_OK;
    struct buf text;
    buf_init(&text, (size_t)SHARED_BYTES_MAX * 4);
    enum vrs_status status = VRS_OK;
    if (!append_list(b, *v, append, &text))
        note_flaw(b, FLAW_MEMBER);
    else if (text.failed)
        status = vrs_no_memory(err);
    else
        status = build_intern(b, text.len == 0 ? empty : buf_slice(&text), &id, err);
    buf_free(&text);
    *ret = id.n;
    return status;
}

/* What an entry must say to name anything at all. */
struct claim {
    uint64_t device, address, bytes;
    uint32_t name;
};

static bool claim_of(struct builder *b, struct claim *ret)
{
    const struct value *device = member(b, KEY_DEVICE), *address = member(b, KEY_ADDRESS);
    const struct value *bytes = member(b, KEY_BYTES), *name = member(b, KEY_NAME);
    if (device == NULL || address == NULL || bytes == NULL || name == NULL ||
        name->tag != TAG_STRING || name->row == 0)
        return false;
    ret->name = name->row;
    return value_size(*device, &ret->device) && value_u64(*address, &ret->address) &&
           !value_negative(*address) && value_size(*bytes, &ret->bytes) &&
           ret->device < DEVICES_MAX && ret->bytes != 0 && ret->address != 0 &&
           ret->address != UNKNOWN_U64;
}

enum vrs_status named_make(struct builder *b, struct value *ret, struct vrs_error *err)
{
    struct named_tensors *n = &b->r->named;
    struct claim claim;
    uint32_t shape, shared;
    *ret = (struct value){ .tag = TAG_JUNK };
    if (!claim_of(b, &claim))
        return VRS_OK;
    TRY(list_text(b, KEY_SHAPE, append_extent, S("scalar"), &shape, err));
    TRY(list_text(b, KEY_SHARED, append_name, S(""), &shared, err));
    if (!table_reserve(n, &named_kind, 1))
        return build_no_room(b, n->rows.len, n->rows.max, "names", err);
    uint32_t row = n->rows.len++;
    n->device[row] = (uint32_t)claim.device;
    n->address[row] = claim.address;
    n->bytes[row] = claim.bytes;
    n->kind[row] = (uint8_t)kind_of_name(b);
    n->name[row] = claim.name;
    n->shape[row] = shape;
    n->dtype[row] = text_of(b, KEY_DTYPE);
    n->owner[row] = text_of(b, KEY_OF);
    n->shared[row] = shared;
    n->standing[row] = NAMED_NOWHERE;
    n->allocation[row] = NO_ROW;
    *ret = row_value(TAG_NAMED, row);
    return VRS_OK;
}

/* The value of a key in a kept dict; none: not there. */
static struct value map_get(const struct builder *b, struct value map, enum key key)
{
    struct value found = { .tag = TAG_NONE };
    for (const struct link *l = map.tag == TAG_MAP ? chain_first(b, map.row) : NULL; l != NULL;
         l = link_next(b, l)) {
        uint32_t word = l->value.row;
        l = link_next(b, l);
        if (word == key)
            found = l->value;
    }
    return found;
}

/* A number of a kept dict; UNKNOWN_U64: not given, or no number. */
static uint64_t map_number(struct builder *b, struct value map, enum key key, enum named_flaw flaw)
{
    struct value v = map_get(b, map, key);
    uint64_t n;
    if (v.tag == TAG_NONE)
        return UNKNOWN_U64;
    if (value_size(v, &n))
        return n;
    note_flaw(b, flaw);
    return UNKNOWN_U64;
}

/* A dict in a kept dict; none: not given, or no dict. */
static struct value map_map(struct builder *b, struct value map, enum key key, enum named_flaw flaw)
{
    struct value v = map_get(b, map, key);
    if (v.tag != TAG_MAP && v.tag != TAG_NONE)
        note_flaw(b, flaw);
    return v.tag == TAG_MAP ? v : (struct value){ .tag = TAG_NONE };
}

/* The first item of a list in a kept dict; NULL: not given, or no list. */
static const struct link *map_list(struct builder *b, struct value map, enum key key,
                                   enum named_flaw flaw)
{
    struct value v = map_get(b, map, key);
    if (v.tag == TAG_LIST)
        return chain_first(b, v.row);
    if (v.tag != TAG_NONE && !is_empty_list(v))
        note_flaw(b, flaw);
    return NULL;
}

/* The rows that stand in the list, in its order, and no others; each once. */
static enum vrs_status keep_listed(struct builder *b, const struct link *listed,
                                   struct vrs_error *err)
{
    struct named_tensors *n = &b->r->named;
    u32_vec row = { .max = n->rows.len };
    enum vrs_status status = VRS_OK;
    for (const struct link *l = listed; l != NULL && status == VRS_OK; l = link_next(b, l)) {
        if (l->value.tag != TAG_NAMED || row.len >= row.max)
            note_flaw(b, FLAW_ENTRY);
        else if (!vec_push(&row, l->value.row))
            status = vrs_no_memory(err);
    }
    if (status == VRS_OK && !table_gather(n, &named_kind, row.at, row.len))
        status = vrs_no_memory(err);
    vec_free(&row);
    return status;
}

static enum vrs_status push_step(struct builder *b, struct value step, struct vrs_error *err)
{
    struct step_marks *m = &b->r->step_marks;
    uint64_t before = b->r->named_facts.flaws[FLAW_STEPS];
    uint64_t index = map_number(b, step, KEY_INDEX, FLAW_STEPS);
    if (index == UNKNOWN_U64) {
        b->r->named_facts.flaws[FLAW_STEPS] = before + 1;
        return VRS_OK;
    }
    if (!table_reserve(m, &step_marks_kind, 1))
        return build_no_room(b, m->rows.len, m->rows.max, "steps", err);
    uint32_t row = m->rows.len++;
    m->index[row] = index;
    m->event[row] = map_number(b, step, KEY_EVENT, FLAW_STEPS);
    m->time_us[row] = map_number(b, step, KEY_TIME_US, FLAW_STEPS);
    return VRS_OK;
}

/* Whether the program is said to have begun the recording; of others there is nothing to say. */
static bool is_foreign(struct builder *b, struct value extra)
{
    struct value recorder = map_map(b, extra, KEY_RECORDER, FLAW_RECORDER);
    struct value by = map_get(b, recorder, KEY_BEGUN_BY);
    if (by.tag != TAG_STRING && by.tag != TAG_NONE)
        note_flaw(b, FLAW_RECORDER);
    return by.tag == TAG_STRING && by.row == VALUE_PROGRAM;
}

/* The key's value where it is of this version, which is noted where it is not. */
static struct value known_version(struct builder *b, struct value value)
{
    struct named_facts *facts = &b->r->named_facts;
    struct value schema = map_get(b, value, KEY_SCHEMA);
    if (schema.tag == TAG_STRING && schema.row == VALUE_EXTRA_1)
        return value;
    /* What was met while the file was read may mean anything, or stands somewhere else. */
    for (uint32_t i = 0; i < FLAWS; i++)
        facts->flaws[i] = 0;
    if (schema.tag == TAG_STRING)
        facts->schema = (string_id){ schema.row };
    else if (value.tag != TAG_NONE)
        note_flaw(b, FLAW_KEY);
    return (struct value){ .tag = TAG_NONE };
}

enum vrs_status assemble_names(struct builder *b, struct value value, struct vrs_error *err)
{
    struct named_facts *facts = &b->r->named_facts;
    struct value extra = known_version(b, value);
    struct value names = map_map(b, extra, KEY_NAMES, FLAW_NAMES);
    facts->listed = names.tag == TAG_MAP;
    facts->time_us = map_number(b, names, KEY_TIME_US, FLAW_MEMBER);
    facts->dropped = map_number(b, names, KEY_DROPPED, FLAW_MEMBER);
    facts->foreign_recorder = is_foreign(b, extra);
    TRY(keep_listed(b, map_list(b, names, KEY_TENSORS, FLAW_TENSORS), err));
    for (const struct link *l = map_list(b, extra, KEY_STEPS, FLAW_STEPS); l != NULL;
         l = link_next(b, l))
        TRY(push_step(b, l->value, err));
    return VRS_OK;
}
