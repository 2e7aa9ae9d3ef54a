/* fast.c - events as PyTorch writes them, without the operand stack. */
#include "format/snapshot/fast.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "format/pickle/pickle_ops.h"
#include "format/snapshot/build.h"
#include "format/snapshot/builder.h"
#include "format/snapshot/keys.h"
#include "model/ids.h"
#include "model/recording.h"

void fast_init(struct fast *f)
{
    *f = (struct fast){ .known.used = 0 };
    run_cache_init(&f->runs);
}

void fast_free(struct fast *f)
{
    run_cache_free(&f->runs);
}

/* An event being read: where, and what of it is known. */
struct reading {
    struct fast *f;
    struct builder *b;
    const uint8_t *at, *end;
    struct event_row event;
    struct context context;
    uint32_t put[PUTS_MAX]; /* handles for the memo, in order */
    uint32_t puts;
};

static bool room(const struct reading *e, size_t len)
{
    return (size_t)(e->end - e->at) >= len;
}

static inline bool add_put(struct reading *e, uint32_t handle)
{
    if (e->puts == PUTS_MAX)
        return false;
    e->put[e->puts++] = handle;
    return true;
}

/* A whole number of up to 64 bits, most often in this form; false where none stands here. */
static inline bool take_number(struct reading *e, struct number_form *form, uint64_t *ret,
                               bool *ret_negative)
{
    return number_take(&e->at, form, ret, ret_negative);
}

/* The memo entry that the get here names, or an unset one where none stands here. */
static uint32_t take_handle(struct reading *e)
{
    const uint8_t *at = e->at;
    uint32_t slot = *at == OP_BINGET ? at[1] : load_le32(at + 1);
    e->at += *at == OP_BINGET ? 2 : 5;
    bool get = *at == OP_BINGET || *at == OP_LONG_BINGET;
    return get && slot < e->b->memo.len ? e->b->memo.at[slot] : 0;
}

/* The number of a memo write: both writers number their entries one after the other, and any
 * other number is for the ordinary reader. */
static bool take_put_number(struct reading *e, unsigned op)
{
    uint32_t n = op == OP_BINPUT ? e->at[0] : load_le32(e->at);
    e->at += op == OP_BINPUT ? 1 : 4;
    return n == e->b->memo_puts + e->puts;
}

/* A memo write of `handle`, if one stands here. */
static bool take_put(struct reading *e, uint32_t handle, bool *ret_put)
{
    unsigned op = *e->at;
    *ret_put = op == OP_MEMOIZE || op == OP_BINPUT || op == OP_LONG_BINPUT;
    if (!*ret_put)
        return true;
    e->at++;
    return (op == OP_MEMOIZE || take_put_number(e, op)) && add_put(e, handle);
}

/* EMPTY_LIST and what follows: a list of known frames, or an empty one. */
static bool take_frames(struct reading *e)
{
    uint32_t place = e->puts;
    bool put;
    e->at++;
    if (!take_put(e, memo_handle(TAG_STACK, 0), &put))
        return false;
    if (*e->at == OP_MARK && e->at[1] == OP_APPENDS) {
        /* The C++ writer closes an empty list too. */
        e->at += 2;
    } else if (*e->at == OP_MARK) {
        e->at++;
        if (!run_cache_take(&e->f->runs, e->b, (enum event_action)e->event.action, e->at, e->end,
                            &e->event.stack, &e->at))
            return false;
    }
    if (!room(e, SHAPE_BYTES) || (!put && !take_put(e, 0, &put)))
        return false;
    if (put)
        e->put[place] = memo_handle(TAG_STACK, e->event.stack);
    return true;
}

/* The value of `frames`. */
static bool take_stack(struct reading *e)
{
    e->event.stack = 0;
    if (*e->at == OP_EMPTY_LIST)
        return take_frames(e);
    uint32_t handle = take_handle(e);
    e->event.stack = handle_row(handle);
    return handle_tag(handle) == TAG_STACK;
}

