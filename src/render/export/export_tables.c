/* export_tables.c - what stands in each cell. */
#include "render/export/export_tables.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curve_steps.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/study/held_names.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/named.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

/* Cells. */

static struct cell none(void)
{
    return (struct cell){ .kind = CELL_NONE };
}

static struct cell number(uint64_t value)
{
    return (struct cell){ .kind = CELL_UNSIGNED, .number = value };
}

static struct cell number_signed(int64_t value)
{
    return (struct cell){ .kind = CELL_SIGNED, .number = (uint64_t)value };
}

static struct cell known(uint64_t value)
{
    return value == UNKNOWN_U64 ? none() : number(value);
}

/* An event that is not one of the device's is none. */
static struct cell event_of(int64_t event, uint32_t events)
{
    return event < 0 || event >= events ? none() : number_signed(event);
}

static struct cell row_or_none(uint32_t row)
{
    return row == NO_ROW ? none() : number(row);
}

/* Row 0 of the interned tables. */
static struct cell id_or_none(uint32_t id)
{
    return id == 0 ? none() : number(id);
}

static struct cell yes_or_no(bool value)
{
    return (struct cell){ .kind = CELL_BOOL, .number = value };
}

/* An empty text is one, too. */
static struct cell text(str value)
{
    return (struct cell){ .kind = CELL_TEXT, .text = value.ptr == NULL ? S("") : value };
}

static struct cell word(const char *value)
{
    return text(str_from(value));
}

static struct cell string(const struct exporting *e, uint32_t id)
{
    return id == 0 ? none() : text(strings_text(&e->r->code.strings, (string_id){ id }));
}

/* "0,0", as PyTorch numbers pools. */
static struct cell pool_of(const struct exporting *e, uint32_t pool, struct buf *words)
{
    if (pool == 0)
        return none();
    words->len = 0;
    buf_format(words, "%llu,%llu", (unsigned long long)e->r->pools.first[pool],
               (unsigned long long)e->r->pools.second[pool]);
    return words->failed ? none() : text(buf_slice(words));
}

static struct cell stream_of(const struct exporting *e, uint32_t row)
{
    return row < e->r->streams.rows.len ? number(e->r->streams.handle[row]) : none();
}

/* The two lines shown for a stack; none where it has no stack. */
static enum vrs_status put_names(struct exporting *e, uint32_t stack, struct cell *culprit,
                                 struct cell *owner, struct vrs_error *err)
{
    struct stack_names names;
    *culprit = *owner = none();
    if (stack == 0)
        return VRS_OK;
    TRY(naming_of(e->naming, (stack_id){ stack }, &names, err));
    *culprit = text(names.culprit);
    *owner = text(names.owner);
    return VRS_OK;
}

/* What the recorded process called the memory, which has row `row` of named; NO_ROW: nothing. */
#define TENSOR_COLUMNS                                                                             \
    { "tensor_name", true, false }, { "tensor_kind", true, false },                                \
        { "tensor_bytes", false, false }, { "tensor_dtype", true, false },                         \
    {                                                                                              \
        "tensor_shape", true, false                                                                \
    }

static void put_tensor(const struct exporting *e, uint32_t row, struct cell *c)
{
    const struct named_tensors *n = &e->r->named;
    bool has = row != NO_ROW;
    *c++ = has ? string(e, n->name[row]) : none();
    *c++ = has ? word(named_kind_names[n->kind[row]]) : none();
    *c++ = has ? number(n->bytes[row]) : none();
    *c++ = has ? string(e, n->dtype[row]) : none();
    *c++ = has ? string(e, n->shape[row]) : none();
}

/* Devices. */

static const struct export_column device_columns[] = {
    { "device", false, false },       { "kind", true, false },
    { "events", false, false },       { "allocations", false, false },
    { "segments", false, false },     { "blocks", false, false },
    { "orphan_frees", false, false }, { "double_allocs", false, false },
    { "blocks_exact", false, false },
};

