/* records.c - says what a closed dict is by its keys, and makes the row it stands for. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/table.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "format/snapshot/build.h"
#include "format/snapshot/builder.h"
#include "format/snapshot/keys.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* A dict that is no record is kept for the settings, within these bounds. */
enum { MAP_PAIRS_MAX = 64, MAPS_MAX = 1 << 16 };

#define BIT(key) ((uint64_t)1 << (key))

static const uint64_t event_keys =
    BIT(KEY_ACTION) | BIT(KEY_ADDR) | BIT(KEY_SIZE) | BIT(KEY_STREAM) | BIT(KEY_FRAMES) |
    BIT(KEY_TIME_US) | BIT(KEY_DEVICE_FREE) | BIT(KEY_COMPILE_CONTEXT) | BIT(KEY_USER_METADATA) |
    BIT(KEY_INTERNAL_METADATA) | BIT(KEY_POOL_ID) | BIT(KEY_FORWARD_FRAMES) | BIT(KEY_CATEGORY);

static const uint64_t frame_keys = BIT(KEY_FILENAME) | BIT(KEY_LINE) | BIT(KEY_NAME) |
                                   BIT(KEY_FX_NODE_OP) | BIT(KEY_FX_NODE_NAME) |
                                   BIT(KEY_FX_NODE_TARGET) | BIT(KEY_FX_NODE_INFO) |
                                   BIT(KEY_FX_ORIGINAL_TRACE);

static const uint64_t segment_keys =
    BIT(KEY_DEVICE) | BIT(KEY_ADDRESS) | BIT(KEY_TOTAL_SIZE) | BIT(KEY_ALLOCATED_SIZE) |
    BIT(KEY_ACTIVE_SIZE) | BIT(KEY_REQUESTED_SIZE) | BIT(KEY_STREAM) | BIT(KEY_SEGMENT_TYPE) |
    BIT(KEY_SEGMENT_POOL_ID) | BIT(KEY_IS_EXPANDABLE) | BIT(KEY_FRAMES) | BIT(KEY_FORWARD_FRAMES) |
    BIT(KEY_BLOCKS);

static const uint64_t block_keys = BIT(KEY_ADDRESS) | BIT(KEY_SIZE) | BIT(KEY_REQUESTED_SIZE) |
                                   BIT(KEY_STATE) | BIT(KEY_FRAMES) | BIT(KEY_FORWARD_FRAMES) |
                                   BIT(KEY_HISTORY) | BIT(KEY_USER_METADATA) | BIT(KEY_CATEGORY);

static const uint64_t history_keys =
    BIT(KEY_ADDR) | BIT(KEY_REAL_SIZE) | BIT(KEY_FRAMES) | BIT(KEY_CPP_FRAMES);

static const uint64_t note_keys =
    BIT(KEY_NAME) | BIT(KEY_STAGE) | BIT(KEY_DEVICE) | BIT(KEY_TIME_US);

static const uint64_t top_keys =
    BIT(KEY_SEGMENTS) | BIT(KEY_DEVICE_TRACES) | BIT(KEY_ALLOCATOR_SETTINGS) |
    BIT(KEY_EXTERNAL_ANNOTATIONS) | BIT(KEY_HOST_SEGMENTS) | BIT(KEY_HOST_TRACES) |
    BIT(KEY_TRACE_ALLOC_OVERFLOWED) | BIT(KEY_TRACE_ALLOC_MAX_ENTRIES) | BIT(KEY_VRAMSCOPE);

/* What a dict has that names a tensor.  Metadata may have some of these words, hardly all. */
static const uint64_t named_keys =
    BIT(KEY_DEVICE) | BIT(KEY_ADDRESS) | BIT(KEY_BYTES) | BIT(KEY_NAME);

static bool has_all(uint64_t present, uint64_t keys)
{
    return (present & keys) == keys;
}

