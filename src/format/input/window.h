/* window.h - input seen through a sliding window of fixed size.
 *
 * A reader looks at [at, end) and asks for more with window_need.  A token that crosses the
 * window's edge is moved to its front, so that a token of at most WINDOW_BYTES is always
 * contiguous.  Input is never mapped: a mapped file that shrinks kills the process.
 *
 * A reader that may want to look at something twice holds it: the window then grows instead of
 * letting go of what is held, up to HELD_BYTES. */
#ifndef VRS_FORMAT_INPUT_WINDOW_H
#define VRS_FORMAT_INPUT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

enum { WINDOW_BYTES = 1 << 18, HELD_BYTES = 64 << 20 };

/* Loads of up to this many bytes may start before `end`; the bytes behind it are zero. */
enum { WINDOW_PAD_BYTES = 16 };

/* Where bytes come from: a file, memory, a stream, or an unpacker over another source.
 * `read` puts 1 to `len` bytes at `to` and their number into `*ret`; 0 is the end.
 *
 * Two more where bytes can be had in any order, else NULL: `read_at` does the same from an offset
 * on, on any thread at any time, and `skip` goes on `len` bytes further on. */
struct source {
    enum vrs_status (*read)(void *self, uint8_t *to, size_t len, size_t *ret,
                            struct vrs_error *err);
    void *self;
    enum vrs_status (*read_at)(void *self, uint64_t offset, uint8_t *to, size_t len, size_t *ret,
                               struct vrs_error *err);
    enum vrs_status (*skip)(void *self, uint64_t len, struct vrs_error *err);
};

struct window {
    const uint8_t *at, *end;
    uint8_t *buffer;     /* `room` + a few, so that short loads past `end` stay inside */
    size_t room;         /* WINDOW_BYTES, or more where something is held */
    uint64_t base;       /* offset in the input of buffer[0] */
    const uint8_t *held; /* kept from here on, with what is behind it; NULL: nothing is */
    struct source source;
    uint64_t expected_bytes; /* of the whole input, or 0; a hint for those who make room */
    bool ended;              /* the source has no more */
    enum vrs_status failed; /* a failure of the source is kept until the bytes before it are used */
    struct vrs_error failure;
};

enum vrs_status window_init(struct window *w, struct source source,
                            struct vrs_error *err) MUST_CHECK;
void window_free(struct window *w);

/* Tries to have at least `len` (<= WINDOW_BYTES) bytes in [at, end), or as many as there are to
 * come; moves what is left to the front.  Returns whether `len` are there: when not, the input
 * ends (or fails, see window_status) before them. */
bool window_fill(struct window *w, size_t len);

static inline bool window_need(struct window *w, size_t len)
{
    return (size_t)(w->end - w->at) >= len || window_fill(w, len);
}

/* Moves 1 to `len` bytes from the front to `to`, past the window where they are still to come, and
 * returns their number; 0: the input ends, or fails.  Nothing is held afterwards. */
size_t window_take(struct window *w, uint8_t *to, size_t len);

/* Holds what begins at `offset`, instead of what was held.  False when the window has let go of it
 * already; nothing is held then. */
bool window_hold(struct window *w, uint64_t offset);
void window_release(struct window *w);

/* Back to where what is held begins.  False when nothing is, any more. */
bool window_rewind(struct window *w);

/* Shows `len` bytes at `bytes`, with WINDOW_PAD_BYTES zeros behind them, as the input from `offset` on.
 * They stay the caller's, and nothing is to be freed. */
struct window window_of_bytes(uint8_t *bytes, size_t len, uint64_t offset);

/* Goes on at `offset`, which is no earlier than where it is; of a source that can skip. */
enum vrs_status window_jump(struct window *w, uint64_t offset, struct vrs_error *err) MUST_CHECK;

static inline uint64_t window_offset(const struct window *w)
{
    return w->base + (uint64_t)(w->at - w->buffer);
}

static inline uint64_t window_held_offset(const struct window *w)
{
    return w->base + (uint64_t)(w->held - w->buffer);
}

/* White space of JSON and of the pages around it. */
static inline bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The first byte from `at` on, in a window, that is none; the zeros behind a window end the run. */
static inline const uint8_t *behind_blanks(const uint8_t *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

/* VRS_OK, or the source's failure, worded. */
enum vrs_status window_status(const struct window *w, struct vrs_error *err) MUST_CHECK;

#endif