static inline bool take_size(struct reading *e)
{
    bool negative;
    return number_take_any(&e->at, &e->event.size, &negative) && !negative &&
           e->event.size <= EVENT_SIZE_MAX;
}

static inline bool set_stream(struct builder *b, uint64_t handle, uint16_t *ret)
{
    *ret = b->last_stream_row;
    if (handle == b->last_stream && b->r->streams.rows.len != 0)
        return true;
    return build_stream(b, handle, ret, NULL) == VRS_OK;
}

static inline bool take_stream(struct reading *e, struct number_form *form)
{
    uint64_t handle;
    bool negative;
    return take_number(e, form, &handle, &negative) && set_stream(e->b, handle, &e->event.stream);
}

/* A string written out. */
static bool take_fresh_string(struct reading *e, struct label *label, uint32_t *ret)
{
    const uint8_t *at = e->at;
    size_t prefix = *at == OP_SHORT_BINUNICODE ? 1 : 4;
    size_t len = prefix == 1 ? at[1] : load_le32(at + 1);
    if (len > FAST_BYTES || !room(e, 1 + prefix + len + SHAPE_BYTES))
        return false;
    str text = { (const char *)at + 1 + prefix, len };
    string_id id;
    bool put;
    /* Text that must be repaired is counted each time: by the ordinary reader. */
    if (!utf8_valid(text) || build_intern(e->b, text, &id, NULL) != VRS_OK)
        return false;
    e->at += 1 + prefix + len;
    *ret = id.n;
    bool memoize = *e->at == OP_MEMOIZE;
    if (!take_put(e, memo_handle(TAG_STRING, id.n), &put))
        return false;
    if (memoize && e->at - at <= PIECE_BYTES)
        *label = (struct label){ piece_of(at, (size_t)(e->at - at)), id.n };
    return true;
}

/* A label of the event. */
static bool take_label(struct reading *e, struct label *label, uint32_t *ret)
{
    if (*e->at == OP_SHORT_BINUNICODE || *e->at == OP_BINUNICODE) {
        if (label->string == 0 || !piece_stands(&label->piece, e->at))
            return take_fresh_string(e, label, ret);
        e->at += label->piece.len;
        *ret = label->string;
        return add_put(e, memo_handle(TAG_STRING, label->string));
    }
    uint32_t handle = take_handle(e);
    *ret = handle_row(handle);
    return handle_tag(handle) == TAG_STRING;
}

static bool take_compile_context(struct reading *e)
{
    if (!take_label(e, &e->f->label[0], &e->context.compile_context.n))
        return false;
    if (e->context.compile_context.n == VALUE_N_A)
        e->context.compile_context.n = 0;
    return true;
}

/* What stands behind a piece. */
static inline bool take_end(struct reading *e, enum piece_end end, struct number_form *form)
{
    bool negative;
    switch (end) {
    case END_ADDRESS:
        return take_number(e, form, &e->event.address, &negative);
    case END_SIZE:
        return take_size(e);
    case END_STREAM:
        return take_stream(e, form);
    case END_TIME:
        return take_number(e, form, &e->event.time_us, &negative);
    case END_STACK:
        return take_stack(e);
    case END_COMPILE_CONTEXT:
        return take_compile_context(e);
    case END_USER_METADATA:
        return take_label(e, &e->f->label[1], &e->context.user_metadata.n);
    case END_INTERNAL_METADATA:
        return take_label(e, &e->f->label[2], &e->context.internal_metadata.n);
    case END_PUT:
    case END_EVENT:
        break;
    }
    return true;
}

