/* parts.c - rounds of one part for each thread; then what stands behind the list. */
#include "format/trace/parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "base/str.h"
#include "format/input/window.h"
#include "format/trace/event.h"
#include "format/trace/look.h"
#include "model/trace.h"
#include "model/trace_append.h"

enum { PARTS_MOST = 8 };

/* The bytes of the input from `at` to `end`. */
struct stretch {
    const struct source *input;
    uint64_t at, end;
};

static enum vrs_status read_stretch(void *self, uint8_t *to, size_t len, size_t *ret,
                                    struct vrs_error *err)
{
    struct stretch *s = self;
    uint64_t left = s->end - s->at;
    *ret = 0;
    if (left == 0)
        return VRS_OK;
    TRY(s->input->read_at(s->input->self, s->at, to, left < len ? (size_t)left : len, ret, err));
    s->at += *ret;
    return VRS_OK;
}

static enum vrs_status open_stretch(struct window *w, struct stretch *s, struct vrs_error *err)
{
    TRY(window_init(w, (struct source){ .read = read_stretch, .self = s }, err));
    w->base = s->at;
    return VRS_OK;
}

/* Where from `offset` on an event seems to begin behind a comma; UINT64_MAX: nowhere. */
static uint64_t find_event(const struct source *input, uint64_t offset)
{
    struct stretch s = { input, offset, UINT64_MAX };
    struct window w;
    if (open_stretch(&w, &s, NULL) != VRS_OK)
        return UINT64_MAX;
    uint8_t before = 0;
    uint64_t found = UINT64_MAX;
    for (; window_need(&w, 1) && found == UINT64_MAX; w.at++) {
        uint8_t c = *w.at;
        if (c == '{' && before == ',' && look_event(&w))
            found = window_offset(&w);
        if (!is_blank(c))
            before = c;
    }
    window_free(&w);
    return found;
}

/* One part, which a thread reads into a trace of its own. */
struct part {
    struct stretch stretch;
    struct trace trace; /* what it holds is read anew for each round */
    bool has_trace;
    struct reading reading;
    enum vrs_status status;
    bool whole; /* it ends within the list, where the next begins */
    bool last;  /* the list ends in it */
};

struct round {
    const struct limits *limits;
    str open; /* what is open around the list and with it */
    struct part part[PARTS_MOST];
    uint32_t parts;
};

static enum vrs_status read_part(struct part *p, const struct round *round)
{
    struct reading *r = &p->reading;
    uint64_t end = p->stretch.end;
    struct json_end ends = { .cut = false };
    struct window w;
    TRY(open_stretch(&w, &p->stretch, NULL));
    reading_return_to_list(r);
    r->stops = true;
    r->window = &w;
    const struct json_sink sink = reading_sink(r);
    enum vrs_status status = json_read_inside(&w, round->limits, &sink, round->open,
                                              JSON_AT_VALUE_OR_END, &ends, NULL);
    p->last = r->list_end != 0;
    p->whole = status == VRS_OK && ends.at_value && ends.offset == end &&
               r->place == PLACE_EVENTS && r->ignored == 0;
    r->window = NULL;
    window_free(&w);
    return status == VRS_NOMEM ? status : VRS_OK;
}

static void do_part(void *arg, uint32_t i, uint32_t thread)
{
    struct round *round = arg;
    struct part *p = &round->part[i];
    (void)thread;
    p->reading = (struct reading){ .trace = &p->trace };
    p->status = VRS_NOMEM;
    if (p->has_trace)
        trace_clear(&p->trace);
    else
        p->has_trace = trace_init(&p->trace, round->limits->items, round->limits->strings_bytes);
    if (p->has_trace)
        p->status = reading_init(&p->reading, &p->trace, round->limits->string_bytes, NULL);
    if (p->status == VRS_OK)
        p->status = read_part(p, round);
}

/* Puts one part behind the others; false: not all of it is certain. */
static bool take_part(struct reading *r, const struct part *p)
{
    const struct events *from = &p->reading.events;
    if (p->status != VRS_OK || !(p->whole || p->last) || from->takes_back ||
        !trace_append(r->trace, &p->trace))
        return false;
    if (r->events.zeros == 0)
        r->events.first_zero = from->first_zero;
    r->events.zeros += from->zeros;
    return true;
}

