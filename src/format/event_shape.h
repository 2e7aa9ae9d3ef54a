/* event_shape.h - what one event of a pickle looked like, to recognise the next that looks alike.
 *
 * Events of one kind differ in a few numbers, labels and in their stack.  A shape is the bytes between
 * those, cut into pieces: keys, memo reads of values that do not change, memo writes.  Where an
 * event's bytes equal those of a shape, only those are left to be read: memo entries never
 * change, so memo reads of equal bytes are equal values. */
#ifndef VRS_FORMAT_EVENT_SHAPE_H
#define VRS_FORMAT_EVENT_SHAPE_H

#include "base/bytes.h"
#include "format/builder.h"

enum {
    PIECE_WORDS = 4, /* of eight bytes */
    PIECE_PUTS = 2,
    SHAPE_PIECES = 16
};

/* What stands behind the bytes of a piece. */
enum piece_end {
    END_NOTHING, /* the next piece */
    END_ADDRESS,
    END_SIZE,
    END_STREAM,
    END_TIME,
    END_STACK,            /* the value of `frames` */
    END_COMPILE_CONTEXT,  /* strings, which may differ from event to event */
    END_USER_METADATA,
    END_INTERNAL_METADATA,
    END_PUT,   /* the number of a memo write of the C++ writer */
    END_EVENT  /* the piece was the last */
};

/* The form in which a number stood last time.  Taking it for granted, and only checking, lets the
 * processor look at what is behind the number before it has seen the number. */
struct number_form {
    uint16_t op, mask; /* of the two bytes the number begins with */
    uint8_t argument, len;
    uint8_t unused; /* bits of eight bytes that the argument does not reach */
    bool is_signed;
};

struct piece {
    uint64_t bytes[PIECE_WORDS], mask[PIECE_WORDS];
    uint8_t len, words;
    uint8_t end; /* enum piece_end */
    uint8_t puts;
    uint32_t put[PIECE_PUTS];  /* handles of the memo writes that stand in the piece */
    struct number_form number; /* where `end` is one */
};

struct shape {
    struct piece piece[SHAPE_PIECES];
    uint32_t pieces;
    pool_id pool;
    uint8_t action;
    uint32_t next; /* the shape of the event that followed last time */
};

static inline bool piece_stands(const struct piece *p, const uint8_t *at)
{
    for (uint32_t i = 0; i < p->words; i++)
        if ((load_le64(at + i * 8) & p->mask[i]) != p->bytes[i])
            return false;
    return true;
}

/* A piece of at most PIECE_WORDS * 8 bytes, with nothing behind it. */
struct piece piece_of(const uint8_t *at, size_t len);

/* Appends the `len` bytes at `at` with what stands behind them, in as many pieces as they need;
 * the memo writes in them, `put`, go to the last.  False where the shape gets too long. */
bool shape_add(struct shape *s, const uint8_t *at, size_t len, enum piece_end end,
               const uint32_t *put, uint32_t puts);

#endif
