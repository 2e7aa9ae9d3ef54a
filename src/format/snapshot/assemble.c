/* assemble.c - puts the rows of a recording into their final order.
 *
 * Rows were made as their dicts closed; now the top value says which of them belong to which
 * device, segment and trace.  Files as PyTorch writes them are in order already, and then nothing
 * is moved. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "format/snapshot/build.h"
#include "format/snapshot/builder.h"
#include "format/snapshot/keys.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

/* The rows that a table shall hold, in order.  As long as they are 0, 1, 2, … only their number
 * is kept. */
struct order {
    u32_vec row;
    uint32_t len; /* rows so far */
    bool moved;   /* they are in `row` */
    uint32_t max; /* rows of the table: none may be used twice */
};

static enum vrs_status order_add(struct builder *b, struct order *o, uint32_t first, uint32_t count,
                                 struct vrs_error *err)
{
    if (count > o->max - o->len)
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "a list, or an item of one, stands in two places that cannot share it; "
                           "is this a memory snapshot?");
    if (!o->moved && first != o->len) {
        if (!vec_reserve(&o->row, o->len))
            return vrs_no_memory(err);
        for (uint32_t i = 0; i < o->len; i++)
            o->row.at[i] = i;
        o->row.len = o->len;
        o->moved = true;
    }
    if (o->moved) {
        if (!vec_reserve(&o->row, count))
            return vrs_no_memory(err);
        for (uint32_t i = 0; i < count; i++)
            o->row.at[o->row.len++] = first + i;
    }
    o->len += count;
    return VRS_OK;
}

static uint32_t order_row(const struct order *o, uint32_t i)
{
    return o->moved ? o->row.at[i] : i;
}

/* Makes the table hold just these rows, and forgets the order. */
static enum vrs_status order_apply(struct order *o, void *table, const struct table_kind *kind,
                                   struct vrs_error *err)
{
    struct table *t = table;
    bool ok = true;
    if (o->moved)
        ok = table_gather(table, kind, o->row.at, o->len);
    else
        t->len = o->len;
    vec_free(&o->row);
    return ok ? VRS_OK : vrs_no_memory(err);
}

static struct order order_of(const struct table *t)
{
    return (struct order){ .row.max = UINT32_MAX, .max = t->len };
}

/* Adds the records of a list to an order; counts what stands there and is none. */
static enum vrs_status add_list(struct builder *b, struct value list, enum tag tag, enum key key,
                                struct order *o, struct vrs_error *err)
{
    bool empty = list.tag == TAG_NONE || is_empty_list(list);
    if (list.tag != TAG_LIST)
        return empty ? VRS_OK : record_tally(b, TALLY_WRONG_TYPE, (string_id){ key }, err);
    for (const struct link *l = chain_first(b, list.row); l != NULL; l = link_next(b, l)) {
        if (l->value.tag != tag)
            TRY(record_tally(b, TALLY_WRONG_TYPE, (string_id){ key }, err));
        else
            TRY(order_add(b, o, l->value.row, l->value.count, err));
    }
    return VRS_OK;
}

/* What is known of each device before it has a row; index = number. */
struct outline {
    uint32_t first_segment, segments;
    uint32_t first_event, events;
    bool traced, trace_whole;
};
typedef VEC(struct outline) outline_vec;

static enum vrs_status outline_reserve(struct builder *b, outline_vec *o, uint32_t devices,
                                       struct vrs_error *err)
{
    if (devices > DEVICES_MAX)
        return vrs_fail_at(err, VRS_LIMIT, b->offset,
                           "more than %d devices; is this a memory snapshot?", DEVICES_MAX);
    if (o->len >= devices)
        return VRS_OK;
    if (!vec_reserve(o, devices - o->len))
        return vrs_no_memory(err);
    memset(o->at + o->len, 0, (devices - o->len) * sizeof *o->at);
    o->len = devices;
    return VRS_OK;
}

/* Counts the segments of each device and says where each device's begin, from `first` on. */
static enum vrs_status count_segments(struct builder *b, const struct order *listed,
                                      outline_vec *devices, uint32_t first, struct vrs_error *err)
{
    const uint32_t *device = b->r->segments.device;
    for (uint32_t i = 0; i < listed->len; i++) {
        uint32_t number = device[order_row(listed, i)];
        TRY(outline_reserve(b, devices, number + 1, err));
        devices->at[number].segments++;
    }
    for (uint32_t d = 0; d < devices->len; d++) {
        devices->at[d].first_segment = first;
        first += devices->at[d].segments;
    }
    return VRS_OK;
}

