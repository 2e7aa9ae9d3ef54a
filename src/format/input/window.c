/* window.c - refills the window. */
#include "format/input/window.h"

#include <assert.h>
#include <string.h>

#include "base/vec.h"

enum vrs_status window_init(struct window *w, struct source source, struct vrs_error *err)
{
    void *buffer = NULL;
    if (!vec_resize(&buffer, WINDOW_BYTES + WINDOW_PAD_BYTES, 1))
        return vrs_no_memory(err);
    *w = (struct window){
        .at = buffer, .end = buffer, .buffer = buffer, .room = WINDOW_BYTES, .source = source
    };
    memset(w->buffer, 0, WINDOW_PAD_BYTES);
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
    const uint8_t *first = w->held != NULL ? w->held : w->at;
    size_t gone = (size_t)(first - w->buffer);
    memmove(w->buffer, first, (size_t)(w->end - first));
    w->base += gone;
    w->at -= gone;
    w->end -= gone;
    memset(w->buffer + (w->end - w->buffer), 0, WINDOW_PAD_BYTES);
    if (w->held != NULL)
        w->held = w->buffer;
}

/* Twice the room, at least; nothing stays where it was. */
static bool grow(struct window *w, size_t room)
{
    size_t at = (size_t)(w->at - w->buffer), end = (size_t)(w->end - w->buffer);
    size_t held = (size_t)(w->held - w->buffer);
    void *buffer = w->buffer;
    room = room > 2 * w->room ? room : 2 * w->room;
    if (!vec_resize(&buffer, room + WINDOW_PAD_BYTES, 1))
        return false;
    w->buffer = buffer;
    w->room = room;
    w->at = w->buffer + at;
    w->end = w->buffer + end;
    w->held = w->buffer + held;
    return true;
}

/* Makes room for `len` bytes from `at` on. */
static bool make_room(struct window *w, size_t len)
{
    size_t kept = w->held != NULL ? (size_t)(w->at - w->held) : 0;
    if (kept > HELD_BYTES) {
        w->held = NULL;
        kept = 0;
    }
    if (kept + len > w->room && !grow(w, kept + len)) {
        w->failed = vrs_no_memory(&w->failure);
        w->ended = true;
        return false;
    }
    move_to_front(w);
    return true;
}

bool window_fill(struct window *w, size_t len)
{
    assert(len <= WINDOW_BYTES);
    /* Without need nothing moves: a source that trickles would else pay for each byte.  Behind the
     * end there is none. */
    if (!w->ended && len > w->room - (size_t)(w->at - w->buffer) && !make_room(w, len))
        return false;
    while ((size_t)(w->end - w->at) < len && !w->ended) {
        size_t used = (size_t)(w->end - w->buffer), got = 0;
        w->failed =
            w->source.read(w->source.self, w->buffer + used, w->room - used, &got, &w->failure);
        if (w->failed != VRS_OK || got == 0) {
            w->ended = true;
            break;
        }
        assert(got <= w->room - used);
        w->end += got;
        memset(w->buffer + used + got, 0, WINDOW_PAD_BYTES);
    }
    return (size_t)(w->end - w->at) >= len;
}

size_t window_take(struct window *w, uint8_t *to, size_t len)
{
    size_t here = (size_t)(w->end - w->at), got = here < len ? here : len;
    w->held = NULL;
    if (here > 0) {
        memcpy(to, w->at, got);
        w->at += got;
        return got;
    }
    if (w->ended)
        return 0;
    w->base = window_offset(w);
    w->at = w->end = w->buffer;
    memset(w->buffer, 0, WINDOW_PAD_BYTES);
    w->failed = w->source.read(w->source.self, to, len, &got, &w->failure);
    w->ended = w->failed != VRS_OK || got == 0;
    if (w->ended)
        return 0;
    w->base += got;
    return got;
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
    w->held = NULL;
    w->at = w->end = w->buffer;
    memset(w->buffer, 0, WINDOW_PAD_BYTES);
    return VRS_OK;
}

bool window_hold(struct window *w, uint64_t offset)
{
    w->held = offset < w->base ? NULL : w->buffer + (offset - w->base);
    return w->held != NULL;
}

void window_release(struct window *w)
{
    w->held = NULL;
}

bool window_rewind(struct window *w)
{
    if (w->held != NULL)
        w->at = w->held;
    return w->held != NULL;
}

struct window window_of_bytes(uint8_t *bytes, size_t len, uint64_t offset)
{
    return (struct window){
        .at = bytes,
        .end = bytes + len,
        .buffer = bytes,
        .room = len,
        .base = offset,
        .ended = true,
    };
}

enum vrs_status window_status(const struct window *w, struct vrs_error *err)
{
    if (w->failed != VRS_OK && err != NULL)
        *err = w->failure;
    return w->failed;
}
