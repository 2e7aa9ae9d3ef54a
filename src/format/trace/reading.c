/* reading.c - what a token of JSON is, by where it stands: of the file, an event, its args. */
#include "format/trace/reading.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "format/json/reader.h"
#include "format/json/scan.h"
#include "format/trace/event.h"
#include "format/trace/layout.h"
#include "format/trace/words.h"

static const enum place around[] = {
    [PLACE_FILE] = PLACE_OUTSIDE,     [PLACE_EVENTS] = PLACE_FILE,  [PLACE_EVENT] = PLACE_EVENTS,
    [PLACE_ARGS] = PLACE_EVENT,       [PLACE_DEVICES] = PLACE_FILE, [PLACE_DEVICE] = PLACE_DEVICES,
    [PLACE_DISTRIBUTED] = PLACE_FILE,
};

/* Of the header. */

static void file_scalar(struct reading *r, struct value value)
{
    struct trace_header *h = &r->trace->header;
    static const uint8_t flags[TRACE_KEYS] = {
        [KEY_RECORD_SHAPES] = TRACE_RECORD_SHAPES, [KEY_PROFILE_MEMORY] = TRACE_PROFILE_MEMORY,
        [KEY_WITH_STACK] = TRACE_WITH_STACK,       [KEY_WITH_MODULES] = TRACE_WITH_MODULES,
        [KEY_WITH_FLOPS] = TRACE_WITH_FLOPS,
    };
    uint8_t flag = flags[r->key];
    bool is_set = value.form == VALUE_TRUE || (value.form == VALUE_TEXT && value.text.len > 0) ||
                  (value.form == VALUE_NUMBER && value_integer(&value) != 0);
    h->flags = (uint8_t)(is_set ? h->flags | flag : h->flags & ~flag);
    h->flags_said = (uint8_t)(value.form != VALUE_NULL ? h->flags_said | flag
                                                       : h->flags_said & ~flag);
    if (r->key == KEY_BASE_NS)
        h->base_ns = value_integer(&value);
    if (r->key == KEY_CUT_AT)
        h->cut_at = value_integer(&value);
}

static enum vrs_status device_scalar(struct reading *r, struct value value, struct vrs_error *err)
{
    struct listed_devices *d = &r->trace->devices;
    uint32_t row = d->rows.len - 1;
    switch ((int)r->key) {
    case KEY_ID:
        d->number[row] = value_integer(&value);
        return VRS_OK;
    case KEY_NAME:
        return value.form == VALUE_TEXT ? event_text(&r->events, value.text, &d->name[row], err)
                                        : VRS_OK;
    case KEY_TOTAL_GLOBAL_MEM:
        d->bytes[row] = value_integer(&value);
        return VRS_OK;
    case KEY_COMPUTE_MAJOR:
        d->major[row] = value_integer(&value);
        return VRS_OK;
    case KEY_COMPUTE_MINOR:
        d->minor[row] = value_integer(&value);
        return VRS_OK;
    case KEY_NUM_SMS:
        d->multiprocessors[row] = value_integer(&value);
        return VRS_OK;
    default:
        return VRS_OK;
    }
}

static enum vrs_status distributed_scalar(struct reading *r, struct value value,
                                          struct vrs_error *err)
{
    struct trace_header *h = &r->trace->header;
    if (r->key == KEY_RANK)
        h->rank = value_integer(&value);
    if (r->key == KEY_WORLD_SIZE)
        h->world_size = value_integer(&value);
    if (r->key == KEY_BACKEND && value.form == VALUE_TEXT)
        return event_text(&r->events, value.text, &h->backend, err);
    return VRS_OK;
}