/* The segments of `list`, those of one device side by side and else as in the file. */
static enum vrs_status order_segments(struct builder *b, struct value list, enum key key,
                                      outline_vec *devices, struct order *all,
                                      struct vrs_error *err)
{
    struct order listed = order_of(&b->r->segments.rows);
    u32_vec sorted = { .max = UINT32_MAX };
    uint32_t first = all->len;
    enum vrs_status status = add_list(b, list, TAG_SEGMENT, key, &listed, err);
    if (status == VRS_OK)
        status = count_segments(b, &listed, devices, first, err);
    if (status == VRS_OK && !vec_reserve(&sorted, listed.len))
        status = vrs_no_memory(err);
    for (uint32_t i = 0; i < listed.len && status == VRS_OK; i++) {
        uint32_t row = order_row(&listed, i);
        struct outline *o = &devices->at[b->r->segments.device[row]];
        sorted.at[o->first_segment++ - first] = row;
    }
    for (uint32_t i = 0; i < listed.len && status == VRS_OK; i++)
        status = order_add(b, all, sorted.at[i], 1, err);
    for (uint32_t d = 0; d < devices->len && status == VRS_OK; d++)
        devices->at[d].first_segment -= devices->at[d].segments;
    vec_free(&listed.row);
    vec_free(&sorted);
    return status;
}

/* The events of a trace, noted in the outline of device `number`. */
static enum vrs_status order_trace(struct builder *b, struct value trace, enum key key,
                                   outline_vec *devices, uint32_t number, struct order *all,
                                   struct vrs_error *err)
{
    TRY(outline_reserve(b, devices, number + 1, err));
    struct outline *o = &devices->at[number];
    o->traced = true;
    o->first_event = all->len;
    TRY(add_list(b, trace, TAG_EVENT, key, all, err));
    o->events = all->len - o->first_event;
    return VRS_OK;
}

/* All traces of a list of lists; a plain list of events is the trace of device 0. */
static enum vrs_status order_traces(struct builder *b, struct value traces, enum key key,
                                    uint32_t part, outline_vec *devices, struct order *all,
                                    struct vrs_error *err)
{
    bool empty = traces.tag == TAG_NONE || is_empty_list(traces);
    if (traces.tag != TAG_LIST)
        return empty ? VRS_OK : record_tally(b, TALLY_WRONG_TYPE, (string_id){ key }, err);
    const struct link *first = chain_first(b, traces.row);
    if (first != NULL && first->value.tag == TAG_EVENT)
        return order_trace(b, traces, key, devices, 0, all, err);
    uint32_t number = 0;
    for (const struct link *l = first; l != NULL; l = link_next(b, l), number++) {
        TRY(order_trace(b, l->value, key, devices, number, all, err));
        devices->at[number].trace_whole = number != part;
    }
    return VRS_OK;
}

static enum vrs_status push_device(struct builder *b, enum device_kind kind, uint32_t number,
                                   const struct outline *o, uint8_t parts, struct vrs_error *err)
{
    struct devices *d = &b->r->devices;
    if (!table_reserve(d, &devices_kind, 1))
        return vrs_no_memory(err);
    uint32_t row = d->rows.len++;
    for (uint32_t i = 0; i < devices_kind.columns; i++) {
        /* Columns that pairing fills start at zero. */
        const struct column *c = &devices_kind.column[i];
        char **at = (char **)(void *)((char *)d + c->offset);
        memset(*at + row * column_width(c->type), 0, column_width(c->type));
    }
    d->kind[row] = (uint8_t)kind;
    d->number[row] = number;
    d->parts[row] = parts;
    d->first_segment[row] = o->first_segment;
    d->segments[row] = o->segments;
    d->first_event[row] = o->first_event;
    d->events[row] = o->events;
    return VRS_OK;
}

