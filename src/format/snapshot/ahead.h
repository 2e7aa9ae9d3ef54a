/* ahead.h - speculative read-ahead: a scout parses before the reader, on a thread where it has one.
 *
 *     reader  |---- reads ----|takes over|---- reads ----|takes over|---- …
 *     scout                   |-- reads -|               |-- reads -|
 *
 * What is read does not depend on whether there is a scout, nor on when it gets its time: a stretch
 * holds what the reader would have read, or is not taken. */
#ifndef VRS_FORMAT_SNAPSHOT_AHEAD_H
#define VRS_FORMAT_SNAPSHOT_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "format/input/window.h"
#include "format/snapshot/builder.h"
#include "format/snapshot/fast.h"
#include "format/input/queue.h"
#include "format/snapshot/scout.h"

struct ahead_options {
    uint32_t stretch_bytes; /* 0: nobody reads ahead */
    bool own_thread;        /* else stretches are read when they are asked for, for tests */
};

enum { STRETCHES = 3 };

struct ahead {
    struct ahead_options options;
    uint64_t due; /* offset from which on ahead_arrive must be called; UINT64_MAX: none */
    struct arena arena;
    struct queue *queue; /* NULL: not begun */
    struct scout scout;
    struct stretch *stretch;    /* STRETCHES of them; the queue's places */
    const struct stretch *next; /* the reader's, which it has not come to yet; or NULL */
    struct scouted scouted;
    uint32_t in_vain; /* stretches without events, in a row */
};

/* Nobody reads ahead in a window whose source gives its bytes in order only. */
void ahead_init(struct ahead *a, const struct ahead_options *options, const struct window *w);
void ahead_free(struct ahead *a);

/* The reader stands at an opcode at or behind a->due.  Where a stretch begins here, takes it over
 * and moves the window behind it. */
enum vrs_status ahead_arrive(struct ahead *a, struct fast *f, struct builder *b, struct window *w,
                             struct vrs_error *err) MUST_CHECK;

#endif
