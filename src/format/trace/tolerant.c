/* tolerant.c - what comes after json_read has failed. */
#include "format/trace/tolerant.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "format/trace/look.h"
#include "format/trace/repair.h"
#include "model/trace.h"

/* What may be looked at in vain: some, and some more for each byte of the file. */
enum { VAIN_BYTES = HELD_BYTES, VAIN_TIMES = 8 };

struct tolerant {
    struct window *window;
    const struct limits *limits;
    struct reading *reading;
    struct json_sink sink;
    struct repair repair;
    uint64_t vain_bytes;
    uint64_t from, failed_at; /* where the element at hand begins, and where it is damaged */
};

static str open_around(const struct tolerant *t)
{
    return t->reading->trace->header.is_array ? S("[") : S("{[");
}

/* Whether the failure is that a container lies too deep: it was begun, and is the last token. */
static bool is_nested(const struct tolerant *t, const struct vrs_error *failure)
{
    const struct window *w = t->window;
    return failure->offset + 1 == window_offset(w) && w->at > w->buffer &&
           (w->at[-1] == '{' || w->at[-1] == '[');
}

/* Whether a failure is the text's own.  A source fails behind all of its bytes. */
static bool is_damage(const struct tolerant *t, const struct vrs_error *failure)
{
    bool nested = failure->status == VRS_LIMIT && is_nested(t, failure);
    if (!window_need(t->window, 1))
        return false;
    return failure->status == VRS_CORRUPT || nested;
}

static void skipped(struct tolerant *t, uint64_t from)
{
    struct trace *trace = t->reading->trace;
    trace_damaged(trace, DAMAGE_SKIPPED, from);
    trace->skipped_bytes += window_offset(t->window) - from;
}

/* Between two elements: a comma is missing, or there are too many. */
static bool is_comma_damage(struct tolerant *t)
{
    uint8_t c = *t->window->at;
    if (c != '{' && c != ']' && c != ',')
        return false;
    trace_damaged(t->reading->trace, DAMAGE_COMMA, t->failed_at);
    t->window->at += c == ',';
    return true;
}

/* What was counted of texts of the event at hand, which is read again or given up. */
static void forget_texts(struct tolerant *t)
{
    t->reading->trace->damage[DAMAGE_UTF8] = t->reading->utf8_before;
}

/* Reads the repaired event; `*ret_done`: it was one. */
static enum vrs_status judge(struct tolerant *t, bool *ret_done, struct vrs_error *err)
{
    struct reading *r = t->reading;
    struct buf *text = &t->repair.text;
    struct window w = window_of_bytes((uint8_t *)text->at, text->len, t->from);
    struct vrs_error failure;
    struct json_end end;
    forget_texts(t);
    reading_return_to_list(r);
    r->window = &w;
    r->is_mended = true;
    enum vrs_status status = json_read(&w, t->limits, &t->sink, &end, &failure);
    r->window = t->window;
    r->is_mended = false;
    *ret_done = status == VRS_OK && !end.cut;
    /* The text's own failures have a place. */
    if (status == VRS_OK || status == VRS_CORRUPT ||
        (status == VRS_LIMIT && failure.offset != VRS_NO_OFFSET))
        return VRS_OK;
    if (err != NULL)
        *err = failure;
    return status;
}

static void count_repairs(struct tolerant *t)
{
    for (int kind = 0; kind < TRACE_DAMAGES; kind++) {
        const struct damage *found = &t->repair.found[kind];
        struct damage *all = &t->reading->trace->damage[kind];
        if (all->count == 0)
            all->first_offset = found->first_offset;
        all->count += found->count;
    }
}

static bool may_look_back(const struct tolerant *t)
{
    return t->window->held != NULL &&
           t->vain_bytes / VAIN_TIMES <= t->failed_at + VAIN_BYTES / VAIN_TIMES;
}

/* Mends the event at hand and reads it; `*ret_done`: the window stands behind it. */
static enum vrs_status mend(struct tolerant *t, bool *ret_done, struct vrs_error *err)
{
    static const enum quotes quotes[] = { QUOTES_AS_THEY_ARE, QUOTES_GUESSED };
    struct window *w = t->window;
    uint32_t nesting = t->limits->nesting - (uint32_t)open_around(t).len;
    *ret_done = false;
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes && may_look_back(t); i++) {
        window_rewind(w);
        bool whole = repair_event(&t->repair, w, quotes[i], nesting);
        if (t->repair.text.failed)
            return vrs_no_memory(err);
        if (whole)
            TRY(judge(t, ret_done, err));
        if (*ret_done) {
            count_repairs(t);
            return VRS_OK;
        }
        t->vain_bytes += window_offset(w) - t->from;
    }
    return VRS_OK;
}

