/* event.c - which table an event goes to, by its phase, and what its values mean there. */
#include "format/trace/event.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/table.h"
#include "base/utf8.h"
#include "format/trace/microseconds.h"
#include "model/ids.h"
#include "model/strings.h"

static enum vrs_status intern(struct events *e, str text, uint32_t *ret, struct vrs_error *err)
{
    string_id id;
    struct strings *s = &e->trace->strings;
    if (strings_intern(s, text, &id)) {
        *ret = id.n;
        return VRS_OK;
    }
    if (text.len > s->bytes.max - s->bytes.len)
        return vrs_fail(err, VRS_LIMIT,
                        "more than %u bytes of different texts; see --limit strings", s->bytes.max);
    return vrs_no_memory(err);
}

/* Eight bytes from either end of a text, or all that it has, mixed with its length. */
static uint64_t ends_of(str text)
{
    uint64_t first = 0, last = 0;
    uint32_t a = 0, b = 0;
    if (text.len >= sizeof first) {
        memcpy(&first, text.ptr, sizeof first);
        memcpy(&last, text.ptr + text.len - sizeof last, sizeof last);
    } else if (text.len >= sizeof a) {
        memcpy(&a, text.ptr, sizeof a);
        memcpy(&b, text.ptr + text.len - sizeof b, sizeof b);
        first = (uint64_t)a << 32 | b;
    } else if (text.len > 0) {
        first = (uint64_t)(uint8_t)text.ptr[0] << 16 |
                (uint64_t)(uint8_t)text.ptr[text.len / 2] << 8 | (uint8_t)text.ptr[text.len - 1];
    }
    return hash_u64(first ^ (last * 3 + text.len));
}

/* What is not UTF-8 becomes it, and is counted. */
static enum vrs_status mend(struct events *e, str *text, struct vrs_error *err)
{
    trace_damaged(e->trace, DAMAGE_UTF8, e->offset);
    e->text.len = 0;
    utf8_repair(&e->text, *text);
    *text = buf_slice(&e->text);
    return e->text.failed ? vrs_no_memory(err) : VRS_OK;
}

/* What was met lately needs no more than a comparison: it was checked then, and is interned. */
enum vrs_status event_text(struct events *e, str text, uint32_t *ret, struct vrs_error *err)
{
    uint32_t *met = &e->met[ends_of(text) % TEXTS_MET];
    if (str_equal(trace_text(e->trace, *met), text)) {
        *ret = *met;
        return VRS_OK;
    }
    if (!utf8_valid(text)) {
        TRY(mend(e, &text, err));
        return intern(e, text, ret, err);
    }
    TRY(intern(e, text, ret, err));
    *met = *ret;
    return VRS_OK;
}

/* The text of a stack, mostly that of the event before. */
static enum vrs_status stack_text(struct events *e, str text, uint32_t *ret, struct vrs_error *err)
{
    struct strings *s = &e->trace->stacks.texts;
    string_id id;
    *ret = e->stack;
    if (str_equal(strings_text(s, (string_id){ e->stack }), text))
        return VRS_OK;
    if (!utf8_valid(text))
        TRY(mend(e, &text, err));
    if (strings_intern(s, text, &id))
        *ret = e->stack = id.n;
    else if (text.len > s->bytes.max - s->bytes.len)
        *ret = STACK_LEFT_OUT;
    else
        return vrs_no_memory(err);
    return VRS_OK;
}

static bool has_capitals(str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] >= 'A' && text.ptr[i] <= 'Z')
            return true;
    return false;
}

static enum vrs_status lower_case(struct events *e, str text, uint32_t *ret, struct vrs_error *err)
{
    /* Mostly the one of the event before. */
    if (str_equal(trace_text(e->trace, e->lower_category), text)) {
        *ret = e->lower_category;
        return VRS_OK;
    }
    if (!has_capitals(text)) {
        TRY(event_text(e, text, ret, err));
        e->lower_category = *ret;
        return VRS_OK;
    }
    if (!utf8_valid(text)) {
        uint32_t repaired;
        TRY(event_text(e, text, &repaired, err));
        text = trace_text(e->trace, repaired);
    }
    e->text.len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        buf_char(&e->text, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
    return e->text.failed ? vrs_no_memory(err) : intern(e, buf_slice(&e->text), ret, err);
}

/* Numbers. */

/* The digits of an integer in decimal, with blanks around it or not. */
static bool integer_text(str text, str *ret)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = (str){ text.ptr + 1, text.len - 1 };
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    if (text.len > 1 && text.ptr[0] == '+')
        text = (str){ text.ptr + 1, text.len - 1 };
    size_t at = text.len > 1 && text.ptr[0] == '-';
    for (size_t i = at; i < text.len; i++)
        if (!is_digit(text.ptr[i]))
            return false;
    *ret = text;
    return text.len > 0;
}