bool value_u64(struct value v, uint64_t *ret)
{
    /* JSON writers may put an integer as a float; beyond 2^53 it would be another one. */
    const double exact = 9007199254740992.0;
    if (v.tag == TAG_INT) {
        *ret = v.bits;
        return true;
    }
    if (v.tag != TAG_FLOAT || !(v.real >= -exact && v.real <= exact))
        return false;
    int64_t whole = (int64_t)v.real;
    if ((double)whole != v.real)
        return false;
    *ret = (uint64_t)whole;
    return true;
}

bool value_negative(struct value v)
{
    return (v.tag == TAG_INT && (v.flags & VALUE_NEGATIVE) != 0) ||
           (v.tag == TAG_FLOAT && v.real < 0);
}

bool value_size(struct value v, uint64_t *ret)
{
    uint64_t n;
    if (value_negative(v) || !value_u64(v, &n) || n > (uint64_t)1 << 62)
        return false;
    *ret = n;
    return true;
}

enum vrs_status record_tally(struct builder *b, enum tally_kind kind, string_id name,
                             struct vrs_error *err)
{
    return tallies_count(&b->r->tallies, kind, name) ? VRS_OK : vrs_no_memory(err);
}

static void wrong_type(struct builder *b, enum key key)
{
    if (!tallies_count(&b->r->tallies, TALLY_WRONG_TYPE, (string_id){ key }))
        b->no_memory = true;
}

/* Given, and not None, which is as good as absent. */
static bool given(const struct fields *f, enum key key)
{
    return (f->present & BIT(key)) != 0 && f->value[key].tag != TAG_NONE;
}

/* The readers of one field: what is absent leaves `otherwise`, a wrong type is counted too. */

static uint64_t field_u64(struct builder *b, enum key key, uint64_t otherwise)
{
    uint64_t n = otherwise;
    if (given(&b->fields, key) && !value_u64(b->fields.value[key], &n))
        wrong_type(b, key);
    return n;
}

static uint64_t field_size(struct builder *b, enum key key)
{
    uint64_t n = UNKNOWN_U64;
    if (given(&b->fields, key) && !value_size(b->fields.value[key], &n))
        wrong_type(b, key);
    return n;
}

static uint32_t field_row(struct builder *b, enum key key, enum tag tag)
{
    if (!given(&b->fields, key))
        return 0;
    if (b->fields.value[key].tag == tag)
        return b->fields.value[key].row;
    wrong_type(b, key);
    return 0;
}

static string_id field_string(struct builder *b, enum key key)
{
    return (string_id){ field_row(b, key, TAG_STRING) };
}

static stack_id field_stack(struct builder *b, enum key key)
{
    return (stack_id){ field_row(b, key, TAG_STACK) };
}

/* The pool: a tuple of two integers, or a list of them. */
static enum vrs_status field_pool(struct builder *b, enum key key, pool_id *ret,
                                  struct vrs_error *err)
{
    ret->n = 0;
    if (!given(&b->fields, key))
        return VRS_OK;
    struct value v = b->fields.value[key];
    if (v.tag == TAG_PAIR) {
        ret->n = v.row;
        return VRS_OK;
    }
    uint64_t part[2];
    uint32_t parts = 0;
    bool good = v.tag == TAG_LIST && b->chains.at[v.row - 1].links == 2;
    for (const struct link *l = good ? chain_first(b, v.row) : NULL; l != NULL; l = link_next(b, l))
        good = value_u64(l->value, &part[parts++]) && good;
    if (!good)
        wrong_type(b, key);
    else if (!pools_intern(&b->r->pools, part[0], part[1], ret))
        return build_no_room(b, b->r->pools.rows.len, b->r->pools.rows.max, "pools", err);
    return VRS_OK;
}