/* Leaves the event's row on the operand stack. */
static void push_event(struct builder *b, uint32_t row)
{
    uint32_t floor = b->marks.len == 0 ? 0 : b->marks.at[b->marks.len - 1];
    if (b->stack.len > floor) {
        struct value *top = &b->stack.at[b->stack.len - 1];
        if (top->tag == TAG_EVENT && top->row + top->count == row) {
            top->count++;
            return;
        }
    }
    b->stack.at[b->stack.len++] = row_value(TAG_EVENT, row);
}

/* The event is whole: its row, its value, and its memo entries, which stand behind the memo. */
static inline bool add_event(struct builder *b, struct event_row *event,
                             const struct context *context, uint32_t puts)
{
    bool same = context_equal(*context, b->last_context);
    event->context = b->last_context_id.n;
    if ((!same && build_context(b, context, &event->context, NULL) != VRS_OK) ||
        !event_append(&b->r->events, event))
        return false;
    b->memo.len += puts;
    b->memo_puts += puts;
    push_event(b, b->r->events.rows.len - 1);
    (*b->finished)++;
    return true;
}

/* The memo entry of a put, of the event that comes next. */
static inline uint32_t entry_of(const struct builder *b, uint32_t put)
{
    return put == OWN_PUT ? memo_handle(TAG_EVENT, b->r->events.rows.len) : put;
}

static bool keep_event(struct reading *e)
{
    uint32_t *memo = e->b->memo.at + e->b->memo.len;
    for (uint32_t i = 0; i < e->puts; i++)
        memo[i] = entry_of(e->b, e->put[i]);
    return add_event(e->b, &e->event, &e->context, e->puts);
}

static void begin(struct reading *e, struct fast *f, struct builder *b, const uint8_t *at,
                  const uint8_t *end)
{
    e->f = f;
    e->b = b;
    e->at = at;
    e->end = end;
    e->event = (struct event_row){
        .address = UNKNOWN_U64,
        .size = UNKNOWN_U64,
        .time_us = UNKNOWN_U64,
    };
    e->context = (struct context){ .action = { 0 } };
    e->puts = 0;
}

/* By a shape. */

static inline bool take_slot(struct reading *e, const struct slot *slot, const uint8_t *at)
{
    bool negative;
    uint64_t n = number_value(load_le64(at + slot->at), slot->unused, slot->is_signed, &negative);
    if (slot->kind == END_ADDRESS)
        e->event.address = n;
    else if (slot->kind == END_TIME)
        e->event.time_us = n;
    else
        return set_stream(e->b, n, &e->event.stream);
    return true;
}

static inline bool take_piece(struct reading *e, struct piece *p)
{
    const uint8_t *at = e->at;
    if (!piece_stands(p, at))
        return false;
    for (uint32_t i = 0; i < p->slots; i++)
        if (!take_slot(e, &p->slot[i], at))
            return false;
    e->at = at + p->len;
    if (p->end == END_PUT && !take_put_number(e, e->at[-1]))
        return false;
    for (uint32_t i = 0; i < p->puts; i++)
        if (!add_put(e, p->put[i]))
            return false;
    return take_end(e, (enum piece_end)p->end, &p->number);
}

/* The event at `at` by one shape; its end, or NULL. */
static const uint8_t *match_event(struct fast *f, struct builder *b, struct shape *s,
                                  const uint8_t *at, const uint8_t *end)
{
    if (!piece_stands(&s->piece[0], at))
        return NULL;
    struct reading e;
    begin(&e, f, b, at, end);
    e.event.action = s->action;
    e.context = s->context;
    for (uint32_t i = 0; i < s->pieces; i++)
        if (!take_piece(&e, &s->piece[i]))
            return NULL;
    return ends_event(e.at) && keep_event(&e) ? e.at : NULL;
}

/* By any shape. */
static const uint8_t *match_any(struct fast *f, struct builder *b, const uint8_t *at,
                                const uint8_t *end)
{
    uint32_t guess = shapes_guess(&f->known), turn = 0;
    for (uint32_t i = guess; i < f->known.used; i = shapes_next(&f->known, guess, &turn)) {
        const uint8_t *behind = match_event(f, b, &f->known.shape[i], at, end);
        if (behind == NULL)
            continue;
        shapes_follow(&f->known, i);
        return behind;
    }
    return NULL;
}

