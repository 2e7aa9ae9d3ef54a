/* scout.c - recognises events by their shapes, in bytes that the reader has not come to. */
#include "format/snapshot/scout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "format/pickle/pickle_ops.h"
#include "format/snapshot/fast.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

enum {
    /* How far a first event is looked for, and what is looked at for a FRAME; both writers begin a
     * new one after 64 KiB. */
    SEARCH_BYTES = 1 << 16,
    SIGHT_BYTES = WINDOW_BYTES - (1 << 16),
    FRAME_BYTES = 9,
    LABEL_BYTES_MAX = 1 << 24, /* of all labels */
    PAD_BYTES = 16             /* loads of numbers may begin before the end of bytes */
};

static enum vrs_status read_input(void *self, uint8_t *to, size_t len, size_t *ret,
                                  struct vrs_error *err)
{
    struct scout *s = self;
    uint64_t offset = s->window.base + (uint64_t)(s->window.end - s->window.buffer);
    return s->plan.source.read_at(s->plan.source.self, offset, to, len, ret, err);
}

/* read_input goes by the window's own offset. */
static enum vrs_status skip_input(void *self, uint64_t len, struct vrs_error *err)
{
    (void)self;
    (void)len;
    (void)err;
    return VRS_OK;
}

enum vrs_status scout_init(struct scout *s, const struct scout_plan *plan, struct vrs_error *err)
{
    *s = (struct scout){ .plan = *plan, .next = plan->begin, .frame = UNKNOWN_U64 };
    run_cache_init(&s->runs);
    if (!strings_init(&s->labels, LABEL_BYTES_MAX))
        return vrs_no_memory(err);
    void *joined = NULL;
    if (!vec_resize(&joined, FAST_BYTES + PAD_BYTES, 1))
        return vrs_no_memory(err);
    s->joined = joined;
    struct source input = { .read = read_input, .self = s, .skip = skip_input };
    return window_init(&s->window, input, err);
}

void scout_free(struct scout *s)
{
    void *joined = s->joined;
    vec_resize(&joined, 0, 0);
    s->joined = NULL;
    window_free(&s->window);
    run_cache_free(&s->runs);
    strings_free(&s->labels);
}

/* An event being matched. */
struct match {
    struct scout *s;
    struct stretch *t;
    const uint8_t *at, *end;
    struct scouted_event *event; /* behind those of the stretch */
    const uint8_t *new_run;      /* of the event, where it is one; NULL else */
    uint32_t new_run_len;
    str fresh[LABELS]; /* labels that are not those of the event before; ptr is NULL for others */
};

/* Bytes of the memo reads that stand here. */
static size_t run_len(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *stop = at;
    while (end - stop > 5 && (*stop == OP_BINGET || *stop == OP_LONG_BINGET))
        stop += *stop == OP_BINGET ? 2 : 5;
    return (size_t)(stop - at);
}

/* The items of a list of frames, which must be memo reads. */
static bool match_run(struct match *m, enum event_action action)
{
    struct run_cache *c = &m->s->runs;
    bool add;
    uint32_t run = run_cache_find(c, action, m->at, m->end, &add);
    m->event->stack_is = SCOUTED_RUN;
    if (run != 0) {
        m->event->stack = run - 1;
        m->at += c->runs.at[run - 1].len + 1;
        return true;
    }
    size_t len = run_len(m->at, m->end);
    m->s->spent |= !add;
    if (!add || len == 0 || len > RUN_BYTES_MAX || m->at[len] != OP_APPENDS)
        return false;
    m->event->stack = c->runs.len;
    m->new_run = m->at;
    m->new_run_len = (uint32_t)len;
    m->at += len + 1;
    return true;
}

/* The value of `frames`: a memo read, or a list that is written to the memo at once. */
static bool match_stack(struct match *m, enum event_action action)
{
    const uint8_t *at = m->at;
    if (*at == OP_BINGET || *at == OP_LONG_BINGET) {
        m->event->stack_is = SCOUTED_GET;
        m->event->stack = *at == OP_BINGET ? at[1] : load_le32(at + 1);
        m->at += *at == OP_BINGET ? 2 : 5;
        return true;
    }
    if (at[0] != OP_EMPTY_LIST || at[1] != OP_MEMOIZE)
        return false;
    m->at += 2;
    m->event->stack_is = SCOUTED_EMPTY;
    if (*m->at != OP_MARK)
        return true;
    m->at++;
    return match_run(m, action) && m->end - m->at >= SHAPE_BYTES;
}