static uint32_t device_rows(const struct exporting *e, const struct export_device *d)
{
    (void)e;
    (void)d;
    return 1;
}

static enum vrs_status device_row(struct exporting *e, struct export_device *d, uint32_t row,
                                  struct buf *words, struct cell *c, struct vrs_error *err)
{
    const struct devices *v = &e->r->devices;
    (void)row;
    (void)words;
    (void)err;
    *c++ = number_signed(d->number);
    *c++ = word(v->kind[d->row] == DEVICE_CUDA ? "cuda" : "host");
    *c++ = number(v->events[d->row]);
    *c++ = number(v->allocations[d->row]);
    *c++ = number(v->segments[d->row]);
    *c++ = number(v->blocks[d->row]);
    *c++ = number(v->orphan_frees[d->row]);
    *c++ = number(v->double_allocs[d->row]);
    *c++ = yes_or_no(d->tracks_exact);
    return VRS_OK;
}

/* Allocations. */

static const struct export_column allocation_columns[] = {
    { "device", false, false },
    { "allocation", false, false },
    { "origin", true, false },
    { "address", false, false },
    { "bytes", false, false },
    { "block_bytes", false, false },
    { "block_source", true, false },
    { "stream", false, false },
    { "pool", true, false },
    { "alloc_event", false, false },
    { "free_requested_event", false, false },
    { "free_completed_event", false, false },
    { "stack", false, false },
    { "free_stack", false, false },
    { "culprit", true, true },
    { "owner", true, true },
    { "category", true, false },
    { "confidence", true, false },
    { "rule", true, false },
    { "undecided", false, false },
    TENSOR_COLUMNS,
};

static uint32_t allocation_rows(const struct exporting *e, const struct export_device *d)
{
    (void)e;
    return d->lifetimes.count;
}

/* Of the first event or block that knows it. */
static uint64_t address_of(const struct recording *r, uint32_t allocation)
{
    const struct allocations *a = &r->allocations;
    uint32_t event = a->alloc_event[allocation];
    if (event == NO_ROW)
        event = a->free_requested_event[allocation];
    if (event == NO_ROW)
        event = a->free_completed_event[allocation];
    if (event != NO_ROW)
        return r->events.address[event];
    uint32_t block = a->block[allocation];
    return block == NO_ROW ? UNKNOWN_U64 : r->blocks.address[block];
}

/* Its event's, else its final segment's; NO_ROW of contexts is none. */
static uint32_t pool_of_allocation(const struct recording *r, uint32_t allocation)
{
    uint32_t event = r->allocations.alloc_event[allocation];
    uint32_t block = r->allocations.block[allocation];
    uint32_t pool = event == NO_ROW ? 0 : r->contexts.pool[r->events.context[event]];
    if (pool == 0 && block != NO_ROW)
        pool = r->segments.pool[r->blocks.segment[block]];
    return pool;
}

static void put_category(const struct export_categories *known, uint32_t row, struct cell *c)
{
    for (uint32_t i = 0; i < 4; i++)
        c[i] = none();
    if (known->of == NULL)
        return;
    c[0] = word(category_names[known->of[row]]);
    if (known->confidence[row] != CONFIDENCE_NONE)
        c[1] = word(confidence_names[known->confidence[row]]);
    c[2] = word(known->rule_names[known->rule[row]]);
    c[3] = yes_or_no(known->undecided[row]);
}