/* Pair by pair, learning the shape. */

struct lesson {
    struct reading e;
    struct shape shape;
    const uint8_t *piece_at; /* where the piece begins that is not yet in the shape */
    struct piece piece;      /* its slots */
    uint32_t piece_puts;     /* memo writes before it */
    bool learnable;
};

/* The bytes up to here are a piece. */
static void end_piece(struct lesson *l, enum piece_end end)
{
    size_t len = (size_t)(l->e.at - l->piece_at);
    uint32_t puts = l->e.puts - l->piece_puts;
    l->learnable = l->learnable && puts <= PIECE_PUTS;
    if (!l->learnable)
        return;
    l->piece.end = (uint8_t)end;
    l->piece.puts = (uint8_t)puts;
    for (uint32_t i = 0; i < puts; i++)
        l->piece.put[i] = l->e.put[l->piece_puts + i];
    l->learnable = shape_add(&l->shape, l->piece_at, len, &l->piece);
}

static void begin_piece(struct lesson *l)
{
    l->piece_at = l->e.at;
    l->piece_puts = l->e.puts;
    l->piece.slots = 0;
}

/* A memo write of `handle`, if one stands here; its number may differ in the next event. */
static bool learn_put(struct lesson *l, uint32_t handle, bool *ret_put)
{
    struct reading *e = &l->e;
    unsigned op = *e->at;
    *ret_put = op == OP_MEMOIZE || op == OP_BINPUT || op == OP_LONG_BINPUT;
    if (!*ret_put)
        return true;
    e->at++;
    if (op == OP_MEMOIZE)
        return add_put(e, handle);
    const uint8_t *number = e->at;
    if (!take_put_number(e, op) || !add_put(e, handle))
        return false;
    const uint8_t *behind = e->at;
    e->at = number;
    end_piece(l, END_PUT);
    e->at = behind;
    begin_piece(l);
    return true;
}

/* A number whose form is taken to be that of all events of the shape. */
static bool learn_slot(struct lesson *l, enum piece_end kind)
{
    const uint8_t *at = l->e.at;
    struct number_form form = { .op = 1 }; /* no number begins so: it is learned */
    if (!take_end(&l->e, kind, &form))
        return false;
    l->learnable = l->learnable && piece_add_slot(&l->piece, l->piece_at, at, &form, kind);
    return true;
}

static bool learn_end(struct lesson *l, enum piece_end end)
{
    end_piece(l, end);
    struct number_form form = { .op = 1 };
    bool taken = take_end(&l->e, end, &form);
    if (l->learnable)
        l->shape.piece[l->shape.pieces - 1].number = form;
    begin_piece(l);
    return taken;
}

/* A memo read of a value of this kind: its row or id. */
static bool learn_get(struct lesson *l, enum tag tag, uint32_t *ret)
{
    uint32_t handle = take_handle(&l->e);
    *ret = handle_row(handle);
    return handle_tag(handle) == tag;
}

/* Two numbers and TUPLE2, or a memo read of such a pair. */
static bool learn_pool(struct lesson *l, pool_id *ret)
{
    struct reading *e = &l->e;
    uint64_t first, second;
    bool negative, put;
    struct number_form form = { .op = 1 };
    if (*e->at == OP_BINGET || *e->at == OP_LONG_BINGET)
        return learn_get(l, TAG_PAIR, &ret->n);
    if (!take_number(e, &form, &first, &negative) || !take_number(e, &form, &second, &negative) ||
        *e->at != OP_TUPLE2 || !pools_intern(&e->b->r->pools, first, second, ret))
        return false;
    e->at++;
    return learn_put(l, memo_handle(TAG_PAIR, ret->n), &put);
}

