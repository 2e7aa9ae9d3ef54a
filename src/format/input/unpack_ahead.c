/* unpack_ahead.c - pieces through a queue, copied into the reader's window. */
#include "format/input/unpack_ahead.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"

/* On the thread.  What ends the stream ends the pieces: a failure is the last one's. */
static bool make(void *arg, uint32_t place)
{
    struct unpack_ahead *a = arg;
    struct piece *p = &a->piece[place];
    bool more = !a->ended;
    p->len = 0;
    p->status = VRS_OK;
    while (!a->ended && p->len < WINDOW_BYTES) {
        size_t got = 0;
        p->status = unpack_some(a->unpack, p->bytes + p->len, WINDOW_BYTES - p->len, &got,
                                &p->failure);
        a->ended = p->status != VRS_OK || got == 0;
        p->len += got;
    }
    p->packed = window_offset(a->unpack->packed);
    return more;
}

enum vrs_status unpack_ahead_begin(struct unpack_ahead *a, struct unpack *u, bool own_thread,
                                   struct vrs_error *err)
{
    *a = (struct unpack_ahead){ .unpack = u };
    arena_init(&a->arena, SIZE_MAX / 2);
    bool ok = true;
    for (uint32_t i = 0; i < PIECES && ok; i++) {
        a->piece[i].bytes = arena_array(&a->arena, uint8_t, WINDOW_BYTES);
        ok = a->piece[i].bytes != NULL;
    }
    const struct queue_work work = { .make = make, .arg = a, .places = PIECES };
    if (ok)
        a->queue = queue_begin(&a->arena, &work, own_thread);
    if (a->queue != NULL)
        return VRS_OK;
    arena_free(&a->arena);
    return vrs_no_memory(err);
}

void unpack_ahead_end(struct unpack_ahead *a)
{
    queue_end(a->queue);
    arena_free(&a->arena);
    a->queue = NULL;
}

/* The next piece; false: there is none. */
static bool next_piece(struct unpack_ahead *a)
{
    uint32_t place;
    if (a->at != NULL)
        queue_give(a->queue);
    a->at = NULL;
    a->used = 0;
    if (queue_take(a->queue, &place))
        a->at = &a->piece[place];
    return a->at != NULL;
}

static enum vrs_status read_piece(void *self, uint8_t *to, size_t len, size_t *ret,
                                  struct vrs_error *err)
{
    struct unpack_ahead *a = self;
    while (a->at == NULL || a->used == a->at->len) {
        if (a->at != NULL && a->at->status != VRS_OK) {
            if (err != NULL)
                *err = a->at->failure;
            return a->at->status;
        }
        if (!next_piece(a)) {
            *ret = 0;
            return VRS_OK;
        }
        a->packed = a->at->packed;
        TRY(unpack_guard(a->unpack, a->at->len, a->packed, err));
    }
    size_t left = a->at->len - a->used, some = left < len ? left : len;
    memcpy(to, a->at->bytes + a->used, some);
    a->used += some;
    *ret = some;
    return VRS_OK;
}

struct source source_of_unpack_ahead(struct unpack_ahead *a)
{
    return (struct source){ .read = read_piece, .self = a };
}