static enum vrs_status allocation_row(struct exporting *e, struct export_device *d, uint32_t row,
                                      struct buf *words, struct cell *c, struct vrs_error *err)
{
    static const char *const origins[] = { "traced", "pre_freed", "pre_live" };
    static const char *const sources[] = { "block", "replayed", "rounded" };
    const struct lifetime *l = &d->lifetimes.at[row];
    uint32_t allocation = e->r->devices.first_allocation[d->row] + row;
    struct block_size block = block_of(d->steps.sizes, allocation);
    uint32_t events = e->r->devices.events[d->row];
    *c++ = number_signed(d->number);
    *c++ = number(row);
    *c++ = word(origins[l->origin]);
    *c++ = known(address_of(e->r, allocation));
    *c++ = known(e->r->allocations.size[allocation]);
    *c++ = number(block.bytes);
    *c++ = word(sources[block.source]);
    *c++ = stream_of(e, allocation_stream(e->r, allocation));
    *c++ = pool_of(e, pool_of_allocation(e->r, allocation), words);
    *c++ = event_of(l->birth, events);
    *c++ = event_of(l->requested, events);
    *c++ = event_of(l->freed, events);
    *c++ = id_or_none(l->alloc_stack.n);
    *c++ = id_or_none(l->free_stack.n);
    put_category(&d->categories, row, c + 2);
    put_tensor(e, named_find(e->r, allocation), c + 6);
    return put_names(e, l->alloc_stack.n, c, c + 1, err);
}

/* Events. */

static const struct export_column event_columns[] = {
    { "device", false, false },       { "event", false, false },
    { "action", true, false },        { "address", false, false },
    { "bytes", false, false },        { "device_free_bytes", false, false },
    { "stream", false, false },       { "pool", true, false },
    { "time_us", false, false },      { "allocation", false, false },
    { "stack", false, false },        { "compile_context", true, false },
    { "user_metadata", true, false }, { "category", true, false },
    { "culprit", true, true },        { "owner", true, true },
};

static uint32_t event_rows(const struct exporting *e, const struct export_device *d)
{
    return e->r->devices.events[d->row];
}

static struct cell action_of(const struct exporting *e, uint32_t event)
{
    uint8_t action = e->r->events.action[event];
    if (action != ACTION_OTHER)
        return word(event_action_names[action]);
    return string(e, e->r->contexts.action[e->r->events.context[event]]);
}

static enum vrs_status event_row(struct exporting *e, struct export_device *d, uint32_t row,
                                 struct buf *words, struct cell *c, struct vrs_error *err)
{
    const struct events *v = &e->r->events;
    const struct contexts *x = &e->r->contexts;
    uint32_t event = e->r->devices.first_event[d->row] + row, context = v->context[event];
    bool oom = v->action[event] == ACTION_OOM;
    *c++ = number_signed(d->number);
    *c++ = number(row);
    *c++ = action_of(e, event);
    *c++ = oom ? none() : known(v->address[event]);
    *c++ = known(v->size[event]);
    *c++ = oom ? known(v->address[event]) : none();
    *c++ = stream_of(e, v->stream[event]);
    *c++ = pool_of(e, x->pool[context], words);
    *c++ = known(v->time_us[event]);
    *c++ = row_or_none(event_allocation(&d->steps, row));
    *c++ = id_or_none(v->stack[event]);
    *c++ = string(e, x->compile_context[context]);
    *c++ = string(e, x->user_metadata[context]);
    *c++ = string(e, x->category[context]);
    return put_names(e, v->stack[event], c, c + 1, err);
}

/* Curves: the start as event -1, then the bytes after each event. */

static const struct export_column curve_columns[] = {
    { "device", false, false },          { "event", false, false },
    { "time_us", false, false },         { "requested_bytes", false, false },
    { "allocated_bytes", false, false }, { "active_bytes", false, false },
    { "reserved_bytes", false, false },
};

static uint32_t curve_rows(const struct exporting *e, const struct export_device *d)
{
    return e->r->devices.events[d->row] + 1;
}

static enum vrs_status curve_row(struct exporting *e, struct export_device *d, uint32_t row,
                                 struct buf *words, struct cell *c, struct vrs_error *err)
{
    const uint64_t *bytes = d->steps.bytes;
    (void)words;
    (void)err;
    if (row == 0)
        curve_steps_restart(&d->steps);
    else
        curve_steps_next(&d->steps);
    assert(d->steps.next == row);
    *c++ = number_signed(d->number);
    *c++ = number_signed((int64_t)row - 1);
    *c++ = row == 0 ? none() : known(e->r->events.time_us[d->steps.first + row - 1]);
    *c++ = number_signed((int64_t)bytes[CURVE_REQUESTED]);
    *c++ = number_signed((int64_t)bytes[CURVE_ALLOCATED]);
    *c++ = number_signed((int64_t)bytes[CURVE_ACTIVE]);
    *c++ = number_signed((int64_t)bytes[CURVE_RESERVED]);
    return VRS_OK;
}

