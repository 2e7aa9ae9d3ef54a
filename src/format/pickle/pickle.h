/* pickle.h - the opcodes of a pickle, each handed to a sink that keeps a stack and a memo.
 *
 *     80 04 7d 94 28 8c 01 61 4b 05 75 2e     EMPTY_DICT, MEMOIZE, MARK, "a", 5, SETITEMS
 *
 * The reader knows the bytes of an opcode, not what it does; it names no object and runs no code:
 * an opcode that could is refused.  Whoever reads drives it opcode by opcode, and may take bytes
 * out of the window between two of them by himself. */
#ifndef VRS_FORMAT_PICKLE_PICKLE_H
#define VRS_FORMAT_PICKLE_PICKLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/window.h"

/* Who takes the opcodes, all but PROTO, FRAME and STOP.  Those that say the same in different forms
 * come as one.  What a function fails with ends the reading. */
struct pickle_sink {
    void *self;
    const char *kind; /* what the pickle should hold, for messages: "memory snapshot" */
    /* One without an argument, an enum pickle_op.  Booleans of protocol 0 are OP_NEWTRUE and
     * OP_NEWFALSE here. */
    enum vrs_status (*plain)(void *self, unsigned op, struct vrs_error *err);
    /* `bits` are two's complement where `negative`. */
    enum vrs_status (*integer)(void *self, uint64_t bits, bool negative, struct vrs_error *err);
    enum vrs_status (*real)(void *self, double real, struct vrs_error *err);
    /* Bytes that should be UTF-8, there until the function returns. */
    enum vrs_status (*string)(void *self, str text, struct vrs_error *err);
    /* Memo writes and reads with a number. */
    enum vrs_status (*put)(void *self, uint64_t entry, struct vrs_error *err);
    enum vrs_status (*get)(void *self, uint64_t entry, struct vrs_error *err);
};

struct pickle {
    struct window *w;
    const struct limits *limits;
    struct pickle_sink sink;
    uint64_t offset; /* of the opcode at hand */
    struct buf text; /* a string longer than the window, or a line */
};

enum pickle_step {
    PICKLE_ON,
    PICKLE_STOP, /* the window stands behind STOP */
    PICKLE_CUT   /* the input ends, or fails, before the end of the opcode */
};

void pickle_init(struct pickle *p, struct window *w, const struct limits *limits,
                 const struct pickle_sink *sink);
void pickle_free(struct pickle *p);

/* At the first byte: takes PROTO, which may stand there alone.  Protocols 0 and 1 have none and
 * begin with a container, which tells them apart.  `*ret_protocol` is written unless the input is
 * cut. */
enum vrs_status pickle_protocol(struct pickle *p, int *ret_protocol, enum pickle_step *ret,
                                struct vrs_error *err) MUST_CHECK;

/* Takes one opcode, which begins at window_offset(p->w), and hands it on. */
enum vrs_status pickle_step(struct pickle *p, enum pickle_step *ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
