/* unpack_ahead.h - a compressed stream unpacked on a thread of its own, a few pieces ahead of who
 * reads it.
 *
 * The bytes are those of source_of_unpack, and so are its failures: each comes behind the bytes
 * before it.  The thread reads the packed bytes, which must not come from a caller's function, and
 * checks no limit: the reader does, who counts the records. */
#ifndef VRS_FORMAT_INPUT_UNPACK_AHEAD_H
#define VRS_FORMAT_INPUT_UNPACK_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "format/input/queue.h"
#include "format/input/unpack.h"
#include "format/input/window.h"

enum { PIECES = 4 };

struct piece {
    uint8_t *bytes; /* WINDOW_BYTES of room */
    size_t len;
    uint64_t packed; /* offset behind the packed bytes that it came of */
    enum vrs_status status; /* of what comes behind it */
    struct vrs_error failure;
};

struct unpack_ahead {
    struct unpack *unpack; /* the thread's */
    struct arena arena;
    struct queue *queue;
    struct piece piece[PIECES];
    struct piece *at; /* the reader's, or NULL */
    size_t used;      /* bytes of it that were read */
    bool ended;       /* no piece comes behind */
    uint64_t packed;  /* offset behind the packed bytes of what was read */
};

/* `own_thread` false: nobody runs ahead, for tests.  VRS_NOMEM leaves nothing to end. */
enum vrs_status unpack_ahead_begin(struct unpack_ahead *a, struct unpack *u, bool own_thread,
                                   struct vrs_error *err) MUST_CHECK;
/* Before the unpacker is freed, and before it is asked for what it has found. */
void unpack_ahead_end(struct unpack_ahead *a);

struct source source_of_unpack_ahead(struct unpack_ahead *a);

#endif