/* A label that is written out; most often as in the event before. */
static bool match_label(struct match *m, uint32_t place)
{
    const struct label *label = &m->s->label[place];
    const uint8_t *at = m->at;
    if (label->string != 0 && piece_stands(&label->piece, at)) {
        m->event->label[place] = label->string;
        m->at += label->piece.len;
        return true;
    }
    if (*at != OP_SHORT_BINUNICODE || m->end - at < 3 + (ptrdiff_t)at[1] + SHAPE_BYTES)
        return false;
    str text = { (const char *)at + 2, at[1] };
    m->fresh[place] = text;
    m->at += 2 + text.len + 1;
    return at[2 + text.len] == OP_MEMOIZE && utf8_valid(text);
}

static void match_slot(struct match *m, const struct slot *slot)
{
    bool negative;
    uint64_t n =
        number_value(load_le64(m->at + slot->at), slot->unused, slot->is_signed, &negative);
    if (slot->kind == END_ADDRESS)
        m->event->address = n;
    else if (slot->kind == END_TIME)
        m->event->time_us = n;
    else
        m->event->stream = n;
}

/* What stands behind a piece. */
static bool match_end(struct match *m, struct piece *p, enum event_action action)
{
    struct scouted_event *event = m->event;
    bool negative = false;
    switch ((enum piece_end)p->end) {
    case END_ADDRESS:
        return number_take(&m->at, &p->number, &event->address, &negative);
    case END_SIZE:
        return number_take_any(&m->at, &event->size, &negative) && !negative &&
               event->size <= EVENT_SIZE_MAX;
    case END_STREAM:
        return number_take(&m->at, &p->number, &event->stream, &negative);
    case END_TIME:
        return number_take(&m->at, &p->number, &event->time_us, &negative);
    case END_STACK:
        return match_stack(m, action);
    case END_COMPILE_CONTEXT:
    case END_USER_METADATA:
    case END_INTERNAL_METADATA:
        return match_label(m, label_place((enum piece_end)p->end));
    case END_PUT: /* numbers its memo entries: only the reader knows how many there are */
        return false;
    case END_EVENT:
        break;
    }
    return true;
}

/* Is it an event of this shape? */
static bool match_shape(struct match *m, struct shape *shape, const uint8_t *at)
{
    if (!piece_stands(&shape->piece[0], at))
        return false;
    m->at = at;
    m->new_run = NULL;
    for (uint32_t i = 0; i < LABELS; i++)
        m->fresh[i].ptr = NULL;
    *m->event = (struct scouted_event){
        .address = UNKNOWN_U64,
        .size = UNKNOWN_U64,
        .time_us = UNKNOWN_U64,
    };
    for (uint32_t i = 0; i < shape->pieces; i++) {
        struct piece *p = &shape->piece[i];
        if (!piece_stands(p, m->at))
            return false;
        for (uint32_t k = 0; k < p->slots; k++)
            match_slot(m, &p->slot[k]);
        m->at += p->len;
        if (!match_end(m, p, (enum event_action)shape->action))
            return false;
    }
    return ends_event(m->at);
}

/* Is it one of any shape? */
static bool match_any(struct match *m, const uint8_t *at)
{
    struct shapes *known = &m->t->known;
    uint32_t guess = shapes_guess(known), turn = 0;
    for (uint32_t i = guess; i < known->used; i = shapes_next(known, guess, &turn)) {
        if (!match_shape(m, &known->shape[i], at))
            continue;
        shapes_follow(known, i);
        m->event->shape = (uint8_t)i;
        return true;
    }
    return false;
}

/* Bytes of the opcode at `at` with its argument; 0: one that stands in no event. */
static uint64_t opcode_len(const uint8_t *at)
{
    switch (pickle_op_form(*at)) {
    case OP_FORM_BARE:
        return 1;
    case OP_FORM_FIXED:
        return pickle_op_bytes(*at);
    case OP_FORM_STRING:
        return *at == OP_SHORT_BINUNICODE ? 2 + (uint64_t)at[1]
               : *at == OP_BINUNICODE     ? 5 + (uint64_t)load_le32(at + 1)
                                          : 0;
    case OP_FORM_LONG:
        return *at == OP_LONG1 ? 2 + (uint64_t)at[1] : 0;
    case OP_FORM_LINE:
    case OP_FORM_FRAME:
    case OP_FORM_GLOBAL:
    case OP_FORM_REFUSED:
        break;
    }
    return 0;
}

