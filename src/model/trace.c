/* trace.c - the tables of a trace, column by column. */
#include "model/trace.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "model/memory_timeline.h"
#include "model/strings.h"

const char *span_kind_name(enum span_kind kind)
{
    static const char *const names[SPAN_KINDS] = {
        [SPAN_KERNEL] = "kernel",
        [SPAN_MEMCPY] = "memcpy",
        [SPAN_MEMSET] = "memset",
        [SPAN_OP] = "op",
        [SPAN_ANNOTATION] = "annotation",
        [SPAN_RUNTIME] = "runtime",
        [SPAN_DRIVER] = "driver",
        [SPAN_PYTHON] = "python",
        [SPAN_GPU_ANNOTATION] = "gpu_annotation",
        [SPAN_SYNC] = "sync",
        [SPAN_CUDA_EVENT] = "cuda_event",
        [SPAN_OVERHEAD] = "overhead",
        [SPAN_WINDOW] = "span",
        [SPAN_OTHER] = "other",
    };
    return names[kind];
}

const char *const trace_damage_names[TRACE_DAMAGES] = {
    [DAMAGE_NO_TIME] = "no_time",           [DAMAGE_NEGATIVE] = "negative_duration",
    [DAMAGE_NO_DURATION] = "no_duration",   [DAMAGE_RANGE] = "time_beyond_range",
    [DAMAGE_NOT_AN_EVENT] = "not_an_event", [DAMAGE_TRUNCATED] = "truncated",
    [DAMAGE_BEHIND] = "behind_the_end",     [DAMAGE_CHECKSUM] = "checksum",
    [DAMAGE_PACKED_BYTES] = "packed_bytes", [DAMAGE_ESCAPE] = "unknown_escape",
    [DAMAGE_CONTROL] = "control_character", [DAMAGE_UTF8] = "not_utf8",
    [DAMAGE_QUOTE] = "unescaped_quote",     [DAMAGE_COMMA] = "comma",
    [DAMAGE_WORD] = "not_a_value",          [DAMAGE_NESTED] = "nested_too_deep",
    [DAMAGE_LONG] = "event_too_long",       [DAMAGE_SKIPPED] = "skipped",
    [DAMAGE_ZEROS] = "zero_times",          [DAMAGE_NOT_A_ROW] = "not_a_row",
    [DAMAGE_UNORDERED] = "out_of_order",
};

static const struct column tracks_columns[] = {
    { "pid", offsetof(struct tracks, pid), COLUMN_I64 },
    { "tid", offsetof(struct tracks, tid), COLUMN_I64 },
    { "pid_form", offsetof(struct tracks, pid_form), COLUMN_U8 },
    { "tid_form", offsetof(struct tracks, tid_form), COLUMN_U8 },
    { "process", offsetof(struct tracks, process), COLUMN_U32 },
};
const struct table_kind tracks_kind = { "tracks", tracks_columns, 5 };

static const struct column processes_columns[] = {
    { "pid", offsetof(struct processes, pid), COLUMN_I64 },
    { "pid_form", offsetof(struct processes, pid_form), COLUMN_U8 },
    { "name", offsetof(struct processes, name), COLUMN_U32 },
    { "labels", offsetof(struct processes, labels), COLUMN_U32 },
};
const struct table_kind processes_kind = { "processes", processes_columns, 4 };

static const struct column spans_columns[] = {
    { "start", offsetof(struct spans, start), COLUMN_I64 },
    { "duration", offsetof(struct spans, duration), COLUMN_I64 },
    { "index", offsetof(struct spans, index), COLUMN_U32 },
    { "kind", offsetof(struct spans, kind), COLUMN_U8 },
    { "name", offsetof(struct spans, name), COLUMN_U32 },
    { "category", offsetof(struct spans, category), COLUMN_U32 },
    { "track", offsetof(struct spans, track), COLUMN_U32 },
    { "external", offsetof(struct spans, external), COLUMN_I64 },
    { "correlation", offsetof(struct spans, correlation), COLUMN_I64 },
    { "external_form", offsetof(struct spans, external_form), COLUMN_U8 },
    { "correlation_form", offsetof(struct spans, correlation_form), COLUMN_U8 },
    { "bytes", offsetof(struct spans, bytes), COLUMN_I64 },
    { "shapes", offsetof(struct spans, shapes), COLUMN_U32 },
    { "sequence", offsetof(struct spans, sequence), COLUMN_U32 },
    { "forward_thread", offsetof(struct spans, forward_thread), COLUMN_U16 },
};
const struct table_kind spans_kind = { "spans", spans_columns, 15 };