static bool learn_action(struct lesson *l)
{
    uint32_t word;
    if (!learn_get(l, TAG_STRING, &word))
        return false;
    l->e.event.action = (uint8_t)action_of(word);
    return l->e.event.action != ACTION_OTHER;
}

/* A label that is got from the memo is a part of the piece; one that is written out stands behind
 * it. */
static bool learn_label(struct lesson *l, enum piece_end end)
{
    if (*l->e.at != OP_BINGET && *l->e.at != OP_LONG_BINGET)
        return learn_end(l, end);
    struct number_form none = { .op = 1 };
    return take_end(&l->e, end, &none);
}

static bool learn_value(struct lesson *l, uint32_t key)
{
    switch (key) {
    case KEY_ACTION:
        return learn_action(l);
    case KEY_ADDR:
        return learn_slot(l, END_ADDRESS);
    case KEY_SIZE:
        return learn_end(l, END_SIZE);
    case KEY_STREAM:
        return learn_slot(l, END_STREAM);
    case KEY_TIME_US:
        return learn_slot(l, END_TIME);
    case KEY_FRAMES:
        return learn_end(l, END_STACK);
    case KEY_COMPILE_CONTEXT:
        return learn_label(l, END_COMPILE_CONTEXT);
    case KEY_USER_METADATA:
        return learn_label(l, END_USER_METADATA);
    case KEY_INTERNAL_METADATA:
        return learn_label(l, END_INTERNAL_METADATA);
    case KEY_POOL_ID:
        return learn_pool(l, &l->e.context.pool);
    default:
        return false;
    }
}

/* The pairs of an event, up to and with its SETITEMS. */
static bool learn_pairs(struct lesson *l)
{
    uint64_t present = 0;
    for (;;) {
        if (!room(&l->e, 2 * (size_t)ARGUMENT_BYTES))
            return false;
        if (*l->e.at == OP_SETITEMS) {
            l->e.at++;
            break;
        }
        uint32_t key;
        if (!learn_get(l, TAG_STRING, &key) || key == 0 || key >= KEYS ||
            (present & (uint64_t)1 << key) != 0 || !learn_value(l, key))
            return false;
        present |= (uint64_t)1 << key;
    }
    /* Without a stream an event is on the default one. */
    if ((present & (uint64_t)1 << KEY_STREAM) == 0 &&
        build_stream(l->e.b, 0, &l->e.event.stream, NULL) != VRS_OK)
        return false;
    l->learnable = l->learnable && (present & (uint64_t)1 << KEY_STREAM) != 0;
    return (present & (uint64_t)1 << KEY_ACTION) != 0;
}

/* An event from its EMPTY_DICT on, with its own memo write where the one or the other writer puts
 * it. */
static bool learn_pieces(struct lesson *l)
{
    bool put;
    l->e.at++;
    if (!learn_put(l, OWN_PUT, &put) || *l->e.at != OP_MARK)
        return false;
    l->e.at++;
    if (!learn_pairs(l) || (!put && !learn_put(l, OWN_PUT, &put)))
        return false;
    end_piece(l, END_EVENT);
    return ends_event(l->e.at);
}

/* The event at `at`; its end, or NULL.  The shape learned becomes one of `f`. */
static const uint8_t *learn_event(struct fast *f, struct builder *b, const uint8_t *at,
                                  const uint8_t *end)
{
    struct lesson l;
    begin(&l.e, f, b, at, end);
    l.shape.pieces = l.shape.next = 0;
    l.learnable = true;
    begin_piece(&l);
    if (!learn_pieces(&l) || !keep_event(&l.e))
        return NULL;
    if (l.learnable) {
        uint32_t place = f->known.used < SHAPES ? f->known.used++ : f->known.replace++ % SHAPES;
        l.shape.action = l.e.event.action;
        l.shape.context = l.e.context;
        f->known.shape[place] = l.shape;
        shapes_follow(&f->known, place);
    }
    return l.e.at;
}