/* A list of preformatted lines as a stack of frames that are all name. */
static enum vrs_status field_lines(struct builder *b, enum key key, stack_id *ret,
                                   struct vrs_error *err)
{
    ret->n = 0;
    if (!given(&b->fields, key))
        return VRS_OK;
    struct value v = b->fields.value[key];
    if (v.tag == TAG_STACK) {
        ret->n = v.row;
        return VRS_OK;
    }
    b->frames.len = 0;
    bool good = v.tag == TAG_LIST;
    for (const struct link *l = good ? chain_first(b, v.row) : NULL; l != NULL && good;
         l = link_next(b, l)) {
        good = l->value.tag == TAG_STRING;
        frame_id frame;
        if (!good || b->frames.len == b->frames.max)
            continue;
        if (!frames_intern(&b->r->code.frames,
                           (struct frame){ { l->value.row }, { 0 }, NO_LINE, 0 }, &frame) ||
            !vec_push(&b->frames, frame.n))
            return vrs_no_memory(err);
    }
    if (!good) {
        wrong_type(b, key);
        return VRS_OK;
    }
    return build_stack_of(b, b->frames.at, b->frames.len, ret, err);
}

/* Text made of a dict is for people, and many records may share the dict. */
enum { METADATA_BYTES_MAX = 1024 };

/* One key or value of a dict of metadata. */
static void append_scalar(struct buf *to, const struct strings *strings, const struct value *v)
{
    if (v->tag == TAG_STRING)
        utf8_append_clipped(to, strings_text(strings, (string_id){ v->row }), METADATA_BYTES_MAX);
    else if (v->tag == TAG_INT)
        buf_format(to, "%lld", (long long)v->bits);
    else if (v->tag == TAG_FLOAT)
        buf_real(to, v->real, 17);
    else
        buf_text(to, v->tag != TAG_BOOL ? "None" : v->bits ? "True" : "False");
}

/* User metadata is text; a dict of texts becomes "key=value, key=value". */
static enum vrs_status field_metadata(struct builder *b, enum key key, string_id *ret,
                                      struct vrs_error *err)
{
    ret->n = 0;
    if (!given(&b->fields, key))
        return VRS_OK;
    struct value v = b->fields.value[key];
    if (v.tag != TAG_MAP) {
        *ret = field_string(b, key);
        return VRS_OK;
    }
    struct buf text;
    buf_init(&text, (size_t)METADATA_BYTES_MAX * 4);
    bool value = false;
    for (const struct link *l = chain_first(b, v.row); l != NULL && text.len < METADATA_BYTES_MAX;
         l = link_next(b, l)) {
        if (value || text.len != 0)
            buf_text(&text, value ? "=" : ", ");
        append_scalar(&text, &b->r->code.strings, &l->value);
        value = !value;
    }
    enum vrs_status status =
        text.failed ? vrs_no_memory(err) : build_intern(b, buf_slice(&text), ret, err);
    buf_free(&text);
    return status;
}

enum vrs_status build_context(struct builder *b, const struct context *c, uint32_t *ret,
                              struct vrs_error *err)
{
    if (context_equal(*c, b->last_context)) {
        *ret = b->last_context_id.n;
        return VRS_OK;
    }
    context_id id;
    if (!contexts_intern(&b->r->contexts, *c, &id))
        return build_no_room(b, b->r->contexts.rows.len, b->r->contexts.rows.max, "contexts", err);
    b->last_context = *c;
    b->last_context_id = id;
    *ret = id.n;
    return VRS_OK;
}

/* The context of the record at hand. */
static enum vrs_status field_context(struct builder *b, struct context *ret, struct vrs_error *err)
{
    struct context c = { .compile_context = field_string(b, KEY_COMPILE_CONTEXT) };
    if (c.compile_context.n == VALUE_N_A)
        c.compile_context.n = 0;
    TRY(field_metadata(b, KEY_USER_METADATA, &c.user_metadata, err));
    c.internal_metadata = field_string(b, KEY_INTERNAL_METADATA);
    c.category = field_string(b, KEY_CATEGORY);
    TRY(field_pool(b, KEY_POOL_ID, &c.pool, err));
    TRY(field_lines(b, KEY_FORWARD_FRAMES, &c.forward_stack, err));
    *ret = c;
    return VRS_OK;
}