static const struct column stacks_columns[] = {
    { "span", offsetof(struct span_stacks, span), COLUMN_U32 },
    { "text", offsetof(struct span_stacks, text), COLUMN_U32 },
};
const struct table_kind span_stacks_kind = { "stacks", stacks_columns, 2 };

static const struct column flows_columns[] = {
    { "time", offsetof(struct flows, time), COLUMN_I64 },
    { "finish", offsetof(struct flows, finish), COLUMN_U8 },
    { "category", offsetof(struct flows, category), COLUMN_U32 },
    { "track", offsetof(struct flows, track), COLUMN_U32 },
    { "id", offsetof(struct flows, id), COLUMN_I64 },
    { "id_form", offsetof(struct flows, id_form), COLUMN_U8 },
};
const struct table_kind flows_kind = { "flows", flows_columns, 6 };

static const struct column memory_columns[] = {
    { "time", offsetof(struct memory_events, time), COLUMN_I64 },
    { "index", offsetof(struct memory_events, index), COLUMN_U32 },
    { "track", offsetof(struct memory_events, track), COLUMN_U32 },
    { "device_type", offsetof(struct memory_events, device_type), COLUMN_I64 },
    { "device_number", offsetof(struct memory_events, device_number), COLUMN_I64 },
    { "bytes", offsetof(struct memory_events, bytes), COLUMN_I64 },
    { "total_allocated", offsetof(struct memory_events, total_allocated), COLUMN_I64 },
    { "total_reserved", offsetof(struct memory_events, total_reserved), COLUMN_I64 },
    { "address", offsetof(struct memory_events, address), COLUMN_U64 },
};
const struct table_kind memory_events_kind = { "memory", memory_columns, 9 };

static const struct column phases_columns[] = {
    { "text", offsetof(struct phases, text), COLUMN_U32 },
    { "count", offsetof(struct phases, count), COLUMN_U64 },
};
const struct table_kind phases_kind = { "phases", phases_columns, 2 };

static const struct column listed_columns[] = {
    { "number", offsetof(struct listed_devices, number), COLUMN_I64 },
    { "name", offsetof(struct listed_devices, name), COLUMN_U32 },
    { "bytes", offsetof(struct listed_devices, bytes), COLUMN_I64 },
    { "major", offsetof(struct listed_devices, major), COLUMN_I64 },
    { "minor", offsetof(struct listed_devices, minor), COLUMN_I64 },
    { "multiprocessors", offsetof(struct listed_devices, multiprocessors), COLUMN_I64 },
};
const struct table_kind listed_devices_kind = { "listed_devices", listed_columns, 6 };

static const struct trace_header no_header = {
    .base_ns = TRACE_UNKNOWN,
    .cut_at = TRACE_UNKNOWN,
    .rank = TRACE_UNKNOWN,
    .world_size = TRACE_UNKNOWN,
};

bool trace_init(struct trace *t, uint32_t items, uint32_t strings_bytes)
{
    *t = (struct trace){
        .tracks.rows.max = items,
        .processes.rows.max = items,
        .spans.rows.max = items,
        .stacks.rows.max = items,
        .flows.rows.max = items,
        .memory.rows.max = items,
        .phases.rows.max = items,
        .devices.rows.max = items,
        .timeline.rows.max = items,
        .header = no_header,
    };
    return strings_init(&t->strings, strings_bytes) &&
           strings_init(&t->stacks.texts, TRACE_STACKS_BYTES);
}

void trace_free(struct trace *t)
{
    strings_free(&t->strings);
    strings_free(&t->stacks.texts);
    table_free(&t->tracks, &tracks_kind);
    table_free(&t->processes, &processes_kind);
    table_free(&t->spans, &spans_kind);
    table_free(&t->stacks, &span_stacks_kind);
    table_free(&t->flows, &flows_kind);
    table_free(&t->memory, &memory_events_kind);
    table_free(&t->phases, &phases_kind);
    table_free(&t->devices, &listed_devices_kind);
    table_free(&t->timeline, &memory_timeline_kind);
    idtab_free(&t->track_index);
    idtab_free(&t->process_index);
}