/* Does an opcode begin `place` bytes behind the one at `at`? */
static bool opcode_begins(const uint8_t *at, size_t place)
{
    uint64_t reached = 0;
    while (reached < place) {
        uint64_t len = opcode_len(at + reached);
        if (len == 0)
            return false;
        reached += len;
    }
    return reached == place;
}

/* The place of the first FRAME at or behind `at` that another follows, or UNKNOWN_U64.  It is a
 * guess: whoever goes by it looks at what stands there. */
static uint64_t find_frame(const struct window *w)
{
    const uint8_t *at = w->at;
    while (w->end - at > FRAME_BYTES) {
        at = memchr(at, OP_FRAME, (size_t)(w->end - at) - FRAME_BYTES);
        if (at == NULL)
            break;
        uint64_t len = load_le64(at + 1);
        if (len < (uint64_t)(w->end - at - FRAME_BYTES) && at[FRAME_BYTES + len] == OP_FRAME)
            return window_offset(w) + (uint64_t)(at - w->at);
        at++;
    }
    return UNKNOWN_U64;
}

/* A FRAME that stands at `at`, which is at offset s->frame: the next one follows it. */
static bool pass_frame(struct scout *s, const uint8_t *at)
{
    uint64_t len = load_le64(at + 1), offset = s->frame;
    s->frame = UNKNOWN_U64;
    if (*at != OP_FRAME || len > INT64_MAX)
        return false;
    if (len < UNKNOWN_U64 - FRAME_BYTES - offset)
        s->frame = offset + FRAME_BYTES + len;
    return true;
}

/* The event at the window's front with a FRAME inside it: matched without the FRAME. */
static bool match_joined(struct match *m, size_t *ret_len)
{
    struct scout *s = m->s;
    const uint8_t *at = s->window.at;
    size_t len = (size_t)(s->window.end - at) - FRAME_BYTES;
    if (len > FAST_BYTES)
        len = FAST_BYTES;
    uint64_t before = s->frame - window_offset(&s->window);
    if (before >= len || len - before < SHAPE_BYTES || !opcode_begins(at, (size_t)before))
        return false;
    memcpy(s->joined, at, (size_t)before);
    memcpy(s->joined + before, at + before + FRAME_BYTES, len - (size_t)before);
    memset(s->joined + len, 0, PAD_BYTES);
    m->end = s->joined + len;
    if (!match_any(m, s->joined))
        return false;
    *ret_len = (size_t)(m->at - s->joined);
    if (*ret_len <= before)
        return true;
    *ret_len += FRAME_BYTES;
    return pass_frame(s, at + before);
}

/* Gives the event's new run the next number. */
static bool add_run(struct match *m)
{
    struct run_cache *c = &m->s->runs;
    struct stretch *t = m->t;
    uint32_t number = c->runs.len, len = m->new_run_len;
    if (!vec_reserve(&t->runs, len + 1 + RUN_PAD_BYTES))
        return false;
    uint8_t *to = t->runs.at + t->runs.len;
    memcpy(to, m->new_run, len);
    to[len] = OP_APPENDS;
    memset(to + len + 1, 0, RUN_PAD_BYTES);
    t->runs.len += len + 1;
    enum event_action action = (enum event_action)t->known.shape[m->event->shape].action;
    run_cache_add(c, action, m->new_run, len, 0);
    return c->runs.len == number + 1;
}

/* Numbers a label that differs from that of the event before, old or new. */
static bool add_label(struct match *m, uint32_t place)
{
    struct scout *s = m->s;
    struct stretch *t = m->t;
    str text = m->fresh[place];
    uint32_t labels = s->labels.rows.len, len = (uint32_t)text.len;
    string_id id;
    if (!strings_intern(&s->labels, text, &id) || !vec_reserve(&t->labels, len + 4))
        return false;
    m->event->label[place] = id.n;
    if (2 + text.len + 1 <= PIECE_BYTES)
        s->label[place] =
            (struct label){ piece_of((const uint8_t *)text.ptr - 2, text.len + 3), id.n };
    if (id.n < labels)
        return true;
    uint8_t *to = t->labels.at + t->labels.len;
    store_le32(to, len);
    memcpy(to + 4, text.ptr, len);
    t->labels.len += 4 + len;
    return true;
}

