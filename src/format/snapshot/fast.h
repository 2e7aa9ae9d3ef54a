/* fast.h - reads whole events of a pickle at once, where they look as PyTorch writes them.
 *
 * Four fifths of the opcodes of a large snapshot are memo reads inside events.  This reader takes
 * an event from its EMPTY_DICT to its SETITEMS without the operand stack: by its shape where an
 * event before looked alike (event_shape.h), else pair by pair, learning the shape.  Anything
 * unusual (a new frame, a FRAME opcode, an unknown key, the window's edge) makes it give up before
 * it has changed anything but interned strings and stacks, and the ordinary reader takes over. */
#ifndef VRS_FORMAT_SNAPSHOT_FAST_H
#define VRS_FORMAT_SNAPSHOT_FAST_H

#include <stdint.h>

#include "base/fail.h"
#include "base/vec.h"
#include "format/snapshot/builder.h"
#include "format/snapshot/event_shape.h"
#include "format/snapshot/run_cache.h"
#include "format/snapshot/scout.h"

struct fast {
    struct run_cache runs;
    struct shapes known;
    struct label label[LABELS];
};

/* The window should show this much where an event is tried. */
enum { FAST_BYTES = 8192 };

void fast_init(struct fast *f);
void fast_free(struct fast *f);

/* Reads events that stand one behind the other at `at`, an EMPTY_DICT, up to the first that begins
 * at `stop` or behind it; returns where that one, or the first that it could not take, begins (`at`
 * itself: none was taken).  What fails here (memory, limits) fails again in the ordinary reader,
 * which words it. */
const uint8_t *fast_events(struct fast *f, struct builder *b, const uint8_t *at, const uint8_t *end,
                           const uint8_t *stop);

/* What the numbers stand for that a scout gave to runs and labels. */
struct scouted {
    VEC(uint32_t) stacks, strings;
    /* Bytes of those that are not among them yet. */
    const uint8_t *run, *runs_end, *label;
};

/* Takes over the events of a stretch whose first byte the reader has come to; `*ret_end` is where
 * it has to go on.  Where that is not the stretch's end, the numbers in later ones mean nothing. */
enum vrs_status fast_scouted(struct builder *b, const struct stretch *t, struct scouted *scouted,
                             uint64_t *ret_end, struct vrs_error *err) MUST_CHECK;

/* The list of known frames whose items begin at `at`, behind its MARK; the list itself, still
 * empty, is the newest value of `b` and becomes a stack.  Returns the place behind its APPENDS, or
 * NULL where it is no such list. */
const uint8_t *fast_frames(struct fast *f, struct builder *b, const uint8_t *at,
                           const uint8_t *end);

#endif