/* The final state: segments and blocks. */

static const struct export_column segment_columns[] = {
    { "device", false, false },
    { "segment", false, false },
    { "address", false, false },
    { "total_bytes", false, false },
    { "allocated_bytes", false, false },
    { "active_bytes", false, false },
    { "requested_bytes", false, false },
    { "stream", false, false },
    { "pool", true, false },
    { "size_class", true, false },
    { "expandable", false, false },
    { "blocks", false, false },
    { "stack", false, false },
};

static uint32_t segment_rows(const struct exporting *e, const struct export_device *d)
{
    return e->r->devices.segments[d->row];
}

static enum vrs_status segment_row(struct exporting *e, struct export_device *d, uint32_t row,
                                   struct buf *words, struct cell *c, struct vrs_error *err)
{
    static const char *const classes[] = {
        [CLASS_UNKNOWN] = NULL, [CLASS_SMALL] = "small", [CLASS_LARGE] = "large"
    };
    const struct segments *s = &e->r->segments;
    uint32_t i = e->r->devices.first_segment[d->row] + row;
    const char *name = classes[s->size_class[i]];
    (void)err;
    *c++ = number_signed(d->number);
    *c++ = number(row);
    *c++ = known(s->address[i]);
    *c++ = known(s->total_size[i]);
    *c++ = known(s->allocated_size[i]);
    *c++ = known(s->active_size[i]);
    *c++ = known(s->requested_size[i]);
    *c++ = stream_of(e, s->stream[i]);
    *c++ = pool_of(e, s->pool[i], words);
    *c++ = name == NULL ? none() : word(name);
    *c++ = yes_or_no(s->expandable[i] != 0);
    *c++ = number(s->blocks[i]);
    *c++ = id_or_none(s->stack[i]);
    return VRS_OK;
}

static const struct export_column block_columns[] = {
    { "device", false, false },
    { "segment", false, false },
    { "block", false, false },
    { "address", false, false },
    { "bytes", false, false },
    { "requested_bytes", false, false },
    { "state", true, false },
    { "stack", false, false },
    { "culprit", true, true },
    { "owner", true, true },
    TENSOR_COLUMNS,
};

/* Row of named, or NO_ROW. */
static uint32_t named_of_block(const struct exporting *e, uint32_t block)
{
    bool has = e->name_of_block != NULL && e->name_of_block[block] != 0;
    return has ? e->name_of_block[block] - 1 : NO_ROW;
}

static uint32_t block_rows(const struct exporting *e, const struct export_device *d)
{
    return e->r->devices.blocks[d->row];
}

static enum vrs_status block_row(struct exporting *e, struct export_device *d, uint32_t row,
                                 struct buf *words, struct cell *c, struct vrs_error *err)
{
    static const char *const states[] = {
        [BLOCK_UNKNOWN] = NULL,
        [BLOCK_ALLOCATED] = "active_allocated",
        [BLOCK_PENDING] = "active_pending_free",
        [BLOCK_INACTIVE] = "inactive",
    };
    const struct blocks *b = &e->r->blocks;
    uint32_t i = e->r->devices.first_block[d->row] + row;
    const char *state = states[b->state[i]];
    (void)words;
    *c++ = number_signed(d->number);
    *c++ = number(b->segment[i] - e->r->devices.first_segment[d->row]);
    *c++ = number(row);
    *c++ = known(b->address[i]);
    *c++ = known(b->size[i]);
    *c++ = known(b->requested_size[i]);
    *c++ = state == NULL ? none() : word(state);
    *c++ = id_or_none(b->stack[i]);
    put_tensor(e, named_of_block(e, i), c + 2);
    return put_names(e, b->stack[i], c, c + 1, err);
}

