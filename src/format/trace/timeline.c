/* timeline.c - which list a number stands in decides what it is.
 *
 * The two forms begin alike, with a list of numbers: it is kept both as times and as an event until
 * the second list shows which it was.  A value at the place of a number or of a row that is
 * something else makes the row one to be dropped, however deep it goes. */
#include "format/trace/timeline.h"

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/number.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "format/json/reader.h"
#include "format/json/scan.h"
#include "format/trace/look.h"
#include "format/trace/microseconds.h"
#include "format/trace/reading.h"
#include "model/memory_timeline.h"

enum {
    STATE_NUMBERS = 1 + TIMELINE_CATEGORIES, /* what lies below the stack of the plot, which is 0 */
    EVENT_NUMBERS = 4
};

/* How many lists are open: the file, one in it, a state. */
enum depth { DEPTH_OUTSIDE, DEPTH_FILE, DEPTH_LIST, DEPTH_STATE };

struct timeline_reading {
    struct trace *trace;
    struct memory_timeline *m;
    enum depth depth;
    uint32_t ignored; /* containers that are open where none should be */
    uint32_t lists;   /* begun in the file */
    VEC(int64_t) time; /* the numbers of the first list; TRACE_UNKNOWN: none */
    uint64_t time_offset; /* of the first list */
    uint32_t states;  /* begun in the second */
    /* The row at hand: its first numbers, how many it has, and whether all of them are integers. */
    int64_t number[STATE_NUMBERS];
    uint64_t numbers, row_offset;
    bool is_row;
    struct {
        int64_t number[EVENT_NUMBERS];
        bool is_row;
    } first; /* the first list as an event */
    int64_t sum[TIMELINE_CATEGORIES]; /* of events so far */
};

/* Behind `*at` and blanks stands this byte, which is then passed. */
static bool look_past(struct window *w, size_t *at, int wanted)
{
    size_t there = look_behind_blanks(w, *at);
    if (look_byte(w, there) != wanted)
        return false;
    *at = there + 1;
    return true;
}

bool timeline_begins(struct window *w)
{
    size_t at = 0;
    if (!look_past(w, &at, '[') || !look_past(w, &at, '['))
        return false;
    int c = look_byte(w, look_behind_blanks(w, at));
    if (c == ']') /* no time, and no state */
        return look_past(w, &at, ']') && look_past(w, &at, ',') && look_past(w, &at, '[');
    return c == '-' || (c >= '0' && c <= '9');
}

static void drop(struct timeline_reading *r, uint64_t offset)
{
    trace_damaged(r->trace, DAMAGE_NOT_A_ROW, offset);
}

static bool is_time(int64_t ns)
{
    return ns >= -TRACE_TIME_MOST && ns <= TRACE_TIME_MOST;
}

/* What a list of `len` that takes no more gives, `most` being its limit. */
static enum vrs_status full(uint32_t len, uint32_t most, const char *what, struct vrs_error *err)
{
    return len < most ? vrs_no_memory(err)
                      : vrs_fail(err, VRS_LIMIT, "more than %u %s; see --limit items", most, what);
}

static enum vrs_status push(struct timeline_reading *r, int64_t time, const int64_t *bytes,
                            struct vrs_error *err)
{
    if (memory_timeline_push(r->m, time, bytes))
        return VRS_OK;
    return full(r->m->rows.len, r->m->rows.max, "rows", err);
}

static enum vrs_status push_time(struct timeline_reading *r, int64_t ns, struct vrs_error *err)
{
    if (vec_push(&r->time, ns))
        return VRS_OK;
    return full(r->time.len, r->time.max, "times", err);
}

/* Of a time: not before that of the row above. */
static int64_t in_order(struct timeline_reading *r, int64_t time, uint64_t offset)
{
    if (r->m->rows.len == 0 || time >= r->m->time[r->m->rows.len - 1])
        return time;
    trace_damaged(r->trace, DAMAGE_UNORDERED, offset);
    return r->m->time[r->m->rows.len - 1];
}

/* States. */

/* The framework gives what was there before the recording the time of the first event: no two other
 * states have one time. */
static bool is_before(const struct timeline_reading *r, uint32_t state)
{
    if (state > 0)
        return false;
    return r->time.at[0] < 0 || (r->time.len > 1 && r->time.at[1] == r->time.at[0]);
}

static enum vrs_status end_state(struct timeline_reading *r, struct vrs_error *err)
{
    uint32_t state = r->states++;
    const int64_t *bytes = r->number + 1;
    int64_t ignored, time = state < r->time.len ? r->time.at[state] : TRACE_UNKNOWN;
    r->trace->events++;
    if (!r->is_row || r->numbers != STATE_NUMBERS || r->number[0] != 0 || time == TRACE_UNKNOWN ||
        !memory_timeline_sum(bytes, &ignored)) {
        drop(r, r->row_offset);
        return VRS_OK;
    }
    if (is_before(r, state)) {
        r->m->has_before = true;
        for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
            r->m->before[c] = bytes[c];
        return VRS_OK;
    }
    return push(r, in_order(r, time, r->row_offset), bytes, err);
}