static enum vrs_status device_begin(struct reading *r, struct vrs_error *err)
{
    struct listed_devices *d = &r->trace->devices;
    if (!table_reserve(d, &listed_devices_kind, 1))
        return d->rows.len < d->rows.max
                   ? vrs_no_memory(err)
                   : vrs_fail(err, VRS_LIMIT, "more than %u listed devices; see --limit items",
                              d->rows.max);
    uint32_t row = d->rows.len++;
    d->number[row] = d->bytes[row] = d->major[row] = d->minor[row] = d->multiprocessors[row] =
        TRACE_UNKNOWN;
    d->name[row] = 0;
    return VRS_OK;
}

/* Tokens. */

/* What may turn out to be damaged can be looked at again. */
static void hold(struct reading *r, uint64_t offset)
{
    if (!r->is_mended)
        window_hold(r->window, offset);
}

static void release(struct reading *r)
{
    if (!r->is_mended)
        window_release(r->window);
}

/* Places in a mended text are not those of the file; the event's beginning is. */
static uint64_t place_of(const struct reading *r, uint64_t offset)
{
    return r->is_mended ? r->events.event.offset : offset;
}

static enum vrs_status scalar(struct reading *r, struct value value, uint64_t offset,
                              struct vrs_error *err)
{
    if (r->ignored > 0)
        return VRS_OK;
    r->events.offset = place_of(r, offset);
    switch (r->place) {
    case PLACE_FILE:
        file_scalar(r, value);
        return VRS_OK;
    case PLACE_EVENT:
        return event_field(&r->events, r->key, &value, err);
    case PLACE_ARGS:
        return event_argument(&r->events, r->key, &value, err);
    case PLACE_DEVICE:
        return device_scalar(r, value, err);
    case PLACE_DISTRIBUTED:
        return distributed_scalar(r, value, err);
    case PLACE_EVENTS:
        hold(r, offset);
        trace_damaged(r->trace, DAMAGE_NOT_AN_EVENT, offset);
        return VRS_OK;
    case PLACE_OUTSIDE:
    case PLACE_DEVICES:
        break;
    }
    return VRS_OK;
}

/* Shapes of inputs. */

/* What stands behind a key, which begins at `at`, as far as `end`, where the next token begins; NULL
 * where the window has let go of it. */
static str value_between(const struct window *w, uint64_t at, uint64_t end)
{
    enum { QUOTED_BYTES = sizeof "\"Input Dims\"" - 1 };
    if (at < w->base || end - at < QUOTED_BYTES)
        return (str){ NULL, 0 };
    const uint8_t *from = w->buffer + (at - w->base) + QUOTED_BYTES;
    const uint8_t *to = w->buffer + (end - w->base);
    while (from < to && (is_blank(*from) || *from == ':'))
        from++;
    while (to > from && (is_blank(to[-1]) || to[-1] == ','))
        to--;
    return (str){ (const char *)from, (size_t)(to - from) };
}

/* They are a list that nobody takes apart here: it is kept as it is written, once it is over.  One
 * with a key in escapes does not begin with a bracket, and is not known as a long one is not. */
static enum vrs_status take_shapes(struct reading *r, uint64_t end, struct vrs_error *err)
{
    if (r->shapes_at == 0)
        return VRS_OK;
    str json = value_between(r->window, r->shapes_at - 1, end);
    r->shapes_at = 0;
    if (json.len == 0 || json.ptr[0] != '[')
        return VRS_OK;
    return event_shapes(&r->events, json, err);
}

/* At a container that means nothing where it stands: no value. */
static enum vrs_status ignore(struct reading *r, uint64_t offset, struct vrs_error *err)
{
    enum vrs_status status = scalar(r, (struct value){ VALUE_NULL, S("") }, offset, err);
    r->ignored++;
    return status;
}