/* Stacks: those that something carries, all of them as a tree of callers, and their frames. */

static const struct export_column site_columns[] = {
    { "stack", false, false },
    { "frames", false, false },
    { "culprit", true, false },
    { "owner", true, false },
};

static uint32_t site_rows(const struct exporting *e, const struct export_device *d)
{
    (void)d;
    return e->used_count;
}

static enum vrs_status site_row(struct exporting *e, struct export_device *d, uint32_t row,
                                struct buf *words, struct cell *c, struct vrs_error *err)
{
    uint32_t stack = e->used[row];
    (void)d;
    (void)words;
    *c++ = number(stack);
    *c++ = number(stacks_depth(&e->r->code.stacks, (stack_id){ stack }));
    return put_names(e, stack, c, c + 1, err);
}

static const struct export_column stack_columns[] = {
    { "stack", false, false },  { "caller", false, false }, { "frame", false, false },
    { "function", true, true }, { "file", true, true },     { "line", false, true },
};

static uint32_t stack_rows(const struct exporting *e, const struct export_device *d)
{
    (void)d;
    return e->r->code.stacks.rows.len - 1;
}

static void put_frame(const struct exporting *e, uint32_t frame, struct cell *c)
{
    struct frame f = frames_get(&e->r->code.frames, (frame_id){ frame });
    c[0] = string(e, f.name.n);
    c[1] = string(e, f.file.n);
    c[2] = f.line == NO_LINE ? none() : number(f.line);
}

static enum vrs_status stack_row(struct exporting *e, struct export_device *d, uint32_t row,
                                 struct buf *words, struct cell *c, struct vrs_error *err)
{
    const struct stacks *s = &e->r->code.stacks;
    (void)d;
    (void)words;
    (void)err;
    *c++ = number(row + 1);
    *c++ = id_or_none(s->caller[row + 1]);
    *c++ = number(s->frame[row + 1]);
    put_frame(e, s->frame[row + 1], c);
    return VRS_OK;
}

static const struct export_column frame_columns[] = {
    { "frame", false, false }, { "function", true, false }, { "file", true, false },
    { "line", false, false },  { "class", true, false },
};

static uint32_t frame_rows(const struct exporting *e, const struct export_device *d)
{
    (void)d;
    return e->r->code.frames.rows.len - 1;
}

static enum vrs_status frame_row(struct exporting *e, struct export_device *d, uint32_t row,
                                 struct buf *words, struct cell *c, struct vrs_error *err)
{
    static const char *const classes[] = {
        [FRAME_NATIVE] = "native",   [FRAME_TORCH] = "torch", [FRAME_GENERATED] = "generated",
        [FRAME_LIBRARY] = "library", [FRAME_STD] = "std",     [FRAME_USER] = "user",
    };
    (void)d;
    (void)words;
    (void)err;
    *c++ = number(row + 1);
    put_frame(e, row + 1, c);
    c[3] = word(classes[naming_class(e->naming, (frame_id){ row + 1 })]);
    return VRS_OK;
}

/* Annotations and settings. */

static const struct export_column mark_columns[] = {
    { "mark", false, false },   { "name", true, false },     { "stage", true, false },
    { "device", false, false }, { "time_us", false, false },
};

static uint32_t mark_rows(const struct exporting *e, const struct export_device *d)
{
    (void)d;
    return e->r->marks.rows.len;
}

static enum vrs_status mark_row(struct exporting *e, struct export_device *d, uint32_t row,
                                struct buf *words, struct cell *c, struct vrs_error *err)
{
    const struct marks *m = &e->r->marks;
    (void)d;
    (void)words;
    (void)err;
    *c++ = number(row);
    *c++ = string(e, m->name[row]);
    *c++ = word(m->stage[row] == STAGE_START ? "start" : "end");
    *c++ = row_or_none(m->device[row]);
    *c++ = known(m->time_us[row]);
    return VRS_OK;
}

