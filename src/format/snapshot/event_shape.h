/* event_shape.h - a byte template of one event of a pickle, to recognise the next that looks alike.
 *
 * Events of one kind differ in a few numbers, labels and in their stack.  A shape is the bytes
 * between those, cut into pieces: keys, memo reads of values that do not change, memo writes. Where
 * an event's bytes equal those of a shape, only those are left to be read: memo entries never
 * change, so memo reads of equal bytes are equal values. */
#ifndef VRS_FORMAT_SNAPSHOT_EVENT_SHAPE_H
#define VRS_FORMAT_SNAPSHOT_EVENT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "format/pickle/pickle_ops.h"
#include "format/snapshot/builder.h"
#include "model/recording.h"

enum {
    PIECE_WORDS = 10, /* of eight bytes */
    PIECE_BYTES = PIECE_WORDS * 8,
    PIECE_PUTS = 2,
    PIECE_SLOTS = 3,
    SHAPE_PIECES = 12,
    PUTS_MAX = 8,    /* memo writes of one event */
    EVENT_MARKS = 2, /* open at once in one event: its own, and that of its list of frames */
    OWN_PUT = 0,     /* stands for the event's own handle, until its row is known */
    SHAPES = 16,
    LABELS = 3,
    ARGUMENT_BYTES = 16, /* no opcode with its fixed argument is longer */
    /* All pieces of a shape with their numbers and known labels; asked for once, not for each
     * piece. */
    SHAPE_BYTES = SHAPE_PIECES * (PIECE_BYTES + ARGUMENT_BYTES) + LABELS * PIECE_BYTES
};

/* More bytes than this are no size. */
#define EVENT_SIZE_MAX ((uint64_t)1 << 62)

/* What stands behind the bytes of a piece. */
enum piece_end {
    END_ADDRESS,
    END_SIZE,
    END_STREAM,
    END_TIME,
    END_STACK,           /* the value of `frames` */
    END_COMPILE_CONTEXT, /* strings, which may differ from event to event */
    END_USER_METADATA,
    END_INTERNAL_METADATA,
    END_PUT,  /* the number of a memo write of the C++ writer */
    END_EVENT /* the piece was the last */
};

/* The form in which a number stood last time.  Taking it for granted, and only checking, lets the
 * processor look at what is behind the number before it has seen the number. */
struct number_form {
    uint16_t op, mask; /* of the two bytes the number begins with */
    uint8_t argument, len;
    uint8_t unused; /* bits of eight bytes that the argument does not reach */
    bool is_signed;
};

/* A number inside a piece, whose form never changes: its bytes are masked out. */
struct slot {
    uint8_t kind; /* enum piece_end: END_ADDRESS, END_STREAM or END_TIME */
    uint8_t at;   /* offset of its argument in the piece */
    uint8_t unused;
    bool is_signed;
};

struct piece {
    uint64_t bytes[PIECE_WORDS], mask[PIECE_WORDS];
    uint8_t len, words;
    uint8_t end; /* enum piece_end */
    uint8_t puts, slots;
    uint32_t put[PIECE_PUTS]; /* handles of the memo writes that stand in the piece */
    struct slot slot[PIECE_SLOTS];
    struct number_form number; /* where `end` is one */
};

struct shape {
    struct piece piece[SHAPE_PIECES];
    uint32_t pieces;
    struct context context; /* as far as the pieces hold it */
    uint8_t action;
    uint32_t next; /* the shape of the event that followed last time */
};

/* A label that was written out, with its memo write; most often the same stands there again. */
struct label {
    struct piece piece;
    uint32_t string; /* string_id; 0: none yet */
};

static inline bool is_label(enum piece_end end)
{
    return end >= END_COMPILE_CONTEXT && end <= END_INTERNAL_METADATA;
}

/* The place of a label among LABELS. */
static inline uint32_t label_place(enum piece_end end)
{
    return (uint32_t)end - END_COMPILE_CONTEXT;
}