/* Begins of parts from `*at` on, which becomes the begin of the round behind. */
static void plan_round(struct round *round, const struct trace_parts *parts, uint64_t *at)
{
    uint32_t most = parts->threads < PARTS_MOST ? parts->threads : PARTS_MOST;
    round->parts = 0;
    while (round->parts < most && *at != UINT64_MAX) {
        struct part *p = &round->part[round->parts++];
        uint64_t end = find_event(parts->input, *at + parts->part_bytes);
        p->stretch = (struct stretch){ parts->input, *at, end };
        *at = end;
    }
}

/* All parts from `at` on; `*ret_end`: behind the list. */
static enum vrs_status read_rounds(const struct trace_parts *parts, uint64_t at,
                                   struct round *round, struct reading *r, uint64_t *ret_end,
                                   bool *ret_done, struct vrs_error *err)
{
    bool certain = true;
    *ret_done = false;
    while (certain && !*ret_done && at != UINT64_MAX) {
        if (parts->progress != NULL)
            TRY(parts->progress(parts->progress_arg, at, err));
        plan_round(round, parts, &at);
        pool_run(parts->threads, &(struct pool_work){ .jobs = round->parts, .job = do_part,
                                                      .arg = round });
        for (uint32_t i = 0; i < round->parts; i++) {
            struct part *p = &round->part[i];
            if (certain && !*ret_done) {
                certain = take_part(r, p);
                *ret_done = certain && p->last;
                *ret_end = p->reading.list_end;
            }
            reading_free(&p->reading);
        }
    }
    return VRS_OK;
}

/* The file up to the first part: within the list. */
static bool read_head(const struct trace_parts *parts, uint64_t offset, uint64_t end,
                      const struct limits *limits, struct reading *r)
{
    struct stretch s = { parts->input, offset, end };
    struct window w;
    struct json_end ends = { .cut = false };
    if (open_stretch(&w, &s, NULL) != VRS_OK)
        return false;
    r->window = &w;
    const struct json_sink sink = reading_sink(r);
    bool ok = json_read(&w, limits, &sink, &ends, NULL) == VRS_OK && ends.at_value &&
              ends.offset == end && r->place == PLACE_EVENTS && r->ignored == 0;
    r->window = NULL;
    window_free(&w);
    return ok;
}

/* What stands behind the list. */
static bool read_tail(const struct trace_parts *parts, uint64_t offset,
                      const struct limits *limits, struct reading *r, struct json_end *ret)
{
    struct stretch s = { parts->input, offset, UINT64_MAX };
    struct window w;
    *ret = (struct json_end){ .offset = offset };
    if (open_stretch(&w, &s, NULL) != VRS_OK)
        return false;
    r->place = PLACE_FILE;
    r->window = &w;
    const struct json_sink sink = reading_sink(r);
    bool ok = r->trace->header.is_array ||
              json_read_inside(&w, limits, &sink, S("{"), JSON_BEHIND_VALUE, ret, NULL) == VRS_OK;
    if (ok)
        reading_rest(r, &w, ret);
    ok = ok && !ret->cut && window_status(&w, NULL) == VRS_OK;
    r->window = NULL;
    window_free(&w);
    return ok;
}

enum vrs_status parts_read(const struct trace_parts *parts, uint64_t offset,
                           const struct limits *limits, struct reading *r, struct json_end *ret,
                           bool *ret_done, struct vrs_error *err)
{
    uint64_t first = find_event(parts->input, offset), end = 0;
    *ret_done = false;
    if (first == UINT64_MAX || !read_head(parts, offset, first, limits, r))
        return VRS_OK;
    struct round round = { .limits = limits, .open = r->trace->header.is_array ? S("[") : S("{[") };
    enum vrs_status status = read_rounds(parts, first, &round, r, &end, ret_done, err);
    for (uint32_t i = 0; i < PARTS_MOST; i++)
        trace_free(&round.part[i].trace);
    TRY(status);
    *ret_done = *ret_done && read_tail(parts, end, limits, r, ret);
    return VRS_OK;
}