enum vrs_status build_stream(struct builder *b, uint64_t handle, uint16_t *ret,
                             struct vrs_error *err)
{
    struct streams *s = &b->r->streams;
    if (s->rows.len != 0 && handle == b->last_stream) {
        *ret = b->last_stream_row;
        return VRS_OK;
    }
    if (!streams_intern(s, handle, ret)) {
        if (s->rows.len < s->rows.max)
            return vrs_no_memory(err);
        return vrs_fail_at(err, VRS_LIMIT, b->offset,
                           "more than %u different streams; is this a memory snapshot?",
                           s->rows.max);
    }
    b->last_stream = handle;
    b->last_stream_row = *ret;
    return VRS_OK;
}

enum event_action action_of(uint32_t word)
{
    if (word >= VALUE_ALLOC && word <= VALUE_USER_DEFINED) {
        static const uint8_t action[] = {
            ACTION_ALLOC,       ACTION_FREE_REQUESTED, ACTION_FREE_COMPLETED,
            ACTION_FREE,        ACTION_SEGMENT_ALLOC,  ACTION_SEGMENT_FREE,
            ACTION_SEGMENT_MAP, ACTION_SEGMENT_UNMAP,  ACTION_SNAPSHOT,
            ACTION_OOM,         ACTION_ANNOTATE,       ACTION_USER_DEFINED,
        };
        return action[word - VALUE_ALLOC];
    }
    return ACTION_OTHER;
}

static enum vrs_status make_event(struct builder *b, struct value *ret, struct vrs_error *err)
{
    struct events *events = &b->r->events;
    string_id name = field_string(b, KEY_ACTION);
    struct event_row e = { .action = (uint8_t)action_of(name.n) };
    struct context context;
    TRY(field_context(b, &context, err));
    if (e.action == ACTION_OTHER) {
        context.action = name;
        TRY(record_tally(b, TALLY_UNKNOWN_ACTION, name, err));
    }
    /* The C++ writer has device_free under `addr`. */
    bool device_free = e.action == ACTION_OOM && given(&b->fields, KEY_DEVICE_FREE);
    e.address = device_free ? field_size(b, KEY_DEVICE_FREE) : field_u64(b, KEY_ADDR, UNKNOWN_U64);
    e.size = field_size(b, KEY_SIZE);
    e.stack = field_stack(b, KEY_FRAMES).n;
    e.time_us = field_u64(b, KEY_TIME_US, UNKNOWN_U64);
    TRY(build_stream(b, field_u64(b, KEY_STREAM, 0), &e.stream, err));
    TRY(build_context(b, &context, &e.context, err));
    if (!event_append(events, &e))
        return build_no_room(b, events->rows.len, events->rows.max, "events", err);
    *ret = row_value(TAG_EVENT, events->rows.len - 1);
    return VRS_OK;
}

static enum vrs_status make_frame(struct builder *b, struct value *ret, struct vrs_error *err)
{
    struct frame frame = { field_string(b, KEY_NAME), field_string(b, KEY_FILENAME), NO_LINE, 0 };
    uint64_t line = field_u64(b, KEY_LINE, UNKNOWN_U64);
    if (line < NO_LINE)
        frame.line = (uint32_t)line;
    struct fx_node fx = { field_string(b, KEY_FX_NODE_OP), field_string(b, KEY_FX_NODE_NAME),
                          field_string(b, KEY_FX_NODE_TARGET), field_string(b, KEY_FX_NODE_INFO),
                          field_string(b, KEY_FX_ORIGINAL_TRACE) };
    bool any = (fx.op.n | fx.name.n | fx.target.n | fx.info.n | fx.original_trace.n) != 0;
    frame_id id;
    if (any && !fx_nodes_intern(&b->r->code.fx_nodes, fx, &frame.fx))
        return vrs_no_memory(err);
    if (!frames_intern(&b->r->code.frames, frame, &id))
        return build_no_room(b, b->r->code.frames.rows.len, b->r->code.frames.rows.max, "frames",
                             err);
    if (id.n > b->limits->items)
        return build_no_room(b, id.n, b->limits->items, "frames", err);
    *ret = row_value(TAG_FRAME, id.n);
    return VRS_OK;
}