static const struct export_column setting_columns[] = {
    { "name", true, false },
    { "type", true, false },
    { "value", true, false },
};

static uint32_t setting_rows(const struct exporting *e, const struct export_device *d)
{
    (void)d;
    return e->r->settings.rows.len;
}

static enum vrs_status setting_row(struct exporting *e, struct export_device *d, uint32_t row,
                                   struct buf *words, struct cell *c, struct vrs_error *err)
{
    static const char *const types[] = { [SETTING_INT] = "int",
                                         [SETTING_FLOAT] = "float",
                                         [SETTING_BOOL] = "bool",
                                         [SETTING_TEXT] = "text" };
    const struct settings *s = &e->r->settings;
    (void)d;
    (void)err;
    words->len = 0;
    if (s->type[row] == SETTING_INT)
        buf_format(words, "%lld", (long long)s->integer[row]);
    else if (s->type[row] == SETTING_FLOAT)
        buf_real(words, s->real[row], 17);
    else if (s->type[row] == SETTING_BOOL)
        buf_text(words, s->integer[row] != 0 ? "true" : "false");
    else
        buf_str(words, strings_text(&e->r->code.strings, (string_id){ s->text[row] }));
    *c++ = string(e, s->name[row]);
    *c++ = word(types[s->type[row]]);
    *c++ = words->failed ? none() : text(buf_slice(words));
    return VRS_OK;
}

/* All of them. */

#define COLUMNS(of) of##_columns, sizeof of##_columns / sizeof *of##_columns
const struct export_kind export_kinds[EXPORT_TABLES] = {
    [EXPORT_DEVICES] = { "devices", COLUMNS(device), true, device_rows, device_row },
    [EXPORT_ALLOCATIONS] = { "allocations", COLUMNS(allocation), true, allocation_rows,
                             allocation_row },
    [EXPORT_EVENTS] = { "events", COLUMNS(event), true, event_rows, event_row },
    [EXPORT_CURVES] = { "curves", COLUMNS(curve), true, curve_rows, curve_row },
    [EXPORT_SEGMENTS] = { "segments", COLUMNS(segment), true, segment_rows, segment_row },
    [EXPORT_BLOCKS] = { "blocks", COLUMNS(block), true, block_rows, block_row },
    [EXPORT_SITES] = { "sites", COLUMNS(site), false, site_rows, site_row },
    [EXPORT_STACKS] = { "stacks", COLUMNS(stack), false, stack_rows, stack_row },
    [EXPORT_FRAMES] = { "frames", COLUMNS(frame), false, frame_rows, frame_row },
    [EXPORT_MARKS] = { "marks", COLUMNS(mark), false, mark_rows, mark_row },
    [EXPORT_SETTINGS] = { "settings", COLUMNS(setting), false, setting_rows, setting_row },
};

static enum vrs_status device_part(struct exporting *e, const struct export_kind *kind,
                                   struct export_device *d, struct buf *words, export_take *take,
                                   void *arg, struct vrs_error *err)
{
    struct cell cell[EXPORT_COLUMNS_MAX];
    uint32_t rows = kind->rows(e, d);
    assert(kind->columns <= EXPORT_COLUMNS_MAX);
    for (uint32_t i = 0; i < rows; i++) {
        TRY(kind->row(e, d, i, words, cell, err));
        if (words->failed)
            return vrs_no_memory(err);
        TRY(take(arg, kind, cell, err));
    }
    return VRS_OK;
}

enum vrs_status export_rows(struct exporting *e, enum export_table table, export_take *take,
                            void *arg, struct vrs_error *err)
{
    const struct export_kind *kind = &export_kinds[table];
    enum vrs_status status = VRS_OK;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    if (!kind->of_device)
        status = device_part(e, kind, NULL, &words, take, arg, err);
    for (uint32_t i = 0; kind->of_device && i < e->devices && status == VRS_OK; i++)
        status = device_part(e, kind, &e->device[i], &words, take, arg, err);
    buf_free(&words);
    return status;
}