/* Times behind the last state. */
static void end_states(struct timeline_reading *r, bool cut)
{
    r->m->form = TIMELINE_STATES;
    for (uint32_t i = r->states; !cut && i < r->time.len; i++)
        drop(r, r->time_offset);
}

/* Events. */

/* Adds to the sums, unless one of them has no 64 bits then. */
static bool add(struct timeline_reading *r, int64_t category, int64_t bytes)
{
    int64_t *sum = &r->sum[category], had = *sum, ignored;
    if (!i64_add(had, bytes, sum))
        return false;
    if (memory_timeline_sum(r->sum, &ignored))
        return true;
    *sum = had;
    return false;
}

static enum vrs_status take_event(struct timeline_reading *r, const int64_t number[EVENT_NUMBERS],
                                  bool is_row, uint64_t offset, struct vrs_error *err)
{
    struct memory_timeline *m = r->m;
    int64_t time = number[0], action = number[1], category = number[3];
    r->trace->events++;
    if (!is_row || !is_time(time) || action < 1 || action > TIMELINE_ACTIONS || category < 0 ||
        category >= TIMELINE_CATEGORIES || !add(r, category, number[2])) {
        drop(r, offset);
        return VRS_OK;
    }
    m->actions[action - 1]++;
    if (time < 0 && m->rows.len == 0) {
        m->has_before = true;
        m->before[category] = r->sum[category];
        return VRS_OK;
    }
    time = in_order(r, time, offset);
    if (m->rows.len == 0 || time > m->time[m->rows.len - 1])
        return push(r, time, r->sum, err);
    m->bytes[category][m->rows.len - 1] = r->sum[category];
    return VRS_OK;
}

/* The first list was an event, and so is the one that stands open. */
static enum vrs_status begin_events(struct timeline_reading *r, struct vrs_error *err)
{
    r->m->form = TIMELINE_EVENTS;
    return take_event(r, r->first.number, r->first.is_row, r->time_offset, err);
}

/* Tokens. */

/* In the second list, where a state may begin. */
static bool is_at_state(const struct timeline_reading *r)
{
    return r->depth == DEPTH_LIST && r->lists == 2;
}

static void begin_row(struct timeline_reading *r, uint64_t offset)
{
    r->numbers = 0;
    r->row_offset = offset;
    r->is_row = true;
}

static enum vrs_status begin_array(void *self, uint64_t offset, struct vrs_error *err)
{
    struct timeline_reading *r = self;
    (void)err;
    bool is_state = is_at_state(r) && r->m->form != TIMELINE_EVENTS;
    if (r->ignored > 0 || (r->depth >= DEPTH_LIST && !is_state)) {
        r->is_row = false;
        r->ignored++;
        return VRS_OK;
    }
    if (is_state)
        r->m->form = TIMELINE_STATES;
    if (r->depth == DEPTH_FILE && r->lists++ == 0)
        r->time_offset = offset;
    r->depth++;
    begin_row(r, offset);
    return VRS_OK;
}

static enum vrs_status begin_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct timeline_reading *r = self;
    (void)offset;
    (void)err;
    r->is_row = false;
    r->ignored++;
    return VRS_OK;
}

/* What stands where a time, a row or a number should stand, and is none. */
static enum vrs_status stranger(struct timeline_reading *r, uint64_t offset, struct vrs_error *err)
{
    bool is_time = r->depth == DEPTH_LIST && r->lists == 1;
    bool is_state = is_at_state(r) && r->m->form == TIMELINE_STATES;
    r->is_row = false;
    if (is_state)
        r->states++;
    if (is_state || r->depth == DEPTH_FILE) {
        r->trace->events++;
        drop(r, offset);
    }
    return is_time ? push_time(r, TRACE_UNKNOWN, err) : VRS_OK;
}

static enum vrs_status end_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct timeline_reading *r = self;
    return --r->ignored == 0 ? stranger(r, offset, err) : VRS_OK;
}

static void keep_first(struct timeline_reading *r)
{
    r->first.is_row = r->is_row && r->numbers == EVENT_NUMBERS;
    for (uint32_t i = 0; i < EVENT_NUMBERS; i++)
        r->first.number[i] = r->number[i];
}

static enum vrs_status end_array(void *self, uint64_t offset, struct vrs_error *err)
{
    struct timeline_reading *r = self;
    if (r->ignored > 0)
        return --r->ignored == 0 ? stranger(r, offset, err) : VRS_OK;
    enum depth ended = r->depth--;
    if (ended == DEPTH_STATE)
        return end_state(r, err);
    if (ended != DEPTH_LIST)
        return VRS_OK;
    if (r->lists == 1) {
        keep_first(r);
        return VRS_OK;
    }
    if (r->m->form == TIMELINE_EVENTS)
        return take_event(r, r->number, r->is_row && r->numbers == EVENT_NUMBERS, r->row_offset,
                          err);
    if (r->lists > 2 || r->m->form == TIMELINE_NONE) {
        r->trace->events++;
        drop(r, r->row_offset);
    }
    return VRS_OK;
}