void trace_damaged(struct trace *t, enum trace_damage kind, uint64_t offset)
{
    if (t->damage[kind].count++ == 0)
        t->damage[kind].first_offset = offset;
}

void trace_clear(struct trace *t)
{
    trace_clear_events(t);
    t->devices.rows.len = 0;
    t->header = no_header;
    t->read_bytes = 0;
    strings_clear(&t->strings);
    strings_clear(&t->stacks.texts);
}

void trace_clear_events(struct trace *t)
{
    t->tracks.rows.len = t->processes.rows.len = 0;
    t->spans.rows.len = t->flows.rows.len = t->memory.rows.len = t->phases.rows.len = 0;
    t->stacks.rows.len = 0;
    idtab_free(&t->track_index);
    idtab_free(&t->process_index);
    struct trace_header *h = &t->header;
    h->times_integer = h->times_other = h->times_missing = h->out_of_memory = 0;
    h->stacks_left_out = 0;
    h->has_shapes = false;
    memset(t->damage, 0, sizeof t->damage);
    t->events = 0;
    t->skipped_bytes = 0;
}

bool trace_process(struct trace *t, struct trace_id pid, uint32_t *ret)
{
    struct processes *p = &t->processes;
    struct idtab *index = &t->process_index;
    uint64_t hash = hash_pair((uint64_t)pid.value, pid.form);
    if (!idtab_reserve(index) || !table_reserve(p, &processes_kind, 1))
        return false;
    for (uint32_t at = idtab_first(index, hash); index->slot[at].id != 0;
         at = idtab_next(index, hash, at)) {
        uint32_t row = index->slot[at].id - 1;
        if (p->pid[row] == pid.value && p->pid_form[row] == pid.form) {
            *ret = row;
            return true;
        }
    }
    *ret = p->rows.len++;
    p->pid[*ret] = pid.value;
    p->pid_form[*ret] = pid.form;
    p->name[*ret] = p->labels[*ret] = 0;
    idtab_put(index, hash, *ret + 1);
    return true;
}

bool trace_track(struct trace *t, struct trace_id pid, struct trace_id tid, uint32_t *ret)
{
    struct tracks *r = &t->tracks;
    struct idtab *index = &t->track_index;
    uint32_t process;
    if (!trace_process(t, pid, &process) || !idtab_reserve(index) ||
        !table_reserve(r, &tracks_kind, 1))
        return false;
    uint64_t hash = hash_pair(hash_pair((uint64_t)tid.value, tid.form), process);
    for (uint32_t at = idtab_first(index, hash); index->slot[at].id != 0;
         at = idtab_next(index, hash, at)) {
        uint32_t row = index->slot[at].id - 1;
        if (r->process[row] == process && r->tid[row] == tid.value &&
            r->tid_form[row] == tid.form) {
            *ret = row;
            return true;
        }
    }
    *ret = r->rows.len++;
    r->pid[*ret] = pid.value;
    r->pid_form[*ret] = pid.form;
    r->tid[*ret] = tid.value;
    r->tid_form[*ret] = tid.form;
    r->process[*ret] = process;
    idtab_put(index, hash, *ret + 1);
    return true;
}

uint32_t span_stack(const struct trace *t, uint32_t span)
{
    const struct span_stacks *s = &t->stacks;
    uint32_t low = 0, high = s->rows.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->span[middle] < span)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->rows.len && s->span[low] == span ? s->text[low] : 0;
}

bool span_stack_next(str *rest, str *ret_frame)
{
    if (rest->len == 0)
        return false;
    size_t end = str_find(*rest, S(";")), behind = end < rest->len ? end + 1 : end;
    *ret_frame = (str){ rest->ptr, end };
    *rest = (str){ rest->ptr + behind, rest->len - behind };
    return true;
}

bool trace_id_copy(const struct trace *t, struct trace_id id, struct arena *arena, str *ret)
{
    char digits[24];
    str text = S("None");
    if (id.form == ID_TEXT) {
        text = trace_text(t, (uint32_t)id.value);
    } else if (id.form == ID_NUMBER) {
        int len = snprintf(digits, sizeof digits, "%lld", (long long)id.value);
        text = (str){ digits, (size_t)len };
    }
    *ret = arena_copy(arena, text);
    return ret->ptr != NULL;
}