/* Rows of devices for those of the outline that hold anything. */
static enum vrs_status push_devices(struct builder *b, enum device_kind kind,
                                    const outline_vec *outlines, const struct top *top,
                                    struct vrs_error *err)
{
    for (uint32_t n = 0; n < outlines->len; n++) {
        const struct outline *o = &outlines->at[n];
        if (o->segments == 0 && o->events == 0)
            continue;
        bool trace_whole = o->traced ? top->traces_whole || o->trace_whole : top->traces_whole;
        uint8_t parts = 0;
        parts |= top->segments_whole ? PART_SEGMENTS : 0;
        parts |= trace_whole ? PART_TRACE : 0;
        parts |= top->segments_whole && trace_whole ? PART_ANCHOR : 0;
        TRY(push_device(b, kind, n, o, parts, err));
        for (uint32_t s = 0; s < o->segments; s++)
            b->r->segments.device[o->first_segment + s] = b->r->devices.rows.len - 1;
    }
    return VRS_OK;
}

static void add_up_addresses(struct blocks *k, uint64_t base, uint32_t first, uint32_t count)
{
    uint64_t at = base;
    for (uint32_t i = first; i < first + count; i++) {
        if (k->address[i] == UNKNOWN_U64)
            k->address[i] = at;
        else
            at = k->address[i];
        if (at != UNKNOWN_U64 && k->size[i] != UNKNOWN_U64)
            at += k->size[i];
    }
}

/* Blocks in the order of their segments, which are in theirs already. */
static enum vrs_status place_blocks(struct builder *b, const struct order *segments,
                                    struct vrs_error *err)
{
    struct recording *r = b->r;
    struct order o = order_of(&r->blocks.rows);
    enum vrs_status status = VRS_OK;
    for (uint32_t s = 0; s < segments->len && status == VRS_OK; s++) {
        uint32_t chain = b->segment_blocks.at[order_row(segments, s)];
        uint32_t first = o.len;
        struct value list = { .tag = chain == 0 ? TAG_NONE : TAG_LIST, .row = chain };
        status = add_list(b, list, TAG_BLOCK, KEY_BLOCKS, &o, err);
        r->segments.first_block[order_row(segments, s)] = first;
        r->segments.blocks[order_row(segments, s)] = o.len - first;
    }
    if (status != VRS_OK) {
        vec_free(&o.row);
        return status;
    }
    return order_apply(&o, &r->blocks, &blocks_kind, err);
}

static void link_blocks(struct recording *r)
{
    for (uint32_t s = 0; s < r->segments.rows.len; s++) {
        uint32_t first = r->segments.first_block[s], count = r->segments.blocks[s];
        for (uint32_t i = first; i < first + count; i++)
            r->blocks.segment[i] = s;
        add_up_addresses(&r->blocks, r->segments.address[s], first, count);
    }
    struct devices *d = &r->devices;
    for (uint32_t i = 0; i < d->rows.len; i++) {
        if (d->segments[i] == 0)
            continue;
        uint32_t last = d->first_segment[i] + d->segments[i] - 1;
        d->first_block[i] = r->segments.first_block[d->first_segment[i]];
        d->blocks[i] = r->segments.first_block[last] + r->segments.blocks[last] - d->first_block[i];
    }
}

/* Labels that nightlies of mid-2024 wrote as events: START or END is the name of the one fake
 * frame, the label its file. */
static enum vrs_status marks_of_events(struct builder *b, struct vrs_error *err)
{
    struct recording *r = b->r;
    struct marks *m = &r->marks;
    for (uint32_t d = 0; d < r->devices.rows.len; d++) {
        uint32_t first = r->devices.first_event[d];
        for (uint32_t e = first; e < first + r->devices.events[d]; e++) {
            if (r->events.action[e] != ACTION_USER_DEFINED || r->events.stack[e] == 0)
                continue;
            struct frame frame = frames_get(
                &r->code.frames, stacks_frame(&r->code.stacks, (stack_id){ r->events.stack[e] }));
            if (frame.name.n != VALUE_START && frame.name.n != VALUE_END)
                continue;
            if (!table_reserve(m, &marks_kind, 1))
                return build_no_room(b, m->rows.len, m->rows.max, "annotations", err);
            uint32_t row = m->rows.len++;
            m->name[row] = frame.file.n;
            m->stage[row] = frame.name.n == VALUE_START ? STAGE_START : STAGE_END;
            m->device[row] = r->devices.number[d];
            m->time_us[row] = r->events.time_us[e];
        }
    }
    return VRS_OK;
}

/* Settings. */