static enum vrs_status begin_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    if (r->ignored == 0 && r->place == PLACE_OUTSIDE) {
        r->place = PLACE_FILE;
    } else if (r->ignored == 0 && r->place == PLACE_EVENTS) {
        r->place = PLACE_EVENT;
        hold(r, offset);
        r->utf8_before = r->trace->damage[DAMAGE_UTF8];
        event_begin(&r->events, offset);
    } else if (r->ignored == 0 && r->place == PLACE_EVENT && r->key == KEY_ARGS) {
        r->place = PLACE_ARGS;
        r->shapes_at = 0;
    } else if (r->ignored == 0 && r->place == PLACE_DEVICES) {
        r->place = PLACE_DEVICE;
        return device_begin(r, err);
    } else if (r->ignored == 0 && r->place == PLACE_FILE && r->key == KEY_DISTRIBUTED) {
        r->place = PLACE_DISTRIBUTED;
    } else {
        return ignore(r, offset, err);
    }
    return VRS_OK;
}

/* Of an event that is too long, only its length is kept. */
static enum vrs_status end_event(struct reading *r, uint64_t offset, struct vrs_error *err)
{
    uint64_t begin = r->events.event.offset;
    release(r);
    if (offset - begin < EVENT_BYTES)
        return event_end(&r->events, err);
    trace_damaged(r->trace, DAMAGE_LONG, begin);
    r->trace->skipped_bytes += offset + 1 - begin;
    return VRS_OK;
}

static enum vrs_status end_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    if (r->ignored > 0) {
        r->ignored--;
        return VRS_OK;
    }
    enum place ended = r->place;
    r->place = around[ended];
    if (ended == PLACE_ARGS)
        TRY(take_shapes(r, offset, err));
    return ended == PLACE_EVENT ? end_event(r, offset, err) : VRS_OK;
}

static enum vrs_status begin_array(void *self, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    bool is_file = r->ignored == 0 && r->place == PLACE_FILE;
    if (r->ignored == 0 && r->place == PLACE_OUTSIDE) {
        r->place = PLACE_EVENTS;
        r->trace->header.is_array = r->has_events = true;
    } else if (is_file && r->key == KEY_TRACE_EVENTS) {
        r->place = PLACE_EVENTS;
        r->has_events = true;
    } else if (is_file && r->key == KEY_DEVICE_PROPERTIES) {
        r->place = PLACE_DEVICES;
    } else {
        return ignore(r, offset, err);
    }
    return VRS_OK;
}

/* Events of the list, from the one at the window's front on, that are written as nearly all are. */
static enum vrs_status elements(void *self, struct window *w, struct vrs_error *err)
{
    struct reading *r = self;
    struct damage *texts = &r->trace->damage[DAMAGE_UTF8];
    bool more = r->place == PLACE_EVENTS && r->ignored == 0 && !r->is_mended;
    while (more) {
        const struct damage before = *texts;
        const uint8_t *end = w->at;
        w->at = *end == ',' ? behind_blanks(end + 1) : end;
        if (*w->at != '{' || !layout_read_event(r->layout, &r->events, w) ||
            texts->count != before.count) {
            *texts = before;
            w->at = end;
            return VRS_OK;
        }
        TRY(end_event(r, window_offset(w) - 1, err));
        w->at = behind_blanks(w->at);
        more = *w->at == ',';
    }
    return VRS_OK;
}

static enum vrs_status end_array(void *self, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    if (r->ignored > 0) {
        r->ignored--;
        return VRS_OK;
    }
    bool is_list = r->place == PLACE_EVENTS;
    if (is_list)
        release(r);
    r->place = around[r->place];
    if (!is_list || !r->stops)
        return VRS_OK;
    r->list_end = offset + 1;
    return vrs_fail_at(err, VRS_CORRUPT, offset, "the list of events ends");
}

/* That shapes were recorded is told by the events, too, in old files by them alone. */
static void note_shapes(struct reading *r, uint64_t offset)
{
    if (!event_notes(&r->events, r->key))
        return;
    r->shapes_at = offset + 1;
    r->key = KEY_OTHER;
}