static bool integer_of(str text, int64_t *ret)
{
    uint64_t bits;
    bool negative;
    /* Mostly digits alone, and no more than always fit. */
    if (text.len > 0 && text.len < NUMBER_DIGITS && number_digits(text, &bits) == text.len) {
        *ret = (int64_t)bits;
        return true;
    }
    if (!integer_text(text, &text) || !number_integer(text, &bits, &negative) ||
        (!negative && bits > INT64_MAX) || (negative && bits == (uint64_t)INT64_MIN))
        return false;
    *ret = (int64_t)bits;
    return true;
}

int64_t value_integer(const struct value *value)
{
    int64_t number;
    bool is =
        (value->form == VALUE_NUMBER || value->form == VALUE_TEXT) && integer_of(value->text, &number);
    return is ? number : TRACE_UNKNOWN;
}

static uint64_t value_address(const struct value *value)
{
    uint64_t bits;
    bool negative;
    str text;
    bool is = (value->form == VALUE_NUMBER || value->form == VALUE_TEXT) &&
              integer_text(value->text, &text) && number_integer(text, &bits, &negative);
    return is ? bits : UNKNOWN_U64;
}

/* Identifiers. */

/* Member by member: a whole struct would be written and read again with a wider load, which waits. */
static void id_is(struct trace_id *ret, int64_t value, enum id_form form)
{
    ret->value = value;
    ret->form = (uint8_t)form;
}

/* A number that identifies; a text that is a number is that number where `is_numeric`. */
static enum vrs_status id_of(struct events *e, const struct value *value, bool is_numeric,
                             struct trace_id *ret, struct vrs_error *err)
{
    uint32_t text;
    int64_t number;
    str digits;
    *ret = (struct trace_id){ 0, ID_NONE };
    if (value->form != VALUE_NUMBER && value->form != VALUE_TEXT)
        return VRS_OK;
    if ((value->form == VALUE_NUMBER || is_numeric) && integer_of(value->text, &number)) {
        id_is(ret, number, ID_NUMBER);
        return VRS_OK;
    }
    if (is_numeric && !integer_text(value->text, &digits))
        return VRS_OK;
    TRY(event_text(e, value->text, &text, err));
    id_is(ret, text, ID_TEXT);
    return VRS_OK;
}

/* A thread's number is one however it is written; "stream 7" is 7. */
static enum vrs_status tid_of(struct events *e, const struct value *value, struct trace_id *ret,
                              struct vrs_error *err)
{
    int64_t number;
    if (value->form == VALUE_TEXT) {
        str text = value->text;
        if (str_starts(text, S("stream ")))
            text = (str){ text.ptr + 7, text.len - 7 };
        if (integer_of(text, &number)) {
            id_is(ret, number, ID_NUMBER);
            return VRS_OK;
        }
    }
    return id_of(e, value, false, ret, err);
}

/* An event. */

