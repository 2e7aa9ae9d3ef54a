/* event_shape.c - learns the byte template of an event. */
#include "format/snapshot/event_shape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LONG_FORM(width)                                                                           \
    {                                                                                              \
        .op = OP_LONG1 | (width) << 8, .mask = 0xffff, .argument = 2, .len = 2 + (width),          \
        .unused = 64 - 8 * (width), .is_signed = true                                              \
    }

const struct number_form number_forms[256 + LONG_FORMS] = {
    [OP_BININT] = { OP_BININT, 0xff, 1, 5, 32, true },
    [OP_BININT1] = { OP_BININT1, 0xff, 1, 2, 56, false },
    [OP_BININT2] = { OP_BININT2, 0xff, 1, 3, 48, false },
    [256 + 1] = LONG_FORM(1),
    [256 + 2] = LONG_FORM(2),
    [256 + 3] = LONG_FORM(3),
    [256 + 4] = LONG_FORM(4),
    [256 + 5] = LONG_FORM(5),
    [256 + 6] = LONG_FORM(6),
    [256 + 7] = LONG_FORM(7),
    [256 + 8] = LONG_FORM(8),
};

bool number_learn(const uint8_t *at, struct number_form *ret)
{
    const struct number_form *form = number_form_at(at);
    if (form->len == 0)
        return false;
    *ret = *form;
    return true;
}

struct piece piece_of(const uint8_t *at, size_t len)
{
    uint8_t bytes[PIECE_BYTES] = { 0 }, mask[PIECE_BYTES] = { 0 };
    memcpy(bytes, at, len);
    memset(mask, 0xff, len);
    struct piece p = { .len = (uint8_t)len, .words = (uint8_t)((len + 7) / 8) };
    for (uint32_t i = 0; i < PIECE_WORDS; i++) {
        p.bytes[i] = load_le64(bytes + (size_t)i * 8);
        p.mask[i] = load_le64(mask + (size_t)i * 8);
    }
    return p;
}

bool piece_add_slot(struct piece *p, const uint8_t *piece_at, const uint8_t *at,
                    const struct number_form *form, enum piece_end kind)
{
    size_t argument = (size_t)(at - piece_at) + form->argument;
    if (p->slots == PIECE_SLOTS || (size_t)(at - piece_at) + form->len > PIECE_BYTES)
        return false;
    p->slot[p->slots++] =
        (struct slot){ (uint8_t)kind, (uint8_t)argument, form->unused, form->is_signed };
    return true;
}

/* The bytes of a slot may be anything. */
static void mask_slot(struct piece *p, const struct slot *slot)
{
    uint32_t width = (64u - slot->unused) / 8;
    for (uint32_t i = slot->at; i < slot->at + width; i++) {
        uint64_t byte = (uint64_t)0xff << (i % 8 * 8);
        p->mask[i / 8] &= ~byte;
        p->bytes[i / 8] &= ~byte;
    }
}

bool shape_add(struct shape *s, const uint8_t *at, size_t len, const struct piece *piece)
{
    if (s->pieces == SHAPE_PIECES || len > PIECE_BYTES)
        return false;
    struct piece *p = &s->piece[s->pieces++];
    *p = piece_of(at, len);
    p->end = piece->end;
    p->puts = piece->puts;
    p->slots = piece->slots;
    memcpy(p->put, piece->put, sizeof p->put);
    memcpy(p->slot, piece->slot, sizeof p->slot);
    for (uint32_t i = 0; i < p->slots; i++)
        mask_slot(p, &p->slot[i]);
    return true;
}
