/* pickle_fast.h - reads whole events of a pickle at once, where they look as PyTorch writes them.
 *
 * Four fifths of the opcodes of a large snapshot are memo reads inside events.  This reader takes
 * an event from its EMPTY_DICT to its SETITEMS without the operand stack; anything unusual in it
 * (a new frame, a FRAME opcode, an unknown key, the window's edge) makes it give up before it has
 * changed anything but interned strings and stacks, and the ordinary reader takes over.
 *
 * A list of frames is a run of memo reads.  Memo entries never change, so equal bytes are equal
 * stacks: runs seen before are found by their bytes. */
#ifndef VRS_FORMAT_PICKLE_FAST_H
#define VRS_FORMAT_PICKLE_FAST_H

#include "format/builder.h"

/* Bytes of a run of memo reads and the stack they stand for. */
struct run {
    uint32_t offset, len; /* in run_cache.bytes */
    uint32_t stack;
    uint32_t next; /* the run that followed it last time, plus 1 */
};

struct run_cache {
    VEC(struct run) runs;
    VEC(uint8_t) bytes;
    struct idtab index;
    uint32_t last; /* run plus 1 */
    uint32_t looked_up, found;
};

/* What stood behind the value of a key last time: the bytes of the next key's memo read, or the
 * dict's end (key 0). */
struct next_key {
    uint64_t bytes, mask; /* of the eight bytes there */
    uint8_t len, key;
};

struct fast {
    struct run_cache cache;
    struct next_key next[KEYS]; /* [0]: the first key of an event */
    uint32_t last_string[KEYS]; /* the newest fresh string of each key */
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

#endif