static enum vrs_status push_setting(struct builder *b, str name, struct value v,
                                    struct vrs_error *err)
{
    struct settings *s = &b->r->settings;
    string_id id;
    TRY(build_intern(b, name, &id, err));
    if (!table_reserve(s, &settings_kind, 1))
        return build_no_room(b, s->rows.len, s->rows.max, "settings", err);
    uint32_t row = s->rows.len++;
    s->name[row] = id.n;
    s->integer[row] = v.tag == TAG_INT || v.tag == TAG_BOOL ? (int64_t)v.bits : 0;
    s->real[row] = v.tag == TAG_FLOAT ? v.real : 0;
    s->text[row] = v.tag == TAG_STRING ? v.row : 0;
    s->type[row] = v.tag == TAG_INT     ? SETTING_INT
                   : v.tag == TAG_FLOAT ? SETTING_FLOAT
                   : v.tag == TAG_BOOL  ? SETTING_BOOL
                                        : SETTING_TEXT;
    return VRS_OK;
}

static bool scalar(struct value v)
{
    return v.tag == TAG_STRING || v.tag == TAG_BOOL || v.tag == TAG_INT || v.tag == TAG_FLOAT;
}

/* Of a setting that is a list, as many as there can be devices are kept; names are shown, and many
 * entries share the outer one. */
enum { SETTINGS_IN_ONE_MAX = 4096, SETTING_NAME_MAX = 240 };

/* A value, or the scalars of a dict or list of them, as "name", "name.key", "name.0". */
static enum vrs_status push_settings(struct builder *b, str name, struct value v,
                                     struct vrs_error *err)
{
    if (scalar(v))
        return push_setting(b, name, v, err);
    if (v.tag != TAG_MAP && v.tag != TAG_LIST)
        return VRS_OK;
    struct buf full;
    buf_init(&full, (size_t)SETTING_NAME_MAX * 4);
    enum vrs_status status = VRS_OK;
    uint32_t index = 0;
    for (const struct link *l = chain_first(b, v.row);
         l != NULL && status == VRS_OK && index < SETTINGS_IN_ONE_MAX;
         l = link_next(b, l), index++) {
        full.len = 0;
        utf8_append_clipped(&full, name, SETTING_NAME_MAX);
        buf_char(&full, '.');
        if (v.tag == TAG_LIST) {
            buf_u64(&full, index);
        } else {
            utf8_append_clipped(&full,
                                strings_text(&b->r->code.strings, (string_id){ l->value.row }),
                                SETTING_NAME_MAX);
            l = link_next(b, l);
        }
        if (full.failed)
            status = vrs_no_memory(err);
        else if (scalar(l->value))
            status = push_setting(b, buf_slice(&full), l->value, err);
    }
    buf_free(&full);
    return status;
}

static enum vrs_status flatten_settings(struct builder *b, const struct top *top,
                                        struct vrs_error *err)
{
    if (top->settings.tag != TAG_MAP && top->settings.tag != TAG_NONE)
        TRY(record_tally(b, TALLY_WRONG_TYPE, (string_id){ KEY_ALLOCATOR_SETTINGS }, err));
    uint32_t chain = top->settings.tag == TAG_MAP ? top->settings.row : 0;
    struct arena names;
    arena_init(&names, SIZE_MAX);
    enum vrs_status status = VRS_OK;
    for (const struct link *l = chain_first(b, chain); l != NULL && status == VRS_OK;
         l = link_next(b, l)) {
        /* A copy: interning may move the strings. */
        str name =
            arena_copy(&names, strings_text(&b->r->code.strings, (string_id){ l->value.row }));
        l = link_next(b, l);
        status = name.ptr == NULL ? vrs_no_memory(err) : push_settings(b, name, l->value, err);
    }
    arena_free(&names);
    TRY(status);
    TRY(push_settings(b, S("trace_alloc_overflowed"), top->overflowed, err));
    return push_settings(b, S("trace_alloc_max_entries"), top->max_entries, err);
}

/* Segments and events of one kind of device. */
static enum vrs_status outline_kind(struct builder *b, const struct top *top, enum device_kind kind,
                                    outline_vec *devices, struct order *segments,
                                    struct order *events, struct vrs_error *err)
{
    bool host = kind == DEVICE_HOST;
    TRY(order_segments(b, host ? top->host_segments : top->segments,
                       host ? KEY_HOST_SEGMENTS : KEY_SEGMENTS, devices, segments, err));
    return order_traces(b, host ? top->host_traces : top->traces,
                        host ? KEY_HOST_TRACES : KEY_DEVICE_TRACES, host ? NO_ROW : top->part_trace,
                        devices, events, err);
}