/* Goes on to the next event or to the end of the list; what stands behind a colon or a bracket is a
 * part of something. */
static void find_element(struct window *w)
{
    uint8_t before = ',';
    for (; window_need(w, 1); w->at++) {
        uint8_t c = *w->at;
        if ((c == '{' && before != ':' && before != '[' && look_event(w)) ||
            (c == ']' && look_list_end(w)))
            return;
        if (!is_blank(c))
            before = c;
    }
}

/* Gives the element at hand up.  The next one may begin inside it, where its end is missing. */
static void skip_element(struct tolerant *t)
{
    struct window *w = t->window;
    if (may_look_back(t)) {
        t->vain_bytes += t->failed_at - t->from;
        window_rewind(w);
        w->at++;
    } else if (window_rewind(w)) {
        w->at += t->failed_at - t->from;
    }
    window_release(w);
    find_element(w);
    skipped(t, t->from);
    reading_return_to_list(t->reading);
}

/* Past the damage in the list; `*ret`: where in it the window then stands. */
static enum vrs_status past_element(struct tolerant *t, enum json_at *ret, struct vrs_error *err)
{
    struct reading *r = t->reading;
    struct window *w = t->window;
    bool is_event = reading_is_in_element(r) && r->place != PLACE_EVENTS, done = false;
    *ret = JSON_AT_VALUE_OR_END;
    if (!reading_is_in_element(r) && is_comma_damage(t)) {
        window_release(w);
        return VRS_OK;
    }
    t->from = w->held != NULL ? window_held_offset(w)
              : is_event      ? r->events.event.offset
                              : t->failed_at;
    bool is_long = is_event && t->failed_at - t->from >= EVENT_BYTES;
    if (is_long)
        trace_damaged(r->trace, DAMAGE_LONG, t->from);
    else if (is_event)
        TRY(mend(t, &done, err));
    if (done) {
        window_release(w);
        *ret = JSON_BEHIND_VALUE;
        return VRS_OK;
    }
    if (is_event)
        forget_texts(t);
    skip_element(t);
    return VRS_OK;
}

/* Past the damage before the list, if there is one. */
static bool past_header(struct tolerant *t)
{
    struct window *w = t->window;
    while (window_need(w, 1) && !look_list(w))
        w->at++;
    if (!window_need(w, 1))
        return false;
    while (*w->at != '[' && window_need(w, 2))
        w->at++;
    w->at++;
    skipped(t, t->failed_at);
    reading_return_to_list(t->reading);
    return true;
}

/* The rest of a file whose list is whole. */
static enum vrs_status past_rest(struct tolerant *t, struct json_end *ret, struct vrs_error *err)
{
    struct window *w = t->window;
    while (window_need(w, 1))
        w->at = w->end;
    TRY(window_status(w, err));
    skipped(t, t->failed_at);
    *ret = (struct json_end){ .offset = window_offset(w) };
    return VRS_OK;
}

/* Past the damage that `failure` is; `*ret_ended`: there is no more to read. */
static enum vrs_status past_damage(struct tolerant *t, bool *ret_ended, struct json_end *ret,
                                   struct vrs_error *failure)
{
    const struct reading *r = t->reading;
    enum json_at at = JSON_AT_VALUE_OR_END;
    t->failed_at = window_offset(t->window);
    if (reading_is_in_list(r)) {
        TRY(past_element(t, &at, failure));
    } else if (r->trace->events > 0) {
        *ret_ended = true;
        return past_rest(t, ret, failure);
    } else if (r->place == PLACE_OUTSIDE || r->has_events || !past_header(t)) {
        *ret_ended = true;
        return failure->status;
    }
    return json_read_inside(t->window, t->limits, &t->sink, open_around(t), at, ret, failure);
}

enum vrs_status tolerant_read(struct window *w, const struct limits *limits, struct reading *r,
                              struct json_end *ret, struct vrs_error *err)
{
    struct tolerant t = {
        .window = w,
        .limits = limits,
        .reading = r,
        .sink = reading_sink(r),
    };
    struct vrs_error failure, first;
    bool ended = false;
    r->window = w;
    repair_init(&t.repair);
    enum vrs_status status = json_read(w, limits, &t.sink, ret, &failure);
    enum vrs_status first_status = status;
    if (status != VRS_OK)
        first = failure;
    while (status != VRS_OK && !ended && is_damage(&t, &failure))
        status = past_damage(&t, &ended, ret, &failure);
    repair_free(&t.repair);
    r->window = NULL;
    /* Where nothing was found behind it, the first damage is what is wrong. */
    if (status == VRS_OK && first_status != VRS_OK && r->trace->events == 0) {
        status = first_status;
        failure = first;
    }
    if (status != VRS_OK && err != NULL)
        *err = failure;
    return status;
}
