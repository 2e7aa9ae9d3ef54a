/* window.h - input seen through a sliding window of fixed size.
 *
 * A reader looks at [at, end) and asks for more with window_need.  A token that crosses the
 * window's edge is moved to its front, so that a token of at most WINDOW_BYTES is always
 * contiguous.  Input is never mapped: a mapped file that shrinks kills the process. */
#ifndef VRS_FORMAT_INPUT_WINDOW_H
#define VRS_FORMAT_INPUT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

enum { WINDOW_BYTES = 1 << 18 };

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
    uint8_t *buffer; /* WINDOW_BYTES + a few, so that short loads past `end` stay inside */
    uint64_t base;   /* offset in the input of buffer[0] */
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

/* Goes on at `offset`, which is no earlier than where it is; of a source that can skip. */
enum vrs_status window_jump(struct window *w, uint64_t offset, struct vrs_error *err) MUST_CHECK;

static inline uint64_t window_offset(const struct window *w)
{
    return w->base + (uint64_t)(w->at - w->buffer);
}

/* White space of JSON and of the pages around it. */
static inline bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* VRS_OK, or the source's failure, worded. */
enum vrs_status window_status(const struct window *w, struct vrs_error *err) MUST_CHECK;

#endif