/* Of equal keys the last stands: what a list or an object gave is taken back. */
static void forget(struct reading *r)
{
    struct trace_header *h = &r->trace->header;
    if (r->place == PLACE_EVENT && r->key == KEY_ARGS)
        event_clear_arguments(&r->events);
    if (r->place != PLACE_FILE)
        return;
    if (r->key == KEY_TRACE_EVENTS && r->has_events) {
        trace_clear_events(r->trace);
        r->events.zeros = 0;
        r->has_events = false;
        r->has_forgotten = true;
    } else if (r->key == KEY_DEVICE_PROPERTIES) {
        r->trace->devices.rows.len = 0;
    } else if (r->key == KEY_DISTRIBUTED) {
        h->rank = h->world_size = TRACE_UNKNOWN;
        h->backend = 0;
    }
}

static enum vrs_status key(void *self, str text, uint64_t offset, bool *ret_take,
                           struct vrs_error *err)
{
    struct reading *r = self;
    r->has_lone = false;
    if (r->ignored > 0)
        return VRS_OK;
    r->key = trace_key_of(text);
    if (r->place == PLACE_FILE)
        r->is_snapshot = r->is_snapshot || r->key == KEY_SEGMENTS || r->key == KEY_DEVICE_TRACES;
    if (r->place == PLACE_ARGS) {
        TRY(take_shapes(r, offset, err));
        note_shapes(r, offset);
    }
    forget(r);
    *ret_take = r->key != KEY_OTHER;
    return VRS_OK;
}

static void lone(void *self, uint64_t offset)
{
    struct reading *r = self;
    (void)offset;
    r->has_lone = true;
}

static enum vrs_status string(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    if (r->has_lone && r->ignored == 0)
        trace_damaged(r->trace, DAMAGE_UTF8, place_of(r, offset));
    r->has_lone = false;
    return scalar(self, (struct value){ VALUE_TEXT, text }, offset, err);
}

static enum vrs_status number(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    return scalar(self, (struct value){ VALUE_NUMBER, text }, offset, err);
}

static enum vrs_status literal(void *self, enum json_literal literal, uint64_t offset,
                               struct vrs_error *err)
{
    static const enum value_form forms[] = {
        [JSON_NULL] = VALUE_NULL, [JSON_FALSE] = VALUE_FALSE, [JSON_TRUE] = VALUE_TRUE
    };
    return scalar(self, (struct value){ forms[literal], S("") }, offset, err);
}

struct json_sink reading_sink(struct reading *r)
{
    return (struct json_sink){
        .self = r,
        .kind = "profiler trace",
        .begin_object = begin_object,
        .end_object = end_object,
        .elements = elements,
        .begin_array = begin_array,
        .end_array = end_array,
        .key = key,
        .string = string,
        .number = number,
        .literal = literal,
        .lone = lone,
    };
}

bool reading_is_in_list(const struct reading *r)
{
    return r->place == PLACE_EVENTS || r->place == PLACE_EVENT || r->place == PLACE_ARGS;
}

bool reading_is_in_element(const struct reading *r)
{
    return r->place != PLACE_EVENTS || r->ignored > 0;
}

void reading_return_to_list(struct reading *r)
{
    r->place = PLACE_EVENTS;
    r->ignored = 0;
    r->has_events = true;
}

enum vrs_status reading_init(struct reading *r, struct trace *t, uint32_t string_bytes,
                             struct vrs_error *err)
{
    *r = (struct reading){ .trace = t, .layout = layout_new(string_bytes) };
    if (r->layout == NULL)
        return vrs_no_memory(err);
    return events_init(&r->events, t, string_bytes, err);
}

void reading_free(struct reading *r)
{
    events_free(&r->events);
    layout_free(r->layout);
}

void reading_rest(struct trace *t, struct window *w, struct json_end *end)
{
    while (window_need(w, 1) && is_blank(*w->at))
        w->at++;
    if (!window_need(w, 1))
        return;
    uint64_t from = window_offset(w);
    trace_damaged(t, DAMAGE_BEHIND, from);
    while (window_need(w, 1))
        w->at = w->end;
    end->offset = window_offset(w);
    t->skipped_bytes += end->offset - from;
}
