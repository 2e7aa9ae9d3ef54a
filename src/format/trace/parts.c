/* parts.c - parts that threads take in turn, put together in the order of the file. */
#include "format/trace/parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/pool.h"
#include "base/str.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/trace/cut.h"
#include "format/trace/event.h"
#include "model/trace.h"
#include "model/trace_append.h"

/* One part, which one thread after another cuts, and one of them reads. */
struct part {
    enum vrs_status status;
    bool is_cut;
    bool done;
    bool whole; /* it ends within the list, where the next begins */
    bool last;  /* the list ends in it */
};

/* The bytes of a part, and what they are read into.  It stays until the parts before have been put
 * behind the others, so there are more of them than threads. */
struct slot {
    struct cut cut;
    struct trace trace; /* what it holds is read anew for each part */
    bool has_trace;
    struct reading reading;
};

/* A part is two jobs: its cut, and its reading.  More slots than that are memory that more threads
 * do not make up for. */
enum {
    JOBS_A_PART = 2,
    ROUND_PARTS = POOL_NEEDS_MOST / JOBS_A_PART,
    SLOTS_A_THREAD = 2,
    SLOTS_MOST = 16
};

/* Parts that threads take one after the other. */
struct round {
    const struct trace_parts *parts;
    const struct limits *limits;
    str open; /* what is open around the list and with it */
    struct cutter *cutter;
    struct part part[ROUND_PARTS];
    struct slot *slot; /* that of a part is its number by the number of slots */
    uint32_t slots;
    struct reading *into;
    uint32_t taken; /* parts put behind the others, or passed over */
    bool certain;   /* that what was put together is what one reader would have read */
    bool ended;     /* the list, in the last part that was taken; it ends at `end` */
    uint32_t last;  /* that part */
    uint64_t end;
    struct lock *lock;      /* of the two below, and of which parts are done */
    bool over;              /* no further part is wanted */
    uint64_t cut_bytes;     /* of the file, as its reader is told: up to the last cut */
    enum vrs_status status; /* of the progress, as of `error` on the caller's thread alone */
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

/* One job at a time comes here, in the order of the parts. */
static void cut_part(struct round *round, uint32_t part)
{
    const struct trace_parts *parts = round->parts;
    struct cut *cut = &slot_of(round, part)->cut;
    struct part *p = &round->part[part];
    if (is_over(round) || round->cutter->ended)
        return;
    p->is_cut = cutter_next(round->cutter, parts->part_bytes, cut);
    if (parts->cuts != NULL)
        ++*parts->cuts;
    lock_take(round->lock);
    round->cut_bytes = parts->stored != NULL ? window_offset(parts->stored) : cut->at;
    lock_give(round->lock);
}

static enum vrs_status read_part(struct part *p, struct slot *slot, const struct round *round)
{
    struct reading *r = &slot->reading;
    struct json_end ends = { .cut = false };
    struct window w;
    if (!cut_open(&slot->cut, &w))
        return VRS_NOMEM;
    reading_return_to_list(r);
    r->stops = true;
    r->window = &w;
    const struct json_sink sink = reading_sink(r);
    enum vrs_status status = json_read_inside(&w, round->limits, &sink, round->open,
                                              JSON_AT_VALUE_OR_END, &ends, NULL);
    p->last = r->list_end != 0;
    p->whole = status == VRS_OK && ends.at_value && ends.offset == slot->cut.end &&
               r->place == PLACE_EVENTS && r->ignored == 0;
    r->window = NULL;
    cut_close(&slot->cut, &w);
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
    return read_part(p, slot, round);
}

/* On the caller's thread. */
static void tell_progress(struct round *round)
{
    const struct trace_parts *parts = round->parts;
    if (parts->progress == NULL || round->status != VRS_OK)
        return;
    lock_take(round->lock);
    uint64_t done = round->cut_bytes;
    lock_give(round->lock);
    round->status = parts->progress(parts->progress_arg, done, &round->error);
    if (round->status != VRS_OK)
        end_round(round);
}

static void do_job(void *arg, uint32_t i, uint32_t thread)
{
    struct round *round = arg;
    uint32_t part = i / JOBS_A_PART;
    if (thread == 0)
        tell_progress(round);
    if (i % JOBS_A_PART == 0) {
        cut_part(round, part);
        return;
    }
    struct part *p = &round->part[part];
    struct slot *slot = slot_of(round, part);
    slot->reading = (struct reading){ .trace = &slot->trace };
    p->status = !p->is_cut || is_over(round) ? VRS_LIMIT : fill_slot(slot, p, round);
    end_part(round, part);
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

/* One thread at a time comes here, each time that a job is done. */
static void take_parts(void *arg, uint32_t done)
{
    struct round *round = arg;
    (void)done;
    for (; round->taken < ROUND_PARTS && is_done(round, round->taken); round->taken++) {
        const struct part *p = &round->part[round->taken];
        struct slot *slot = slot_of(round, round->taken);
        if (round->certain && !round->ended) {
            round->certain = take_part(round->into, p, slot);
            round->ended = round->certain && p->last;
            round->last = round->taken;
            round->end = slot->reading.list_end;
            if (!round->certain || round->ended)
                end_round(round);
        }
        reading_free(&slot->reading);
    }
}

/* A cut needs the one before, and the slot of a part that was taken with all before it; reading
 * needs the cut. */
static void set_needs(const struct round *round, uint64_t *needs)
{
    for (uint32_t i = 0; i < ROUND_PARTS; i++) {
        uint32_t cut = i * JOBS_A_PART;
        needs[cut] = i > 0 ? UINT64_C(1) << (cut - JOBS_A_PART) : 0;
        if (i >= round->slots)
            needs[cut] |= (UINT64_C(1) << (i - round->slots + 1) * JOBS_A_PART) - 1;
        needs[cut + 1] = UINT64_C(1) << cut;
    }
}

static void read_rounds(struct round *round)
{
    const struct pool_work work = {
        .jobs = POOL_NEEDS_MOST, .job = do_job, .finished = take_parts, .arg = round
    };
    uint64_t needs[POOL_NEEDS_MOST];
    set_needs(round, needs);
    while (!round->over && !round->cutter->ended) {
        round->taken = 0;
        memset(round->part, 0, sizeof round->part);
        pool_run_needing(round->parts->threads, &work, needs);
    }
}

/* The bytes behind the list, of what comes in order. */
struct behind {
    struct round *round;
    uint32_t part; /* the next are in its cut, behind `used` of them */
    size_t used;
};

static bool is_in_cut(const struct behind *b)
{
    return b->part < ROUND_PARTS && b->round->part[b->part].is_cut;
}

static enum vrs_status read_behind(void *self, uint8_t *to, size_t len, size_t *ret,
                                   struct vrs_error *err)
{
    struct behind *b = self;
    for (; is_in_cut(b); b->part++, b->used = 0) {
        const struct cut *cut = &slot_of(b->round, b->part)->cut;
        size_t left = cut->bytes.len - b->used;
        if (left == 0)
            continue;
        *ret = left < len ? left : len;
        memcpy(to, cut->bytes.at + b->used, *ret);
        b->used += *ret;
        return VRS_OK;
    }
    *ret = cutter_take(b->round->cutter, to, len);
    return window_status(b->round->cutter->in_order, err);
}

/* What stands behind the list; false: it is not certain. */
static bool read_tail(struct round *round, struct json_end *ret)
{
    struct reading *r = round->into;
    const struct source *input = round->parts->input;
    struct section s = { input, round->end, UINT64_MAX };
    struct behind b = { round, round->last, 0 };
    struct window w;
    if (input == NULL)
        b.used = (size_t)(round->end - slot_of(round, round->last)->cut.at);
    *ret = (struct json_end){ .offset = round->end };
    if (window_init(&w,
                    input != NULL ? source_of_section(&s)
                                  : (struct source){ .read = read_behind, .self = &b },
                    NULL) != VRS_OK)
        return false;
    w.base = round->end;
    r->place = PLACE_FILE;
    r->window = &w;
    const struct json_sink sink = reading_sink(r);
    bool ok = r->trace->header.is_array ||
              json_read_inside(&w, round->limits, &sink, S("{"), JSON_BEHIND_VALUE, ret, NULL) ==
                  VRS_OK;
    if (ok)
        reading_rest(r->trace, &w, ret);
    ok = ok && !ret->cut && window_status(&w, NULL) == VRS_OK;
    r->window = NULL;
    window_free(&w);
    return ok;
}

/* With slots, and what threads share. */
static enum vrs_status read_list(struct round *round, struct json_end *ret, bool *ret_done,
                                 struct vrs_error *err)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    round->slots = pool_threads(round->parts->threads) * SLOTS_A_THREAD;
    round->slots = round->slots < SLOTS_MOST ? round->slots : SLOTS_MOST;
    round->slot = arena_array(&arena, struct slot, round->slots);
    round->lock = lock_make(&arena);
    bool ok = round->slot != NULL && round->lock != NULL;
    for (uint32_t i = 0; i < round->slots && ok; i++)
        cut_init(&round->slot[i].cut);
    if (ok)
        read_rounds(round);
    /* What a cut that failed has taken is missing from what stands behind the list. */
    *ret_done = ok && round->ended && !round->cutter->failed && read_tail(round, ret);
    for (uint32_t i = 0; i < round->slots && ok; i++) {
        trace_free(&round->slot[i].trace);
        cut_free(&round->slot[i].cut);
    }
    lock_end(round->lock);
    arena_free(&arena);
    if (!ok)
        return vrs_no_memory(err);
    if (round->status != VRS_OK && err != NULL)
        *err = round->error;
    return round->status;
}

/* The file up to the first part: within the list. */
static bool read_head(struct cut *head, const struct limits *limits, struct reading *r)
{
    struct window w;
    struct json_end ends = { .cut = false };
    if (!cut_open(head, &w))
        return false;
    r->window = &w;
    const struct json_sink sink = reading_sink(r);
    bool ok = json_read(&w, limits, &sink, &ends, NULL) == VRS_OK && ends.at_value &&
              ends.offset == head->end && r->place == PLACE_EVENTS && r->ignored == 0;
    r->window = NULL;
    cut_close(head, &w);
    return ok;
}

/* Behind a head that was cut. */
static enum vrs_status read_behind_head(struct cutter *cutter, struct cut *head,
                                        const struct trace_parts *parts,
                                        const struct limits *limits, struct reading *r,
                                        struct json_end *ret, bool *ret_done,
                                        struct vrs_error *err)
{
    if (cutter->ended || !read_head(head, limits, r))
        return VRS_OK;
    struct round round = { .parts = parts,
                           .limits = limits,
                           .open = r->trace->header.is_array ? S("[") : S("{["),
                           .cutter = cutter,
                           .into = r,
                           .certain = true };
    return read_list(&round, ret, ret_done, err);
}

enum vrs_status parts_read(struct window *w, const struct trace_parts *parts,
                           const struct limits *limits, struct reading *r, struct json_end *ret,
                           bool *ret_done, struct vrs_error *err)
{
    struct cutter cutter;
    struct cut head;
    enum vrs_status status = VRS_OK;
    cutter_init(&cutter, parts->input, w, window_offset(w));
    cut_init(&head);
    *ret_done = false;
    if (cutter_next(&cutter, 0, &head))
        status = read_behind_head(&cutter, &head, parts, limits, r, ret, ret_done, err);
    cut_free(&head);
    cutter_free(&cutter);
    return status;
}