/* Events are taken only where `b` would let the ordinary reader go as deep as any can, which then
 * need not be asked for each; and where the next memo entry is at the place that `memo_puts` says.
 */
static bool takes_events(const struct builder *b)
{
    return b->memo.len == b->memo_puts && b->marks.max - b->marks.len >= EVENT_MARKS;
}

const uint8_t *fast_events(struct fast *f, struct builder *b, const uint8_t *at, const uint8_t *end,
                           const uint8_t *stop)
{
    if (!takes_events(b))
        return at;
    while (at < stop && end - at >= SHAPE_BYTES && *at == OP_EMPTY_DICT) {
        if (!vec_reserve(&b->memo, PUTS_MAX) || !vec_reserve(&b->stack, 1))
            break;
        const uint8_t *behind = match_any(f, b, at, end);
        if (behind == NULL)
            behind = learn_event(f, b, at, end);
        if (behind == NULL)
            break;
        at = behind;
    }
    return at;
}

/* What all events of a shape that was scouted have in common. */
struct common {
    const struct shape *shape;
    uint8_t puts;
    uint32_t put[PUTS_MAX]; /* LIST_PUT, LABEL_PUT + its place, or a handle */
};

/* Stand for handles that differ from event to event; no handle of a shape is an open one. */
enum { LIST_PUT = TAG_OPEN << 28, LABEL_PUT };

static bool add_common_put(struct common *c, uint32_t handle)
{
    if (c->puts == PUTS_MAX)
        return false;
    c->put[c->puts++] = handle;
    return true;
}

static bool common_make(const struct shape *shape, struct common *ret)
{
    *ret = (struct common){ .shape = shape };
    for (uint32_t i = 0; i < shape->pieces; i++) {
        const struct piece *p = &shape->piece[i];
        enum piece_end end = (enum piece_end)p->end;
        for (uint32_t k = 0; k < p->puts; k++)
            if (!add_common_put(ret, p->put[k]))
                return false;
        if (end == END_STACK && !add_common_put(ret, LIST_PUT))
            return false;
        if (is_label(end) && !add_common_put(ret, LABEL_PUT + label_place(end)))
            return false;
    }
    return true;
}

/* The stack of a run by its number; one that is new is the next of the stretch. */
static bool scouted_run(struct builder *b, struct scouted *s, uint32_t number, uint32_t *ret)
{
    if (number == s->stacks.len) {
        uint32_t stack;
        if (!run_decode(b, s->run, s->runs_end, &stack, &s->run) || !vec_push(&s->stacks, stack))
            return false;
        s->run++;
    }
    assert(number < s->stacks.len);
    if (number >= s->stacks.len) /* no number of a scout; it must not become an address */
        return false;
    *ret = s->stacks.at[number];
    return true;
}

static bool scouted_stack(struct builder *b, struct scouted *s, const struct scouted_event *from,
                          uint32_t *ret)
{
    if (from->stack_is == SCOUTED_RUN)
        return scouted_run(b, s, from->stack, ret);
    uint32_t handle = memo_handle(TAG_STACK, 0);
    if (from->stack_is == SCOUTED_GET)
        handle = from->stack < b->memo.len ? b->memo.at[from->stack] : 0;
    *ret = handle_row(handle);
    return handle_tag(handle) == TAG_STACK;
}

/* The string of a label by its number, as with runs. */
static bool scouted_label(struct builder *b, struct scouted *s, uint32_t number, uint32_t *ret)
{
    if (number == s->strings.len) {
        string_id id;
        str text = { (const char *)s->label + 4, load_le32(s->label) };
        if (build_intern(b, text, &id, NULL) != VRS_OK || !vec_push(&s->strings, id.n))
            return false;
        s->label += 4 + text.len;
    }
    assert(number < s->strings.len);
    if (number >= s->strings.len)
        return false;
    *ret = s->strings.at[number];
    return true;
}

