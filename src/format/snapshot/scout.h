/* scout.h - speculative parser: reads stretches of a pickle ahead of the reader.
 *
 * What a pickle's bytes mean depends on all before them, through the memo; but memo entries never
 * change, so an event that has the bytes of a shape is known for what it is before the reader has
 * come to it, but for the stacks that runs of memo reads stand for.  A scout finds the numbers of
 * such events and which of them have equal runs.  Where the reader arrives at the first byte of a
 * stretch, and only there, it takes the events over as if it had read them (fast_scouted).
 *
 * A stretch ends where an event looks unlike all shapes.  A FRAME opcode, which may stand between
 * any two others, does not end it. */
#ifndef VRS_FORMAT_SNAPSHOT_SCOUT_H
#define VRS_FORMAT_SNAPSHOT_SCOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/vec.h"
#include "format/input/window.h"
#include "format/snapshot/event_shape.h"
#include "format/snapshot/run_cache.h"
#include "model/strings.h"

enum scouted_stack {
    SCOUTED_EMPTY, /* an empty list */
    SCOUTED_RUN,   /* a list, `stack` is the number of its run */
    SCOUTED_GET,   /* a memo read, `stack` is the entry's number */
    SCOUTED_BATCH  /* no event: APPENDS and MARK, between two batches of a list's items */
};

struct scouted_event {
    uint64_t address, size, time_us; /* UNKNOWN_U64 where not given */
    uint64_t stream;                 /* its handle */
    uint32_t offset;                 /* in the stretch */
    uint32_t stack;
    uint32_t label[LABELS]; /* numbers of those that the shape has */
    uint8_t stack_is;       /* enum scouted_stack */
    uint8_t shape;          /* row of stretch.known */
};

/* Zero bytes behind a stretch's runs, which may be loaded. */
enum { RUN_PAD_BYTES = 16 };

struct stretch {
    struct shapes known; /* given by the reader, which has no say in what the scout makes of it */
    uint64_t begin, end; /* offsets in the input; equal where no event was found */
    uint64_t next;       /* no later stretch begins before this one's */
    VEC(struct scouted_event) events;
    /* Runs and labels that are in no stretch before, in the order of their numbers, which go on
     * from stretch to stretch: of runs from 0 on, an APPENDS behind each; of labels from 1 on,
     * since 0 is the empty text, the length in four bytes before each. */
    VEC(uint8_t) runs, labels;
};

/* How far apart stretches are, and what their input is. */
struct scout_plan {
    struct source source;
    uint64_t begin;         /* of the first, at the earliest */
    uint32_t stretch_bytes; /* of one, at most about */
    uint32_t apart_bytes;   /* from the end of one to the next */
};

struct scout {
    struct scout_plan plan;
    struct window window;
    struct run_cache runs;
    struct strings labels;
    struct label label[LABELS]; /* the newest ones, `string` their number */
    uint64_t next;              /* offset of the next stretch, at the earliest */
    uint64_t frame;             /* offset of the next FRAME, or UNKNOWN_U64 */
    uint8_t *joined;            /* an event without the FRAME inside it */
    bool spent;                 /* too few runs are equal, or there is no room for more */
};

/* The source must have read_at. */
enum vrs_status scout_init(struct scout *s, const struct scout_plan *plan,
                           struct vrs_error *err) MUST_CHECK;
void scout_free(struct scout *s);

/* Reads the next stretch; false where there is none, or no use in one. */
bool scout_read(struct scout *s, struct stretch *t);

#endif
