/* parts.c - parts that threads take in turn, put together in the order of the file. */
#include "format/trace/parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/pool.h"
#include "base/str.h"
#include "format/input/window.h"
#include "format/trace/event.h"
#include "format/trace/look.h"
#include "model/trace.h"
#include "model/trace_append.h"

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

/* One part, which a thread reads. */
struct part {
    struct stretch stretch;
    enum vrs_status status;
    bool done;
    bool whole; /* it ends within the list, where the next begins */
    bool last;  /* the list ends in it */
};

/* What a part is read into.  It stays until the parts before have been put behind the others, so
 * there are more of them than threads. */
struct slot {
    struct trace trace; /* what it holds is read anew for each part */
    bool has_trace;
    struct reading reading;
};

/* More slots than that are memory that more threads do not make up for. */
enum { ROUND_PARTS = POOL_NEEDS_MOST, SLOTS_A_THREAD = 2, SLOTS_MOST = 16 };

/* Parts that threads take one after the other. */
struct round {
    const struct trace_parts *parts;
    const struct limits *limits;
    str open; /* what is open around the list and with it */
    struct part part[ROUND_PARTS];
    uint32_t len;
    struct slot *slot; /* that of a part is its number by the number of slots */
    uint32_t slots;
    struct reading *into;
    uint32_t taken;   /* parts put behind the others, or passed over */
    bool certain;     /* that what was put together is what one reader would have read */
    bool ended;       /* the list, in a part that was taken; it ends at `end` */
    uint64_t end;
    struct lock *lock; /* of `over`, and of which parts are done */
    bool over;         /* no further part is wanted */
    enum vrs_status status; /* of the progress */
    struct vrs_error error;
};

static struct slot *slot_of(const struct round *round, uint32_t part)
{
    return &round->slot[part % round->slots];
}

static bool is_over(struct round *round)
{
    lock_take(round->lock);
    bool over = round->over;
    lock_give(round->lock);
    return over;
}

static bool is_done(struct round *round, uint32_t part)
{
    lock_take(round->lock);
    bool done = round->part[part].done;
    lock_give(round->lock);
    return done;
}

static void end_part(struct round *round, uint32_t part)
{
    lock_take(round->lock);
    round->part[part].done = true;
    lock_give(round->lock);
}

static void end_round(struct round *round)
{
    lock_take(round->lock);
    round->over = true;
    lock_give(round->lock);
}

static enum vrs_status read_part(struct part *p, struct reading *r, const struct round *round)
{
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

static enum vrs_status fill_slot(struct slot *slot, struct part *p, const struct round *round)
{
    const struct limits *limits = round->limits;
    if (slot->has_trace)
        trace_clear(&slot->trace);
    else
        slot->has_trace = trace_init(&slot->trace, limits->items, limits->strings_bytes);
    if (!slot->has_trace)
        return VRS_NOMEM;
    TRY(reading_init(&slot->reading, &slot->trace, limits->string_bytes, NULL));
    return read_part(p, &slot->reading, round);
}

static void do_part(void *arg, uint32_t i, uint32_t thread)
{
    struct round *round = arg;
    struct part *p = &round->part[i];
    const struct trace_parts *parts = round->parts;
    if (thread == 0 && parts->progress != NULL && round->status == VRS_OK) {
        round->status = parts->progress(parts->progress_arg, p->stretch.at, &round->error);
        if (round->status != VRS_OK)
            end_round(round);
    }
    struct slot *slot = slot_of(round, i);
    slot->reading = (struct reading){ .trace = &slot->trace };
    p->status = is_over(round) ? VRS_LIMIT : fill_slot(slot, p, round);
    end_part(round, i);
}

/* Puts one part behind the others; false: not all of it is certain. */
static bool take_part(struct reading *r, const struct part *p, const struct slot *slot)
{
    const struct events *from = &slot->reading.events;
    if (p->status != VRS_OK || !(p->whole || p->last) || from->takes_back ||
        !trace_append(r->trace, &slot->trace))
        return false;
    if (r->events.zeros == 0)
        r->events.first_zero = from->first_zero;
    r->events.zeros += from->zeros;
    return true;
}

/* One thread at a time comes here, each time that a part is done. */
static void take_parts(void *arg, uint32_t done)
{
    struct round *round = arg;
    (void)done;
    for (; round->taken < round->len && is_done(round, round->taken); round->taken++) {
        const struct part *p = &round->part[round->taken];
        struct slot *slot = slot_of(round, round->taken);
        if (round->certain && !round->ended) {
            round->certain = take_part(round->into, p, slot);
            round->ended = round->certain && p->last;
            round->end = slot->reading.list_end;
            if (!round->certain || round->ended)
                end_round(round);
        }
        reading_free(&slot->reading);
    }
}

/* Begins of parts from `*at` on, which becomes the begin of the round behind. */
static void plan_round(struct round *round, uint64_t *at)
{
    const struct trace_parts *parts = round->parts;
    round->len = round->taken = 0;
    while (round->len < ROUND_PARTS && *at != UINT64_MAX) {
        uint64_t end = find_event(parts->input, *at + parts->part_bytes);
        round->part[round->len++] = (struct part){ .stretch = { parts->input, *at, end } };
        *at = end;
    }
}

/* All parts from `at` on. */
static void read_rounds(struct round *round, uint64_t at)
{
    /* A part begins when the one that had its slot, and all before that, have been taken. */
    uint64_t needs[ROUND_PARTS];
    for (uint32_t i = 0; i < ROUND_PARTS; i++)
        needs[i] = i < round->slots ? 0 : (UINT64_C(2) << (i - round->slots)) - 1;
    while (!round->over && at != UINT64_MAX) {
        plan_round(round, &at);
        const struct pool_work work = {
            .jobs = round->len, .job = do_part, .finished = take_parts, .arg = round
        };
        pool_run_needing(round->parts->threads, &work, needs);
    }
}

/* With slots, and what threads share. */
static enum vrs_status read_list(struct round *round, uint64_t at, struct vrs_error *err)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    round->slots = pool_threads(round->parts->threads) * SLOTS_A_THREAD;
    round->slots = round->slots < SLOTS_MOST ? round->slots : SLOTS_MOST;
    round->slot = arena_array(&arena, struct slot, round->slots);
    round->lock = lock_make(&arena);
    bool ok = round->slot != NULL && round->lock != NULL;
    if (ok)
        read_rounds(round, at);
    for (uint32_t i = 0; i < round->slots && ok; i++)
        trace_free(&round->slot[i].trace);
    lock_end(round->lock);
    arena_free(&arena);
    if (!ok)
        return vrs_no_memory(err);
    if (round->status != VRS_OK && err != NULL)
        *err = round->error;
    return round->status;
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
        reading_rest(r->trace, &w, ret);
    ok = ok && !ret->cut && window_status(&w, NULL) == VRS_OK;
    r->window = NULL;
    window_free(&w);
    return ok;
}

enum vrs_status parts_read(const struct trace_parts *parts, uint64_t offset,
                           const struct limits *limits, struct reading *r, struct json_end *ret,
                           bool *ret_done, struct vrs_error *err)
{
    uint64_t first = find_event(parts->input, offset);
    *ret_done = false;
    if (first == UINT64_MAX || !read_head(parts, offset, first, limits, r))
        return VRS_OK;
    struct round round = { .parts = parts,
                           .limits = limits,
                           .open = r->trace->header.is_array ? S("[") : S("{["),
                           .into = r,
                           .certain = true };
    TRY(read_list(&round, first, err));
    *ret_done = round.ended && read_tail(parts, round.end, limits, r, ret);
    return VRS_OK;
}