static enum vrs_status make_segment(struct builder *b, struct value *ret, struct vrs_error *err)
{
    struct segments *s = &b->r->segments;
    uint64_t device = field_u64(b, KEY_DEVICE, 0);
    if (device >= DEVICES_MAX)
        return vrs_fail_at(err, VRS_LIMIT, b->offset,
                           "a segment on device %lld, where %d is the highest; is this a memory "
                           "snapshot?",
                           (long long)device, DEVICES_MAX - 1);
    uint16_t stream;
    TRY(build_stream(b, field_u64(b, KEY_STREAM, 0), &stream, err));
    pool_id pool;
    TRY(field_pool(b, KEY_SEGMENT_POOL_ID, &pool, err));
    stack_id forward;
    TRY(field_lines(b, KEY_FORWARD_FRAMES, &forward, err));
    struct value blocks = b->fields.value[KEY_BLOCKS];
    bool some = given(&b->fields, KEY_BLOCKS);
    if (some && blocks.tag != TAG_LIST && !is_empty_list(blocks))
        wrong_type(b, KEY_BLOCKS);
    if (!vec_reserve(&b->segment_blocks, 1) || !table_reserve(s, &segments_kind, 1))
        return build_no_room(b, s->rows.len, s->rows.max, "segments", err);

    string_id size_class = field_string(b, KEY_SEGMENT_TYPE);
    uint32_t row = s->rows.len++;
    s->device[row] = (uint32_t)device;
    s->address[row] = field_u64(b, KEY_ADDRESS, UNKNOWN_U64);
    s->total_size[row] = field_size(b, KEY_TOTAL_SIZE);
    s->allocated_size[row] = field_size(b, KEY_ALLOCATED_SIZE);
    s->active_size[row] = field_size(b, KEY_ACTIVE_SIZE);
    s->requested_size[row] = field_size(b, KEY_REQUESTED_SIZE);
    s->stream[row] = stream;
    s->pool[row] = pool.n;
    s->stack[row] = field_stack(b, KEY_FRAMES).n;
    s->forward_stack[row] = forward.n;
    s->size_class[row] = size_class.n == VALUE_SMALL   ? CLASS_SMALL
                         : size_class.n == VALUE_LARGE ? CLASS_LARGE
                                                       : CLASS_UNKNOWN;
    const struct value *expandable = &b->fields.value[KEY_IS_EXPANDABLE];
    bool yes = given(&b->fields, KEY_IS_EXPANDABLE);
    if (yes && expandable->tag != TAG_BOOL)
        wrong_type(b, KEY_IS_EXPANDABLE);
    s->expandable[row] = yes && expandable->tag == TAG_BOOL && expandable->bits != 0;
    s->first_block[row] = s->blocks[row] = 0;
    b->segment_blocks.at[b->segment_blocks.len++] = some && blocks.tag == TAG_LIST ? blocks.row : 0;
    *ret = row_value(TAG_SEGMENT, row);
    return VRS_OK;
}

static enum block_state state_of(struct builder *b)
{
    switch (field_string(b, KEY_STATE).n) {
    case VALUE_ACTIVE_ALLOCATED:
        return BLOCK_ALLOCATED;
    case VALUE_ACTIVE_PENDING_FREE:
    case VALUE_ACTIVE_AWAITING_FREE:
        return BLOCK_PENDING;
    case VALUE_INACTIVE:
        return BLOCK_INACTIVE;
    default:
        wrong_type(b, KEY_STATE);
        return BLOCK_UNKNOWN;
    }
}

