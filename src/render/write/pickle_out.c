/* pickle_out.c - opcodes, frames and the memo's counter. */
#include "render/write/pickle_out.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

enum opcode {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_BINFLOAT = 'G',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_BINUNICODE = 'X',
    OP_EMPTY_LIST = ']',
    OP_APPEND = 'a',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_SETITEM = 's',
    OP_SETITEMS = 'u',
    OP_EMPTY_DICT = '}',
    OP_PROTO = 0x80,
    OP_TUPLE2 = 0x86,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95
};

/* CPython ends a frame before the first value that begins 64 KiB behind the frame's own beginning,
 * and leaves the header away where fewer than 4 bytes are inside. */
enum { PROTOCOL = 4, FRAME_HEADER = 9, FRAME_ENOUGH = 64 * 1024, FRAME_LEAST = 4, BATCH = 1000 };

static void store_le(uint8_t *to, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* The length of a frame is known at its end, so its header is kept free until then. */
static void frame_begin(struct pickle_out *p)
{
    static const uint8_t header[FRAME_HEADER] = { OP_FRAME };
    p->frame = p->out->text.len;
    p->framed = true;
    buf_bytes(&p->out->text, header, sizeof header);
}

static void frame_end(struct pickle_out *p)
{
    struct buf *text = &p->out->text;
    if (p->framed && !text->failed) {
        char *at = text->at + p->frame;
        size_t inside = text->len - p->frame - FRAME_HEADER;
        uint8_t length[8];
        store_le(length, inside, sizeof length);
        if (inside < FRAME_LEAST) {
            memmove(at, at + FRAME_HEADER, inside);
            text->len -= FRAME_HEADER;
        } else {
            memcpy(at + 1, length, sizeof length);
        }
    }
    p->framed = false;
    out_flush(p->out, OUT_ENOUGH);
}

/* Only here, before a value, does CPython look whether a frame is full. */
static void value_begin(struct pickle_out *p)
{
    if (p->framed && p->out->text.len >= p->frame + FRAME_HEADER + FRAME_ENOUGH)
        frame_end(p);
}

static void put(struct pickle_out *p, const uint8_t *bytes, size_t len)
{
    if (!p->framed)
        frame_begin(p);
    buf_bytes(&p->out->text, bytes, len);
}

static void put_op(struct pickle_out *p, uint8_t op)
{
    put(p, &op, 1);
}

/* An opcode and its argument of `bytes` bytes, at most 8, little end first. */
static void put_number(struct pickle_out *p, uint8_t op, uint64_t value, uint32_t bytes)
{
    uint8_t at[9] = { op };
    store_le(at + 1, value, bytes);
    put(p, at, bytes + 1);
}

static uint32_t memoize(struct pickle_out *p)
{
    put_op(p, OP_MEMOIZE);
    return p->memo++;
}

void pickle_start(struct pickle_out *p, struct out *out)
{
    static const uint8_t proto[] = { OP_PROTO, PROTOCOL };
    *p = (struct pickle_out){ .out = out };
    buf_bytes(&out->text, proto, sizeof proto);
}

void pickle_finish(struct pickle_out *p)
{
    put_op(p, OP_STOP);
    frame_end(p);
}

void pickle_none(struct pickle_out *p)
{
    value_begin(p);
    put_op(p, OP_NONE);
}

void pickle_bool(struct pickle_out *p, bool value)
{
    value_begin(p);
    put_op(p, value ? OP_NEWTRUE : OP_NEWFALSE);
}

/* LONG1: the fewest bytes of two's complement.  `sign` is what stands above the 64 bits. */
static void put_long(struct pickle_out *p, uint64_t bits, uint8_t sign)
{
    uint8_t at[11] = { OP_LONG1, 9 };
    store_le(at + 2, bits, 8);
    at[10] = sign;
    uint32_t bytes = 9;
    while (at[bytes + 1] == sign && (at[bytes] & 0x80) == (sign & 0x80))
        bytes--;
    at[1] = (uint8_t)bytes;
    put(p, at, bytes + 2);
}

void pickle_u64(struct pickle_out *p, uint64_t value)
{
    value_begin(p);
    if (value <= UINT8_MAX)
        put_number(p, OP_BININT1, value, 1);
    else if (value <= UINT16_MAX)
        put_number(p, OP_BININT2, value, 2);
    else if (value <= INT32_MAX)
        put_number(p, OP_BININT, value, 4);
    else
        put_long(p, value, 0);
}

void pickle_i64(struct pickle_out *p, int64_t value)
{
    if (value >= 0) {
        pickle_u64(p, (uint64_t)value);
        return;
    }
    value_begin(p);
    if (value >= INT32_MIN)
        put_number(p, OP_BININT, (uint64_t)value, 4);
    else
        put_long(p, (uint64_t)value, 0xff);
}

void pickle_float(struct pickle_out *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint8_t at[9] = { OP_BINFLOAT };
    for (uint32_t i = 0; i < 8; i++)
        at[1 + i] = (uint8_t)(bits >> (56 - 8 * i));
    value_begin(p);
    put(p, at, sizeof at);
}

uint32_t pickle_str(struct pickle_out *p, str text)
{
    assert(text.len <= UINT32_MAX);
    value_begin(p);
    uint8_t header[5] = { OP_BINUNICODE };
    size_t len = sizeof header;
    store_le(header + 1, text.len, 4);
    if (text.len <= UINT8_MAX) {
        header[0] = OP_SHORT_BINUNICODE;
        len = 2;
    }
    if (text.len < FRAME_ENOUGH) {
        put(p, header, len);
    } else {
        /* Too large to be worth a frame: stands between two. */
        frame_end(p);
        buf_bytes(&p->out->text, header, len);
    }
    buf_str(&p->out->text, text);
    return memoize(p);
}

uint32_t pickle_pair(struct pickle_out *p, uint64_t first, uint64_t second)
{
    value_begin(p);
    pickle_u64(p, first);
    pickle_u64(p, second);
    put_op(p, OP_TUPLE2);
    return memoize(p);
}

void pickle_get(struct pickle_out *p, uint32_t memo)
{
    assert(memo < p->memo);
    value_begin(p);
    if (memo <= UINT8_MAX)
        put_number(p, OP_BINGET, memo, 1);
    else
        put_number(p, OP_LONG_BINGET, memo, 4);
}

static void container_begin(struct pickle_out *p, uint8_t op, struct pickle_items *items)
{
    value_begin(p);
    put_op(p, op);
    items->memo = memoize(p);
    if (items->count > 1)
        put_op(p, OP_MARK);
}

void pickle_list(struct pickle_out *p, uint32_t count, struct pickle_items *ret)
{
    *ret = (struct pickle_items){ .count = count, .one = OP_APPEND, .many = OP_APPENDS };
    container_begin(p, OP_EMPTY_LIST, ret);
}

void pickle_dict(struct pickle_out *p, uint32_t count, struct pickle_items *ret)
{
    *ret = (struct pickle_items){ .count = count, .one = OP_SETITEM, .many = OP_SETITEMS };
    container_begin(p, OP_EMPTY_DICT, ret);
}

void pickle_next(struct pickle_out *p, struct pickle_items *items)
{
    if (items->done != 0 && items->done % BATCH == 0) {
        put_op(p, (uint8_t)items->many);
        put_op(p, OP_MARK);
    }
    items->done++;
}

void pickle_close(struct pickle_out *p, struct pickle_items *items)
{
    assert(items->count == items->done || (items->count > 1 && items->done > 1));
    if (items->count != 0)
        put_op(p, (uint8_t)(items->count == 1 ? items->one : items->many));
}