/* All that is known of how events look. */
struct shapes {
    struct shape shape[SHAPES];
    uint32_t used;
    uint32_t replace; /* the next to give way when all are */
    uint32_t last;    /* the newest event's */
};

/* The shape to try first on an event, where there are any: the one that followed the newest event's
 * last time. */
static inline uint32_t shapes_guess(const struct shapes *known)
{
    return known->shape[known->last].next;
}

/* The shape to try after `i`: all but the guess in turn, of which `*turn` were tried; as many as
 * there are where none is left. */
static inline uint32_t shapes_next(const struct shapes *known, uint32_t guess, uint32_t *turn)
{
    *turn += *turn == guess;
    return *turn < known->used ? (*turn)++ : known->used;
}

/* The event had shape `i`. */
static inline void shapes_follow(struct shapes *known, uint32_t i)
{
    known->shape[known->last].next = i;
    known->last = i;
}

static inline bool piece_stands(const struct piece *p, const uint8_t *at)
{
    for (uint32_t i = 0; i < p->words; i++)
        if ((load_le64(at + (size_t)i * 8) & p->mask[i]) != p->bytes[i])
            return false;
    return true;
}

/* Only in a list can an event be known to be at its end: its next item or its end stands here. */
static inline bool ends_event(const uint8_t *at)
{
    return *at == OP_EMPTY_DICT || *at == OP_APPENDS;
}

/* The number whose eight bytes are `bytes`; `*ret_negative` where it is two's complement. */
static inline uint64_t number_value(uint64_t bytes, uint8_t unused, bool is_signed,
                                    bool *ret_negative)
{
    uint64_t high = bytes << unused;
    *ret_negative = is_signed & high >> 63;
    return *ret_negative ? ~(~high >> unused) : high >> unused;
}

/* By opcode, and behind those of LONG1 by its width; `len` is 0 where no number begins so. */
enum { LONG_FORMS = 9 };
extern const struct number_form number_forms[256 + LONG_FORMS];

static inline const struct number_form *number_form_at(const uint8_t *at)
{
    uint32_t width = at[1] < LONG_FORMS ? at[1] : 0;
    return &number_forms[*at == OP_LONG1 ? 256 + width : *at];
}

/* The form of the whole number that stands here; false, and `*ret` as it was, where none does. */
bool number_learn(const uint8_t *at, struct number_form *ret);

/* Takes the whole number of up to 64 bits at `*at`, most often in this form, and goes behind it;
 * false where none stands there. */
static inline bool number_take(const uint8_t **at, struct number_form *form, uint64_t *ret,
                               bool *ret_negative)
{
    const uint8_t *here = *at;
    if ((load_le16(here) & form->mask) != form->op && !number_learn(here, form))
        return false;
    *ret =
        number_value(load_le64(here + form->argument), form->unused, form->is_signed, ret_negative);
    *at = here + form->len;
    return true;
}

/* The same without a guess, for sizes: they are of another form every other time, and a wrong guess
 * costs more than to look at the opcode first. */
static inline bool number_take_any(const uint8_t **at, uint64_t *ret, bool *ret_negative)
{
    const uint8_t *here = *at;
    const struct number_form *form = number_form_at(here);
    *ret =
        number_value(load_le64(here + form->argument), form->unused, form->is_signed, ret_negative);
    *at = here + form->len;
    return form->len != 0;
}

/* A piece of at most PIECE_BYTES bytes, with nothing behind it. */
struct piece piece_of(const uint8_t *at, size_t len);

/* Makes a slot of the number of this form at `at` (its opcode); false where the piece that begins
 * at `piece_at` has no room for it. */
bool piece_add_slot(struct piece *p, const uint8_t *piece_at, const uint8_t *at,
                    const struct number_form *form, enum piece_end kind);

/* Appends the `len` bytes at `at` with what stands behind them; `piece` brings its slots, memo
 * writes and end.  False where they do not fit. */
bool shape_add(struct shape *s, const uint8_t *at, size_t len, const struct piece *piece);

#endif