/* A number of the first list as a time. */
static enum vrs_status take_time(struct timeline_reading *r, str text, struct vrs_error *err)
{
    int64_t ns;
    bool beyond;
    if (!microseconds_read(text, &ns, &beyond) || beyond || !is_time(ns))
        ns = TRACE_UNKNOWN;
    return push_time(r, ns, err);
}

static enum vrs_status number(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct timeline_reading *r = self;
    if (r->ignored > 0)
        return VRS_OK;
    if (r->depth == DEPTH_FILE || (is_at_state(r) && r->m->form == TIMELINE_STATES))
        return stranger(r, offset, err);
    if (r->lists > 1 && r->m->form == TIMELINE_NONE)
        TRY(begin_events(r, err));
    if (r->depth == DEPTH_LIST && r->lists == 1)
        TRY(take_time(r, text, err));
    uint64_t bits = 0;
    bool negative = false;
    bool is_integer = number_integer(text, &bits, &negative) && (negative || bits <= INT64_MAX);
    r->is_row = r->is_row && is_integer;
    if (r->numbers < STATE_NUMBERS)
        r->number[r->numbers] = (int64_t)bits;
    r->numbers++;
    return VRS_OK;
}

static enum vrs_status string(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct timeline_reading *r = self;
    (void)text;
    return r->ignored > 0 ? VRS_OK : stranger(r, offset, err);
}

static enum vrs_status literal(void *self, enum json_literal literal, uint64_t offset,
                               struct vrs_error *err)
{
    (void)literal;
    return string(self, S(""), offset, err);
}

static enum vrs_status key(void *self, str key, uint64_t offset, bool *ret_take,
                           struct vrs_error *err)
{
    (void)self;
    (void)key;
    (void)offset;
    (void)err;
    *ret_take = false;
    return VRS_OK;
}

static struct json_sink sink_of(struct timeline_reading *r)
{
    return (struct json_sink){
        .self = r,
        .kind = "memory timeline",
        .begin_object = begin_object,
        .end_object = end_object,
        .begin_array = begin_array,
        .end_array = end_array,
        .key = key,
        .string = string,
        .number = number,
        .literal = literal,
    };
}

/* The end. */

/* What is missing; and a file that has no second list of numbers may still be an event. */
static enum vrs_status end_forms(struct timeline_reading *r, const struct json_end *end,
                                 struct vrs_error *err)
{
    if (r->m->form == TIMELINE_NONE && r->first.is_row)
        return begin_events(r, err);
    if (r->m->form != TIMELINE_EVENTS)
        end_states(r, end->cut);
    return VRS_OK;
}

static enum vrs_status check(const struct timeline_reading *r, const struct json_end *end,
                             struct vrs_error *err)
{
    if (r->m->rows.len > 0 || r->m->has_before)
        return VRS_OK;
    if (end->cut)
        return vrs_fail_at(err, VRS_CORRUPT, end->offset,
                           "the file ends before the first whole row");
    if (r->lists == 2 && r->time.len == 0 && r->states == 0)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a memory timeline without a row: the profiler saw no memory of the device "
                        "that it was exported for; export it for another one");
    return vrs_fail(err, VRS_UNSUPPORTED,
                    "lists of numbers, and neither a profiler trace nor a memory timeline: no row "
                    "has a 0 and %d sizes, or time, action, bytes and category",
                    TIMELINE_CATEGORIES);
}

static enum vrs_status read_all(struct timeline_reading *r, struct window *w,
                                const struct limits *limits, struct vrs_error *err)
{
    const struct json_sink sink = sink_of(r);
    struct json_end end;
    TRY(json_read(w, limits, &sink, &end, err));
    /* The checksums of a compressed stream, too, are behind its last byte. */
    reading_rest(r->trace, w, &end);
    TRY(window_status(w, err));
    TRY(end_forms(r, &end, err));
    /* Before it is known that there is something to show: who reads it knows what else is cut. */
    if (end.cut)
        trace_damaged(r->trace, DAMAGE_TRUNCATED, end.offset);
    TRY(check(r, &end, err));
    r->trace->read_bytes = end.offset;
    table_trim(r->m, &memory_timeline_kind);
    return VRS_OK;
}

enum vrs_status timeline_from_json(struct window *w, const struct limits *limits, struct trace *t,
                                   struct vrs_error *err)
{
    struct timeline_reading r = { .trace = t, .m = &t->timeline, .time.max = limits->items };
    enum vrs_status status = read_all(&r, w, limits, err);
    vec_free(&r.time);
    return status;
}
