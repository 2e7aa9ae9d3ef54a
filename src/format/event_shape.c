/* event_shape.c - learning the shape of an event. */
#include "format/event_shape.h"

#include <string.h>

struct piece piece_of(const uint8_t *at, size_t len)
{
    uint8_t bytes[PIECE_WORDS * 8] = { 0 }, mask[PIECE_WORDS * 8] = { 0 };
    memcpy(bytes, at, len);
    memset(mask, 0xff, len);
    struct piece p = { .len = (uint8_t)len, .words = (uint8_t)((len + 7) / 8) };
    for (uint32_t i = 0; i < PIECE_WORDS; i++) {
        p.bytes[i] = load_le64(bytes + i * 8);
        p.mask[i] = load_le64(mask + i * 8);
    }
    return p;
}

bool shape_add(struct shape *s, const uint8_t *at, size_t len, enum piece_end end,
               const uint32_t *put, uint32_t puts)
{
    const size_t most = PIECE_WORDS * 8;
    for (; len > most; at += most, len -= most) {
        if (s->pieces == SHAPE_PIECES)
            return false;
        s->piece[s->pieces++] = piece_of(at, most);
    }
    if (s->pieces == SHAPE_PIECES || puts > PIECE_PUTS)
        return false;
    struct piece *p = &s->piece[s->pieces++];
    *p = piece_of(at, len);
    p->end = (uint8_t)end;
    p->puts = (uint8_t)puts;
    for (uint32_t i = 0; i < puts; i++)
        p->put[i] = put[i];
    return true;
}