static enum vrs_status place_rows(struct builder *b, const struct top *top, outline_vec *cuda,
                                  outline_vec *host, struct order *segments, struct order *events,
                                  struct vrs_error *err)
{
    struct recording *r = b->r;
    TRY(outline_kind(b, top, DEVICE_CUDA, cuda, segments, events, err));
    TRY(outline_kind(b, top, DEVICE_HOST, host, segments, events, err));
    TRY(place_blocks(b, segments, err));
    TRY(order_apply(segments, &r->segments, &segments_kind, err));
    TRY(order_apply(events, &r->events, &events_kind, err));
    TRY(push_devices(b, DEVICE_CUDA, cuda, top, err));
    return push_devices(b, DEVICE_HOST, host, top, err);
}

/* A dict is what its keys say; one that is too large, or a tuple, is TAG_JUNK. */
static bool may_be_dict(struct value v)
{
    return is_record(v.tag) || v.tag == TAG_FRAME || v.tag == TAG_MAP || v.tag == TAG_TOP ||
           v.tag == TAG_JUNK || v.tag == TAG_NAMED;
}

/* Whether this can be a list of records: one dict is enough, the items beside it are counted. */
static bool may_list_dicts(const struct builder *b, struct value list)
{
    if (list.tag != TAG_LIST)
        return list.tag == TAG_NONE || list.tag == TAG_STACK;
    const struct link *first = chain_first(b, list.row), *l = first;
    while (l != NULL && !may_be_dict(l->value))
        l = link_next(b, l);
    return first == NULL || l != NULL;
}

/* Whether this can be a list of traces, or one trace. */
static bool may_list_traces(const struct builder *b, struct value traces)
{
    if (may_list_dicts(b, traces))
        return true;
    bool others = traces.tag != TAG_LIST;
    for (const struct link *l = others ? NULL : chain_first(b, traces.row); l != NULL;
         l = link_next(b, l)) {
        bool list = l->value.tag == TAG_LIST || l->value.tag == TAG_STACK;
        bool trace = list && may_list_dicts(b, l->value);
        if (trace && !is_empty_list(l->value))
            return true;
        others = others || !trace;
    }
    return !others;
}

/* A dict that has the keys of a snapshot and nothing of one behind them. */
static enum vrs_status check_top(const struct builder *b, const struct top *top,
                                 struct vrs_error *err)
{
    bool segments = may_list_dicts(b, top->segments);
    if (segments && may_list_traces(b, top->traces))
        return VRS_OK;
    uint32_t at = segments ? top->traces_at : top->segments_at;
    return vrs_fail_at(err, VRS_UNSUPPORTED, at == UINT32_MAX ? b->offset : at,
                       "not a memory snapshot: %s; torch.cuda.memory._dump_snapshot writes one",
                       segments ? "device_traces is no list of lists of dicts"
                                : "segments is no list of dicts");
}

enum vrs_status assemble(struct builder *b, const struct top *top, struct vrs_error *err)
{
    TRY(check_top(b, top, err));
    struct recording *r = b->r;
    struct order segments = order_of(&r->segments.rows), events = order_of(&r->events.rows),
                 notes = order_of(&r->marks.rows);
    outline_vec cuda = { .max = DEVICES_MAX }, host = { .max = DEVICES_MAX };
    enum vrs_status status = place_rows(b, top, &cuda, &host, &segments, &events, err);
    vec_free(&cuda);
    vec_free(&host);
    vec_free(&segments.row);
    vec_free(&events.row);
    TRY(status);
    link_blocks(r);

    status = add_list(b, top->annotations, TAG_NOTE, KEY_EXTERNAL_ANNOTATIONS, &notes, err);
    if (status == VRS_OK)
        status = order_apply(&notes, &r->marks, &marks_kind, err);
    vec_free(&notes.row);
    TRY(status);
    TRY(marks_of_events(b, err));
    TRY(flatten_settings(b, top, err));
    TRY(assemble_names(b, top->extra, err));
    for (uint32_t i = 0; i < recording_table_count; i++)
        table_trim((char *)r + recording_tables[i].offset, recording_tables[i].kind);
    return VRS_OK;
}