static void set_label(struct context *context, uint32_t place, uint32_t string)
{
    string_id *to[LABELS] = { &context->compile_context, &context->user_metadata,
                              &context->internal_metadata };
    to[place]->n = place == 0 && string == VALUE_N_A ? 0 : string;
}

/* Straight into the columns and behind the memo, whose length says what of it counts. */
static bool take_scouted(struct builder *b, struct scouted *s, const struct scouted_event *from,
                         const struct common *common)
{
    if (!vec_reserve(&b->memo, PUTS_MAX) || !vec_reserve(&b->stack, 1))
        return false;
    struct context context = common->shape->context;
    struct event_row event = {
        .action = common->shape->action,
        .address = from->address,
        .size = from->size,
        .time_us = from->time_us,
    };
    if (!set_stream(b, from->stream, &event.stream) || !scouted_stack(b, s, from, &event.stack))
        return false;
    uint32_t *memo = b->memo.at + b->memo.len, puts = 0;
    for (uint32_t i = 0; i < common->puts; i++) {
        uint32_t put = common->put[i], string;
        if (put == LIST_PUT) {
            memo[puts] = memo_handle(TAG_STACK, event.stack);
            puts += from->stack_is != SCOUTED_GET;
        } else if (handle_tag(put) == TAG_OPEN) {
            uint32_t place = put - LABEL_PUT;
            if (!scouted_label(b, s, from->label[place], &string))
                return false;
            set_label(&context, place, string);
            memo[puts++] = memo_handle(TAG_STRING, string);
        } else {
            memo[puts++] = entry_of(b, put);
        }
    }
    return add_event(b, &event, &context, puts);
}

static enum vrs_status take_batch(struct builder *b, uint64_t offset, struct vrs_error *err)
{
    b->offset = offset;
    TRY(build_appends(b, err));
    b->offset++;
    return build_mark(b, err);
}

enum vrs_status fast_scouted(struct builder *b, const struct stretch *t, struct scouted *scouted,
                             uint64_t *ret_end, struct vrs_error *err)
{
    struct common common[SHAPES];
    *ret_end = t->begin;
    if (!takes_events(b))
        return VRS_OK;
    for (uint32_t i = 0; i < t->known.used; i++)
        if (!common_make(&t->known.shape[i], &common[i]))
            return VRS_OK;
    scouted->run = scouted->runs_end = t->runs.at;
    if (t->runs.len != 0)
        scouted->runs_end += t->runs.len + RUN_PAD_BYTES;
    scouted->label = t->labels.at;
    for (uint32_t i = 0; i < t->events.len; i++) {
        const struct scouted_event *from = &t->events.at[i];
        *ret_end = t->begin + from->offset;
        if (from->stack_is == SCOUTED_BATCH)
            TRY(take_batch(b, *ret_end, err));
        else if (!take_scouted(b, scouted, from, &common[from->shape]))
            return VRS_OK;
    }
    *ret_end = t->end;
    return VRS_OK;
}

const uint8_t *fast_frames(struct fast *f, struct builder *b, const uint8_t *at, const uint8_t *end)
{
    uint32_t stack;
    struct value *list = b->stack.len == 0 ? NULL : &b->stack.at[b->stack.len - 1];
    bool empty = list != NULL && list->tag == TAG_LIST && list->row == 0 && list->flags == 0;
    if (!empty || b->marks.len == b->marks.max || end - at < ARGUMENT_BYTES ||
        (*at != OP_BINGET && *at != OP_LONG_BINGET) ||
        !run_cache_take(&f->runs, b, ACTION_OTHER, at, end, &stack, &at))
        return NULL;
    list = &b->stack.at[b->stack.len - 1];
    list->tag = TAG_STACK;
    list->row = stack;
    return at;
}