/* Keeps a matched event of `len` bytes, and what of it is new.  Where there is no room for that,
 * numbers would no longer be those of the reader. */
static bool keep(struct match *m, size_t len)
{
    struct scout *s = m->s;
    struct stretch *t = m->t;
    const struct shape *shape = &t->known.shape[m->event->shape];
    bool room = m->new_run == NULL || add_run(m);
    /* The reader takes what is new in the order in which it stands. */
    for (uint32_t i = 0; i < shape->pieces && room; i++) {
        enum piece_end end = (enum piece_end)shape->piece[i].end;
        room = !is_label(end) || m->fresh[label_place(end)].ptr == NULL ||
               add_label(m, label_place(end));
    }
    s->spent |= !room;
    if (!room)
        return false;
    if (t->events.len == 0)
        t->begin = window_offset(&s->window);
    m->event->offset = (uint32_t)(window_offset(&s->window) - t->begin);
    t->events.len++;
    s->window.at += len;
    return true;
}

/* APPENDS and MARK at the window's front: CPython writes the items of a list in batches. */
static bool pass_batch(struct scout *s, struct stretch *t)
{
    const uint8_t *at = s->window.at;
    if (t->events.len == 0 || at[0] != OP_APPENDS || at[1] != OP_MARK || at[2] != OP_EMPTY_DICT)
        return false;
    uint32_t offset = (uint32_t)(window_offset(&s->window) - t->begin);
    if (!vec_push(&t->events,
                  (struct scouted_event){ .offset = offset, .stack_is = SCOUTED_BATCH }))
        return false;
    s->window.at += 2;
    return true;
}

/* Does the window show enough for an event, or all there is of the input? */
static bool sees_event(struct window *w)
{
    return window_need(w, FAST_BYTES + FRAME_BYTES) || w->end - w->at >= SHAPE_BYTES + FRAME_BYTES;
}

/* The event at the window's front, if it is one. */
static bool read_event(struct scout *s, struct stretch *t)
{
    struct window *w = &s->window;
    if (!sees_event(w))
        return false;
    if (window_offset(w) == s->frame) {
        if (!pass_frame(s, w->at))
            return false;
        w->at += FRAME_BYTES;
        if (!sees_event(w))
            return false;
    }
    if (!vec_reserve(&t->events, 1)) {
        s->spent = true;
        return false;
    }
    struct match m; /* what is not set here, each try of a shape sets; zeros took a fifth of this */
    m.s = s;
    m.t = t;
    m.end = w->end;
    m.event = &t->events.at[t->events.len];
    size_t len;
    if (match_any(&m, w->at))
        len = (size_t)(m.at - w->at);
    else if (s->spent || s->frame == UNKNOWN_U64 || !match_joined(&m, &len))
        return false;
    return keep(&m, len);
}

/* The first event of a stretch, and where the FRAMEs behind it are. */
static bool find_first(struct scout *s, struct stretch *t)
{
    struct window *w = &s->window;
    uint64_t search_end = window_offset(w) + SEARCH_BYTES;
    s->frame = UNKNOWN_U64;
    while (window_offset(w) < search_end && window_need(w, 1)) {
        if (*w->at == OP_EMPTY_DICT && read_event(s, t)) {
            window_need(w, SIGHT_BYTES);
            s->frame = find_frame(w);
            return true;
        }
        if (s->spent)
            break;
        w->at++;
    }
    return false;
}

bool scout_read(struct scout *s, struct stretch *t)
{
    struct window *w = &s->window;
    t->events.len = t->runs.len = t->labels.len = 0;
    if (s->spent || window_jump(w, s->next, NULL) != VRS_OK || !window_need(w, 1))
        return false;
    t->begin = s->next;
    if (find_first(s, t))
        while (window_offset(w) - t->begin < s->plan.stretch_bytes &&
               (read_event(s, t) || pass_batch(s, t)))
            ;
    t->end = t->events.len == 0 ? t->begin : window_offset(w);
    t->next = s->next = window_offset(w) + s->plan.apart_bytes;
    return t->events.len != 0 || !s->spent;
}