enum vrs_status events_init(struct events *e, struct trace *t, uint32_t string_bytes,
                            struct vrs_error *err)
{
    *e = (struct events){ .trace = t, .kind = SPAN_OTHER };
    buf_init(&e->text, (size_t)string_bytes * 3 + 1);
    const struct {
        str text;
        uint32_t *id;
    } words[] = {
        { S("X"), &e->last },
        { S("i"), &e->instant },
        { S("s"), &e->start },
        { S("f"), &e->finish },
        { S("M"), &e->metadata },
        { S("[memory]"), &e->memory },
        { S("[OutOfMemory]"), &e->out_of_memory },
        { S("process_name"), &e->process_name },
        { S("process_labels"), &e->process_labels },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        TRY(intern(e, words[i].text, words[i].id, err));
    return VRS_OK;
}

void events_free(struct events *e)
{
    buf_free(&e->text);
}

void event_clear_arguments(struct events *e)
{
    struct event *v = &e->event;
    v->external = v->correlation = (struct trace_id){ 0, ID_NONE };
    v->external_decided = false;
    v->memory_bytes = v->copy_bytes = v->device_type = v->device_number = v->total_allocated =
        v->total_reserved = TRACE_UNKNOWN;
    v->address = UNKNOWN_U64;
    v->process_name = v->labels = v->shapes = v->stack = 0;
    v->sequence = TRACE_NO_SEQUENCE;
    v->forward_thread = 0;
}

void event_begin(struct events *e, uint64_t offset)
{
    /* One after the other: the whole at once is a string instruction, which takes as long as three
     * members of an event. */
    struct event *v = &e->event;
    v->offset = offset;
    v->phase = v->name = v->category = 0;
    v->pid = v->tid = v->id = (struct trace_id){ 0, ID_NONE };
    v->start = v->duration = 0;
    v->has_start = v->is_beyond = v->no_duration = false;
    v->time_form = TIME_MISSING;
    event_clear_arguments(e);
}

static void start_is(struct event *v, int64_t ns, bool is_whole)
{
    v->time_form = is_whole ? TIME_INTEGER : TIME_OTHER;
    v->has_start = true;
    v->start = ns;
}

static void start_field(struct event *v, const struct value *value)
{
    static const enum time_form forms[] = {
        [VALUE_NULL] = TIME_MISSING, [VALUE_NUMBER] = TIME_INTEGER, [VALUE_TEXT] = TIME_OTHER,
        [VALUE_TRUE] = TIME_OTHER,   [VALUE_FALSE] = TIME_OTHER,
    };
    int64_t whole;
    bool beyond = false, is_whole;
    if (value->form == VALUE_NUMBER &&
        microseconds_read_plain(value->text, &whole, &is_whole) && whole <= TRACE_TIME_MOST) {
        start_is(v, whole, is_whole);
        return;
    }
    v->time_form = forms[value->form];
    if (value->form == VALUE_NUMBER && !integer_of(value->text, &whole))
        v->time_form = TIME_OTHER;
    v->has_start = value->form != VALUE_NULL && value->text.len > 0 &&
                   microseconds_read(value->text, &v->start, &beyond);
    if (v->start > TRACE_TIME_MOST || v->start < -TRACE_TIME_MOST) {
        v->start = v->start > 0 ? TRACE_TIME_MOST : -TRACE_TIME_MOST;
        beyond = true;
    }
    v->is_beyond = v->is_beyond || beyond;
}

static void duration_field(struct event *v, const struct value *value)
{
    bool beyond = false, is_whole;
    v->duration = 0;
    v->no_duration = false;
    if (value->form == VALUE_NUMBER &&
        microseconds_read_plain(value->text, &v->duration, &is_whole))
        return;
    if ((value->form == VALUE_NUMBER || value->form == VALUE_TEXT) &&
        microseconds_read(value->text, &v->duration, &beyond))
        v->is_beyond = v->is_beyond || beyond;
    else
        v->no_duration = true;
}

static enum vrs_status text_field(struct events *e, const struct value *value, uint32_t *ret,
                                  struct vrs_error *err)
{
    *ret = 0;
    if (value->form != VALUE_TEXT && value->form != VALUE_NUMBER)
        return VRS_OK;
    return event_text(e, value->text, ret, err);
}

enum vrs_status event_field(struct events *e, enum trace_key key, const struct value *value,
                            struct vrs_error *err)
{
    struct event *v = &e->event;
    switch ((int)key) {
    case KEY_PH:
        return text_field(e, value, &v->phase, err);
    case KEY_NAME:
        return text_field(e, value, &v->name, err);
    case KEY_CAT:
        v->category = 0;
        return value->form == VALUE_TEXT ? lower_case(e, value->text, &v->category, err) : VRS_OK;
    case KEY_PID:
        return id_of(e, value, false, &v->pid, err);
    case KEY_TID:
        return tid_of(e, value, &v->tid, err);
    case KEY_ID:
        return id_of(e, value, false, &v->id, err);
    case KEY_TS:
        start_field(v, value);
        return VRS_OK;
    case KEY_DUR:
        duration_field(v, value);
        return VRS_OK;
    default:
        return VRS_OK;
    }
}

bool event_field_integer(struct events *e, enum trace_key key, int64_t number)
{
    struct event *v = &e->event;
    struct trace_id *id = key == KEY_PID   ? &v->pid
                          : key == KEY_TID ? &v->tid
                          : key == KEY_ID  ? &v->id
                                           : NULL;
    if (id != NULL)
        id_is(id, number, ID_NUMBER);
    return id != NULL;
}

bool event_field_time(struct events *e, enum trace_key key, int64_t ns, bool is_whole)
{
    struct event *v = &e->event;
    if (key == KEY_DUR) {
        v->duration = ns;
        v->no_duration = false;
        return true;
    }
    if (key != KEY_TS || ns > TRACE_TIME_MOST)
        return false;
    start_is(v, ns, is_whole);
    return true;
}

static void sequence_is(struct event *v, int64_t number)
{
    bool is = number >= 0 && number < TRACE_NO_SEQUENCE;
    v->sequence = is ? (uint32_t)number : TRACE_NO_SEQUENCE;
}

static void forward_thread_is(struct event *v, int64_t number)
{
    v->forward_thread = (uint16_t)(number <= 0 ? 0 : number > UINT16_MAX ? UINT16_MAX : number);
}

enum vrs_status event_argument(struct events *e, enum trace_key key, const struct value *value,
                               struct vrs_error *err)
{
    struct event *v = &e->event;
    switch ((int)key) {
    case KEY_EXTERNAL_ID:
        v->external_decided = true;
        return id_of(e, value, true, &v->external, err);
    case KEY_EXTERNAL_ID_LOWER:
        return v->external_decided ? VRS_OK : id_of(e, value, true, &v->external, err);
    case KEY_CORRELATION:
        return id_of(e, value, true, &v->correlation, err);
    case KEY_BYTES:
        v->memory_bytes = value_integer(value);
        return VRS_OK;
    case KEY_BYTES_LOWER:
        v->copy_bytes = value_integer(value);
        return VRS_OK;
    case KEY_ADDRESS:
        v->address = value_address(value);
        return VRS_OK;
    case KEY_DEVICE_TYPE:
        v->device_type = value_integer(value);
        return VRS_OK;
    case KEY_DEVICE_ID:
        v->device_number = value_integer(value);
        return VRS_OK;
    case KEY_TOTAL_ALLOCATED:
        v->total_allocated = value_integer(value);
        return VRS_OK;
    case KEY_TOTAL_RESERVED:
        v->total_reserved = value_integer(value);
        return VRS_OK;
    case KEY_SEQUENCE:
        sequence_is(v, value_integer(value));
        return VRS_OK;
    case KEY_FORWARD_THREAD:
        forward_thread_is(v, value_integer(value));
        return VRS_OK;
    case KEY_NAME:
        return text_field(e, value, &v->process_name, err);
    case KEY_LABELS:
        return text_field(e, value, &v->labels, err);
    case KEY_CALL_STACK:
        return value->form == VALUE_TEXT && !e->has_frames
                   ? stack_text(e, value->text, &v->stack, err)
                   : VRS_OK;
    default:
        return VRS_OK;
    }
}

bool event_argument_integer(struct events *e, enum trace_key key, int64_t number)
{
    struct event *v = &e->event;
    switch ((int)key) {
    case KEY_EXTERNAL_ID:
        v->external_decided = true;
        id_is(&v->external, number, ID_NUMBER);
        return true;
    case KEY_EXTERNAL_ID_LOWER:
        if (!v->external_decided)
            id_is(&v->external, number, ID_NUMBER);
        return true;
    case KEY_CORRELATION:
        id_is(&v->correlation, number, ID_NUMBER);
        return true;
    case KEY_SEQUENCE:
        sequence_is(v, number);
        return true;
    case KEY_FORWARD_THREAD:
        forward_thread_is(v, number);
        return true;
    default:
        return false;
    }
}

bool event_notes(struct events *e, enum trace_key key)
{
    struct trace_header *h = &e->trace->header;
    bool are_shapes = key == KEY_INPUT_DIMS || key == KEY_INPUT_DIMS_2021;
    h->has_shapes = h->has_shapes || are_shapes;
    if (are_shapes)
        e->event.shapes = 0;
    if (key == KEY_CALL_STACK)
        e->event.stack = 0;
    return are_shapes;
}

enum vrs_status event_shapes(struct events *e, str json, struct vrs_error *err)
{
    return json.len > SHAPES_BYTES ? VRS_OK : event_text(e, json, &e->event.shapes, err);
}

/* Rows. */

static enum vrs_status no_room(const struct table *rows, struct vrs_error *err)
{
    return rows->len < rows->max
               ? vrs_no_memory(err)
               : vrs_fail(err, VRS_LIMIT, "more than %u events; see --limit items", rows->max);
}

/* Mostly the one of the event before. */
static enum vrs_status track_of(struct events *e, uint32_t *ret, struct vrs_error *err)
{
    const struct event *v = &e->event;
    const struct tracks *t = &e->trace->tracks;
    uint32_t last = e->track;
    if (last >= t->rows.len || t->pid[last] != v->pid.value || t->tid[last] != v->tid.value ||
        t->pid_form[last] != v->pid.form || t->tid_form[last] != v->tid.form)
        if (!trace_track(e->trace, v->pid, v->tid, &e->track))
            return no_room(&e->trace->tracks.rows, err);
    *ret = e->track;
    return VRS_OK;
}

static enum span_kind kind_of(struct events *e, uint32_t category)
{
    if (e->kind_category != category) {
        e->kind_category = category;
        e->kind = trace_kind_of(trace_text(e->trace, category));
    }
    return e->kind;
}

/* A duration that is not negative and keeps the end within 64 bits. */
static int64_t sound_duration(struct events *e)
{
    struct event *v = &e->event;
    if (v->no_duration)
        trace_damaged(e->trace, DAMAGE_NO_DURATION, v->offset);
    if (v->duration < 0) {
        trace_damaged(e->trace, DAMAGE_NEGATIVE, v->offset);
        return 0;
    }
    if (v->duration > TRACE_TIME_MOST - v->start) {
        v->is_beyond = true;
        return TRACE_TIME_MOST - v->start;
    }
    return v->duration;
}

static enum vrs_status put_stack(struct events *e, uint32_t span, struct vrs_error *err)
{
    struct span_stacks *s = &e->trace->stacks;
    if (e->event.stack == STACK_LEFT_OUT) {
        e->trace->header.stacks_left_out++;
        return VRS_OK;
    }
    if (!table_reserve(s, &span_stacks_kind, 1))
        return no_room(&s->rows, err);
    s->span[s->rows.len] = span;
    s->text[s->rows.len++] = e->event.stack;
    return VRS_OK;
}

static enum vrs_status put_span(struct events *e, struct vrs_error *err)
{
    struct spans *s = &e->trace->spans;
    const struct event *v = &e->event;
    uint32_t track;
    TRY(track_of(e, &track, err));
    if (!table_reserve(s, &spans_kind, 1))
        return no_room(&s->rows, err);
    uint32_t row = s->rows.len++;
    if (v->start == 0 && e->zeros++ == 0)
        e->first_zero = v->offset;
    s->start[row] = v->start;
    s->duration[row] = sound_duration(e);
    s->index[row] = (uint32_t)e->trace->events;
    s->kind[row] = (uint8_t)kind_of(e, v->category);
    e->has_frames = e->has_frames || s->kind[row] == SPAN_PYTHON;
    s->name[row] = v->name;
    s->category[row] = v->category;
    s->track[row] = track;
    s->external[row] = v->external.value;
    s->external_form[row] = v->external.form;
    s->correlation[row] = v->correlation.value;
    s->correlation_form[row] = v->correlation.form;
    s->bytes[row] = v->copy_bytes;
    s->shapes[row] = v->shapes;
    s->sequence[row] = v->sequence;
    s->forward_thread[row] = v->forward_thread;
    return v->stack != 0 ? put_stack(e, row, err) : VRS_OK;
}

static enum vrs_status put_flow(struct events *e, bool finish, struct vrs_error *err)
{
    struct flows *f = &e->trace->flows;
    const struct event *v = &e->event;
    uint32_t track;
    TRY(track_of(e, &track, err));
    if (!table_reserve(f, &flows_kind, 1))
        return no_room(&f->rows, err);
    uint32_t row = f->rows.len++;
    f->time[row] = v->start;
    f->finish[row] = finish;
    f->category[row] = v->category;
    f->track[row] = track;
    f->id[row] = v->id.value;
    f->id_form[row] = v->id.form;
    return VRS_OK;
}

static enum vrs_status put_memory(struct events *e, struct vrs_error *err)
{
    struct memory_events *m = &e->trace->memory;
    const struct event *v = &e->event;
    uint32_t track;
    TRY(track_of(e, &track, err));
    if (!table_reserve(m, &memory_events_kind, 1))
        return no_room(&m->rows, err);
    uint32_t row = m->rows.len++;
    m->time[row] = v->start;
    m->index[row] = (uint32_t)e->trace->events;
    m->track[row] = track;
    m->device_type[row] = v->device_type;
    m->device_number[row] = v->device_number;
    m->bytes[row] = v->memory_bytes;
    m->total_allocated[row] = v->total_allocated;
    m->total_reserved[row] = v->total_reserved;
    m->address[row] = v->address;
    return VRS_OK;
}

static enum vrs_status put_metadata(struct events *e, struct vrs_error *err)
{
    const struct event *v = &e->event;
    uint32_t process;
    if (v->name != e->process_name && v->name != e->process_labels)
        return VRS_OK;
    if (!trace_process(e->trace, v->pid, &process))
        return no_room(&e->trace->processes.rows, err);
    uint32_t text = v->name == e->process_name ? v->process_name : v->labels;
    if (v->name == e->process_name)
        e->trace->processes.name[process] = text;
    else
        e->trace->processes.labels[process] = text;
    e->takes_back = e->takes_back || text == 0;
    return VRS_OK;
}

/* A phase is a letter or two: some ten in a file. */
static enum vrs_status count_phase(struct events *e, struct vrs_error *err)
{
    struct phases *p = &e->trace->phases;
    for (uint32_t row = 0; row < p->rows.len; row++) {
        if (p->text[row] == e->event.phase) {
            p->count[row]++;
            return VRS_OK;
        }
    }
    enum { PHASES_MOST = 256 };
    if (p->rows.len == PHASES_MOST) { /* no trace: the rest counts as the last */
        p->count[PHASES_MOST - 1]++;
        return VRS_OK;
    }
    if (!table_reserve(p, &phases_kind, 1))
        return no_room(&p->rows, err);
    p->text[p->rows.len] = e->event.phase;
    p->count[p->rows.len++] = 1;
    return VRS_OK;
}

static void count_time_form(struct trace_header *h, enum time_form form)
{
    h->times_missing += form == TIME_MISSING;
    h->times_integer += form == TIME_INTEGER;
    h->times_other += form == TIME_OTHER;
}

static enum vrs_status put(struct events *e, struct vrs_error *err)
{
    const struct event *v = &e->event;
    bool is_flow = v->phase == e->start || v->phase == e->finish;
    bool is_memory = v->phase == e->instant && v->name == e->memory;
    if (v->phase == e->metadata)
        return put_metadata(e, err);
    if (v->phase != e->last && !is_flow && !is_memory)
        return VRS_OK;
    if (!v->has_start) {
        trace_damaged(e->trace, DAMAGE_NO_TIME, v->offset);
        return VRS_OK;
    }
    if (is_flow)
        return put_flow(e, v->phase == e->finish, err);
    return is_memory ? put_memory(e, err) : put_span(e, err);
}

enum vrs_status event_end(struct events *e, struct vrs_error *err)
{
    struct trace *t = e->trace;
    if (t->events >= t->spans.rows.max)
        return no_room(&(struct table){ .len = t->spans.rows.max, .max = t->spans.rows.max }, err);
    TRY(count_phase(e, err));
    count_time_form(&t->header, e->event.time_form);
    t->header.out_of_memory += e->event.name == e->out_of_memory;
    TRY(put(e, err));
    if (e->event.is_beyond)
        trace_damaged(t, DAMAGE_RANGE, e->event.offset);
    t->events++;
    return VRS_OK;
}

/* Work of other makers' devices has no category, but a process of its own. */
static enum span_kind kind_by_process(str name)
{
    if (str_equal(name, S("Ascend Hardware")))
        return SPAN_KERNEL;
    return str_equal(name, S("CANN")) ? SPAN_RUNTIME : SPAN_OTHER;
}

/* A few may begin where the clock of the trace does; many are stamps that were never set. */
static void look_at_zeros(struct events *e)
{
    struct trace *t = e->trace;
    enum { LEAST = 10, ONE_IN = 100 };
    if (e->zeros >= LEAST && e->zeros > t->spans.rows.len / ONE_IN)
        t->damage[DAMAGE_ZEROS] = (struct damage){ e->zeros, e->first_zero };
}

void events_finish(struct events *e)
{
    struct trace *t = e->trace;
    struct spans *s = &t->spans;
    look_at_zeros(e);
    for (uint32_t row = 0; row < s->rows.len; row++) {
        if (s->category[row] != 0)
            continue;
        uint32_t process = t->tracks.process[s->track[row]];
        s->kind[row] = (uint8_t)kind_by_process(trace_text(t, t->processes.name[process]));
    }
}
