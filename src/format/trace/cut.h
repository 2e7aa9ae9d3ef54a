/* cut.h - the bytes of a list of events, cut where an event seems to begin.
 *
 * Of an input that gives its bytes at any offset a cut is two offsets.  What comes in order, as
 * from an unpacker, is copied into the cut. */
#ifndef VRS_FORMAT_TRACE_CUT_H
#define VRS_FORMAT_TRACE_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "format/input/source.h"
#include "format/input/window.h"

/* A cut of what comes in order has so many bytes at most. */
enum { CUT_MOST = HELD_BYTES };

/* Where bytes come from: one of the two. */
struct cutter {
    const struct source *input; /* at any offset */
    struct window *in_order;    /* the first is at its front */
    uint64_t at;                /* where the next cut begins */
    bool ended;                 /* it would have nothing */
    bool failed;                /* what was taken for the last one is lost */
    VEC(uint8_t) ahead;         /* taken out of `in_order` for the next one */
};

/* From one offset of the input to another.  Its room is kept for the next cut. */
struct cut {
    uint64_t at, end;       /* UINT64_MAX: that of the input */
    VEC(uint8_t) bytes;     /* of what comes in order; zeros behind them */
    struct section section; /* else */
};

void cutter_init(struct cutter *c, const struct source *input, struct window *in_order,
                 uint64_t offset);
void cutter_free(struct cutter *c);
void cut_init(struct cut *cut);
void cut_free(struct cut *cut);

/* Makes `cut` of the bytes up to the first event behind `least` of them, or to the end.  False, and
 * `failed`: there is no such event in CUT_MOST bytes, the source fails, or there is no memory. */
bool cutter_next(struct cutter *c, size_t least, struct cut *cut);

/* Gives 1 to `len` of the bytes behind the last cut, or 0 at the end; of what comes in order. */
size_t cutter_take(struct cutter *c, uint8_t *to, size_t len);

/* Shows the bytes of a cut, which stays as it is meanwhile.  False: no memory. */
bool cut_open(struct cut *cut, struct window *ret);
void cut_close(const struct cut *cut, struct window *w);

#endif
