/* window.c - refills the window. */
#include "format/input/window.h"

#include <assert.h>
#include <string.h>

#include "base/vec.h"

/* Loads of up to this many bytes may start before `end`; the bytes behind it are zero. */
enum { PAD_BYTES = 16 };

enum vrs_status window_init(struct window *w, struct source source, struct vrs_error *err)
{
    void *buffer = NULL;
    if (!vec_resize(&buffer, WINDOW_BYTES + PAD_BYTES, 1))
        return vrs_no_memory(err);
    *w = (struct window){ .at = buffer, .end = buffer, .buffer = buffer, .source = source };
    memset(w->buffer, 0, PAD_BYTES);
    return VRS_OK;
}

void window_free(struct window *w)
{
    void *buffer = w->buffer;
    vec_resize(&buffer, 0, 0);
    *w = (struct window){ .ended = true };
}

static void move_to_front(struct window *w)
{
    size_t left = (size_t)(w->end - w->at);
    w->base = window_offset(w);
    memmove(w->buffer, w->at, left);
    w->at = w->buffer;
    w->end = w->buffer + left;
}

bool window_fill(struct window *w, size_t len)
{
    assert(len <= WINDOW_BYTES);
    /* Without need nothing moves: a source that trickles would else pay for each byte. */
    if (len > WINDOW_BYTES - (size_t)(w->at - w->buffer))
        move_to_front(w);
    while ((size_t)(w->end - w->at) < len && !w->ended) {
        size_t used = (size_t)(w->end - w->buffer), got = 0;
        w->failed = w->source.read(w->source.self, w->buffer + used, WINDOW_BYTES - used, &got,
                                   &w->failure);
        if (w->failed != VRS_OK || got == 0) {
            w->ended = true;
            break;
        }
        assert(got <= WINDOW_BYTES - used);
        w->end += got;
        memset(w->buffer + used + got, 0, PAD_BYTES);
    }
    return (size_t)(w->end - w->at) >= len;
}

enum vrs_status window_jump(struct window *w, uint64_t offset, struct vrs_error *err)
{
    assert(offset >= window_offset(w));
    uint64_t further = offset - window_offset(w), here = (uint64_t)(w->end - w->at);
    if (further <= here) {
        w->at += further;
        return VRS_OK;
    }
    TRY(w->source.skip(w->source.self, further - here, err));
    w->base = offset;
    w->at = w->end = w->buffer;
    memset(w->buffer, 0, PAD_BYTES);
    return VRS_OK;
}

enum vrs_status window_status(const struct window *w, struct vrs_error *err)
{
    if (w->failed != VRS_OK && err != NULL)
        *err = w->failure;
    return w->failed;
}