/* The rows of a block's history list, put side by side if they are not. */
static enum vrs_status block_history(struct builder *b, uint32_t *ret_first, uint32_t *ret_count,
                                     struct vrs_error *err)
{
    *ret_first = *ret_count = 0;
    if (!given(&b->fields, KEY_HISTORY))
        return VRS_OK;
    struct value v = b->fields.value[KEY_HISTORY];
    struct history *h = &b->r->history;
    if (is_empty_list(v))
        return VRS_OK;
    const struct link *l = v.tag == TAG_LIST ? chain_first(b, v.row) : NULL;
    if (l == NULL || l->value.tag != TAG_HISTORY) {
        wrong_type(b, KEY_HISTORY);
        return VRS_OK;
    }
    if (l->next == 0) {
        *ret_first = l->value.row;
        *ret_count = l->value.count;
        return VRS_OK;
    }
    *ret_first = h->rows.len;
    for (; l != NULL; l = link_next(b, l))
        for (uint32_t i = 0; l->value.tag == TAG_HISTORY && i < l->value.count; i++) {
            if (!table_reserve(h, &history_kind, 1))
                return build_no_room(b, h->rows.len, h->rows.max, "history entries", err);
            uint32_t from = l->value.row + i, to = h->rows.len++;
            h->address[to] = h->address[from];
            h->real_size[to] = h->real_size[from];
            h->stack[to] = h->stack[from];
            h->cpp_frames[to] = h->cpp_frames[from];
        }
    *ret_count = h->rows.len - *ret_first;
    return VRS_OK;
}

static enum vrs_status make_block(struct builder *b, struct value *ret, struct vrs_error *err)
{
    struct blocks *k = &b->r->blocks;
    struct context carried;
    uint32_t context = 0;
    TRY(field_context(b, &carried, err));
    TRY(build_context(b, &carried, &context, err));
    uint32_t first, histories;
    TRY(block_history(b, &first, &histories, err));
    if (!table_reserve(k, &blocks_kind, 1))
        return build_no_room(b, k->rows.len, k->rows.max, "blocks", err);

    uint32_t row = k->rows.len++;
    k->segment[row] = NO_ROW;
    k->address[row] = field_u64(b, KEY_ADDRESS, UNKNOWN_U64);
    k->size[row] = field_size(b, KEY_SIZE);
    k->requested_size[row] = field_size(b, KEY_REQUESTED_SIZE);
    k->state[row] = (uint8_t)state_of(b);
    k->stack[row] = field_stack(b, KEY_FRAMES).n;
    if (k->stack[row] == 0 && histories != 0)
        k->stack[row] = b->r->history.stack[first];
    k->context[row] = context;
    k->first_history[row] = first;
    k->histories[row] = histories;
    *ret = row_value(TAG_BLOCK, row);
    return VRS_OK;
}

static enum vrs_status make_history(struct builder *b, struct value *ret, struct vrs_error *err)
{
    struct history *h = &b->r->history;
    if (!table_reserve(h, &history_kind, 1))
        return build_no_room(b, h->rows.len, h->rows.max, "history entries", err);
    uint32_t row = h->rows.len++;
    h->address[row] = field_u64(b, KEY_ADDR, UNKNOWN_U64);
    h->real_size[row] = field_size(b, KEY_REAL_SIZE);
    h->stack[row] = field_stack(b, KEY_FRAMES).n;
    h->cpp_frames[row] = field_string(b, KEY_CPP_FRAMES).n;
    *ret = row_value(TAG_HISTORY, row);
    return VRS_OK;
}

