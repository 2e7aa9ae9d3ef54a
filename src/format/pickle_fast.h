/* pickle_fast.h - reads whole events of a pickle at once, where they look as PyTorch writes them.
 *
 * Four fifths of the opcodes of a large snapshot are memo reads inside events.  This reader takes
 * an event from its EMPTY_DICT to its SETITEMS without the operand stack: by its shape where an
 * event before looked alike (event_shape.h), else pair by pair, learning the shape.  Anything
 * unusual (a new frame, a FRAME opcode, an unknown key, the window's edge) makes it give up before
 * it has changed anything but interned strings and stacks, and the ordinary reader takes over. */
#ifndef VRS_FORMAT_PICKLE_FAST_H
#define VRS_FORMAT_PICKLE_FAST_H

#include "format/event_shape.h"
#include "format/run_cache.h"

enum { SHAPES = 16, LABELS = 3 };

/* A label that was written out, with its memo write; most often the same stands there again. */
struct label {
    struct piece piece;
    uint32_t string; /* string_id; 0: none yet */
};

struct fast {
    struct run_cache runs;
    struct shape shape[SHAPES];
    uint32_t shapes;  /* of them in use */
    uint32_t replace; /* the next to give way when all are */
    uint32_t last;    /* the newest event's */
    struct label label[LABELS];
};

/* The window should show this much where an event is tried. */
enum { FAST_BYTES = 8192 };

void fast_init(struct fast *f);
void fast_free(struct fast *f);

/* Reads events that stand one behind the other at `at`, an EMPTY_DICT; returns where the first
 * one it could not take begins (`at` itself: none was taken).  What fails here (memory, limits)
 * fails again in the ordinary reader, which words it. */
const uint8_t *fast_events(struct fast *f, struct builder *b, const uint8_t *at,
                           const uint8_t *end);

/* The list of known frames whose items begin at `at`, behind its MARK; the list itself, still
 * empty, is the newest value of `b` and becomes a stack.  Returns the place behind its APPENDS, or
 * NULL where it is no such list. */
const uint8_t *fast_frames(struct fast *f, struct builder *b, const uint8_t *at,
                           const uint8_t *end);

#endif