static enum vrs_status make_note(struct builder *b, struct value *ret, struct vrs_error *err)
{
    struct marks *m = &b->r->marks;
    uint32_t stage = field_string(b, KEY_STAGE).n;
    if (stage != VALUE_START && stage != VALUE_END) {
        wrong_type(b, KEY_STAGE);
        *ret = (struct value){ .tag = TAG_JUNK };
        return VRS_OK;
    }
    if (!table_reserve(m, &marks_kind, 1))
        return build_no_room(b, m->rows.len, m->rows.max, "annotations", err);
    uint64_t device = field_u64(b, KEY_DEVICE, NO_ROW);
    uint32_t row = m->rows.len++;
    m->name[row] = field_string(b, KEY_NAME).n;
    m->stage[row] = stage == VALUE_START ? STAGE_START : STAGE_END;
    m->device[row] = device < NO_ROW ? (uint32_t)device : NO_ROW;
    m->time_us[row] = field_u64(b, KEY_TIME_US, UNKNOWN_U64);
    *ret = row_value(TAG_NOTE, row);
    return VRS_OK;
}

static enum vrs_status make_top(struct builder *b, struct value *ret, struct vrs_error *err)
{
    static const struct value none = { .tag = TAG_NONE };
    const struct fields *f = &b->fields;
#define FIELD(key) (given(f, key) ? f->value[key] : none)
    struct top top = {
        .segments = FIELD(KEY_SEGMENTS),
        .traces = FIELD(KEY_DEVICE_TRACES),
        .settings = FIELD(KEY_ALLOCATOR_SETTINGS),
        .annotations = FIELD(KEY_EXTERNAL_ANNOTATIONS),
        .host_segments = FIELD(KEY_HOST_SEGMENTS),
        .host_traces = FIELD(KEY_HOST_TRACES),
        .overflowed = FIELD(KEY_TRACE_ALLOC_OVERFLOWED),
        .max_entries = FIELD(KEY_TRACE_ALLOC_MAX_ENTRIES),
        .extra = FIELD(KEY_VRAMSCOPE),
        .segments_whole = true,
        .traces_whole = true,
        .part_trace = NO_ROW,
        .segments_at = UINT32_MAX,
        .traces_at = UINT32_MAX,
    };
#undef FIELD
    if (!vec_push(&b->tops, top))
        return build_no_room(b, b->tops.len, b->tops.max, "snapshots", err);
    *ret = row_value(TAG_TOP, b->tops.len - 1);
    return VRS_OK;
}

/* For messages about the values of a top dict. */
static void note_places(struct top *top, const struct value *pair, uint32_t values)
{
    for (uint32_t i = 0; i < values; i += 2) {
        if (pair[i].tag == TAG_STRING && pair[i].row == KEY_SEGMENTS)
            top->segments_at = pair[i].count;
        if (pair[i].tag == TAG_STRING && pair[i].row == KEY_DEVICE_TRACES)
            top->traces_at = pair[i].count;
    }
}

static bool keepable(const struct value *v)
{
    return v->tag == TAG_STRING || v->tag == TAG_MAP || v->tag == TAG_LIST || v->tag >= TAG_NONE;
}

/* What stands for a value that is not kept, so that it does not look as if it was not given. */
static struct value unwanted(struct value v)
{
    return is_empty_list(v) ? v : (struct value){ .tag = TAG_JUNK };
}

/* The dicts around the list of names, who recorded, and the marks of steps, whose room other dicts,
 * of which each event may have one, cannot take. */
static bool may_be_extra(uint64_t present)
{
    return (present & (BIT(KEY_TENSORS) | BIT(KEY_SCHEMA) | BIT(KEY_BEGUN_BY))) != 0 ||
           has_all(present, BIT(KEY_INDEX) | BIT(KEY_EVENT));
}

static enum vrs_status make_map(struct builder *b, const struct value *pair, uint32_t values,
                                struct value *ret, struct vrs_error *err)
{
    *ret = (struct value){ .tag = TAG_JUNK };
    bool extra = may_be_extra(b->fields.present);
    uint32_t *kept = extra ? &b->extra_maps_kept : &b->maps_kept;
    if (values > MAP_PAIRS_MAX * 2 || *kept >= MAPS_MAX)
        return VRS_OK;
    uint32_t chain = 0;
    for (uint32_t i = 0; i < values; i += 2) {
        bool wanted = keepable(&pair[i + 1]);
        if (pair[i].tag != TAG_STRING || (!wanted && !extra))
            continue;
        TRY(chain_add(b, &chain, pair[i], err));
        TRY(chain_add(b, &chain, wanted ? pair[i + 1] : unwanted(pair[i + 1]), err));
    }
    ++*kept;
    *ret = (struct value){ .tag = TAG_MAP, .row = chain };
    return VRS_OK;
}

/* Sorts the pairs by key into b->fields; returns whether any key is not a word of the format. */
static bool sort_fields(struct builder *b, const struct value *pair, uint32_t values)
{
    struct fields *f = &b->fields;
    bool unknown = false;
    f->present = 0;
    for (uint32_t i = 0; i < values; i += 2) {
        if (pair[i].tag != TAG_STRING || pair[i].row == 0 || pair[i].row >= KEYS) {
            unknown = true;
            continue;
        }
        if (f->present & BIT(pair[i].row))
            b->r->origin.repeated_keys++;
        f->present |= BIT(pair[i].row);
        f->value[pair[i].row] = pair[i + 1];
    }
    return unknown;
}

/* Counts the keys of a record that are not in `known`. */
static enum vrs_status tally_unknown(struct builder *b, const struct value *pair, uint32_t values,
                                     uint64_t known, struct vrs_error *err)
{
    for (uint32_t i = 0; i < values; i += 2) {
        string_id name = { pair[i].tag == TAG_STRING ? pair[i].row : 0 };
        if (name.n == 0 || name.n >= KEYS || !(known & BIT(name.n)))
            TRY(record_tally(b, TALLY_UNKNOWN_KEY, name, err));
    }
    return VRS_OK;
}

struct record_kind {
    uint64_t keys;
    enum vrs_status (*make)(struct builder *b, struct value *ret, struct vrs_error *err);
};

static const struct record_kind *kind_of(uint64_t present)
{
    static const struct record_kind event = { event_keys, make_event },
                                    frame = { frame_keys, make_frame },
                                    segment = { segment_keys, make_segment },
                                    block = { block_keys, make_block },
                                    history = { history_keys, make_history },
                                    note = { note_keys, make_note }, top = { top_keys, make_top };
    if (present & BIT(KEY_ACTION))
        return &event;
    if ((present & BIT(KEY_FILENAME)) && (present & (BIT(KEY_LINE) | BIT(KEY_NAME))))
        return &frame;
    if (present & (BIT(KEY_TOTAL_SIZE) | BIT(KEY_BLOCKS)))
        return &segment;
    if ((present & BIT(KEY_STATE)) && (present & BIT(KEY_SIZE)))
        return &block;
    if (present & BIT(KEY_REAL_SIZE))
        return &history;
    if ((present & BIT(KEY_STAGE)) && (present & BIT(KEY_NAME)))
        return &note;
    if (present & (BIT(KEY_SEGMENTS) | BIT(KEY_DEVICE_TRACES)))
        return &top;
    return NULL;
}

enum vrs_status record_make(struct builder *b, const struct value *pair, uint32_t values,
                            struct value *ret, struct vrs_error *err)
{
    bool unknown = sort_fields(b, pair, values);
    const struct record_kind *kind = kind_of(b->fields.present);
    if (kind == NULL && has_all(b->fields.present, named_keys))
        return named_make(b, ret, err);
    if (kind == NULL)
        return make_map(b, pair, values, ret, err);
    if (unknown || (b->fields.present & ~kind->keys) != 0)
        TRY(tally_unknown(b, pair, values, kind->keys, err));
    TRY(kind->make(b, ret, err));
    if (ret->tag == TAG_TOP)
        note_places(&b->tops.at[ret->row], pair, values);
    if (b->no_memory)
        return vrs_no_memory(err);
    (*b->finished)++;
    return VRS_OK;
}
