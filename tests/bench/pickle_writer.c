/* pickle_writer.c - the opcodes of the three dialects. */
#include "pickle_writer.h"

#include <assert.h>
#include <string.h>

/* The pickler drops the header of a frame that holds fewer bytes than this. */
#define FRAME_MIN 4u

static void put_le(struct writer *w, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        writer_byte(w, (uint8_t)(value >> (8 * i)));
}

static void flush_range(struct writer *w, const uint8_t *at, size_t len)
{
    w->flushed_bytes += len;
    if (w->file && !w->failed && fwrite(at, 1, len, w->file) != len)
        w->failed = true;
}

void writer_flush(struct writer *w)
{
    assert(w->len <= sizeof w->buf);
    size_t len = w->len;
    size_t start = 0;
    if (w->header > 0) {
        uint64_t inside = len - w->header;
        w->buf[0] = 0x95;
        for (unsigned i = 0; i < 8; i++)
            w->buf[1 + i] = (uint8_t)(inside >> (8 * i));
        start = inside < FRAME_MIN ? w->header : 0;
    }
    flush_range(w, w->buf + start, len - start);
    w->len = w->header;
}

void writer_open(struct writer *w, FILE *file, enum dialect dialect)
{
    static const uint8_t protocol[] = {
        [DIALECT_CPYTHON] = 4, [DIALECT_PROTOCOL3] = 3, [DIALECT_CPP] = 2
    };
    w->file = file;
    w->dialect = dialect;
    w->memo_count = 0;
    w->header = dialect == DIALECT_CPYTHON ? FRAME_HEADER : 0;
    w->flushed_bytes = 0;
    w->failed = false;
    flush_range(w, (const uint8_t[]){ 0x80, protocol[dialect] }, 2);
    w->len = w->header;
}

bool writer_close(struct writer *w)
{
    writer_byte(w, '.');
    writer_flush(w);
    return !w->failed;
}

/* Gives the value on top of the stack the next memo id. */
static uint32_t memoize(struct writer *w)
{
    uint32_t memo = w->memo_count++;
    if (w->dialect == DIALECT_CPYTHON) {
        writer_byte(w, 0x94);
    } else if (memo < 256) {
        writer_byte(w, 'q');
        writer_byte(w, (uint8_t)memo);
    } else {
        writer_byte(w, 'r');
        put_le(w, memo, 4);
    }
    return memo;
}

static uint32_t string(struct writer *w, const struct text *text)
{
    assert(text->len < 4096);
    writer_boundary(w);
    if (w->dialect == DIALECT_CPYTHON && text->len < 256) {
        writer_byte(w, 0x8c);
        writer_byte(w, (uint8_t)text->len);
    } else {
        writer_byte(w, 'X');
        put_le(w, text->len, 4);
    }
    memcpy(w->buf + w->len, text->at, text->len);
    w->len += text->len;
    return memoize(w);
}

void writer_text(struct writer *w, struct text *text)
{
    if (text->memo == NO_MEMO)
        text->memo = string(w, text);
    else
        writer_get(w, text->memo);
}

void writer_fresh(struct writer *w, struct text *text)
{
    if (w->dialect == DIALECT_CPP)
        writer_text(w, text);
    else
        string(w, text);
}

/* The fewest bytes of two's complement that hold a value beyond 32 bits. */
static unsigned signed_bytes(int64_t value)
{
    unsigned bytes = 5;
    while (bytes < 8 &&
           (value >= (int64_t)1 << (8 * bytes - 1) || value < -((int64_t)1 << (8 * bytes - 1))))
        bytes++;
    return bytes;
}

void writer_int(struct writer *w, int64_t value)
{
    writer_boundary(w);
    if (value >= 0 && value < 256) {
        writer_byte(w, 'K');
        writer_byte(w, (uint8_t)value);
    } else if (value >= 0 && value < 65536) {
        writer_byte(w, 'M');
        put_le(w, (uint64_t)value, 2);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        writer_byte(w, 'J');
        put_le(w, (uint64_t)value, 4);
    } else {
        unsigned bytes = w->dialect == DIALECT_CPP ? 8 : signed_bytes(value);
        writer_byte(w, 0x8a);
        writer_byte(w, (uint8_t)bytes);
        put_le(w, (uint64_t)value, bytes);
    }
}

void writer_float(struct writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    writer_boundary(w);
    writer_byte(w, 'G');
    for (unsigned i = 0; i < 8; i++)
        writer_byte(w, (uint8_t)(bits >> (56 - 8 * i)));
}

void writer_bool(struct writer *w, bool value)
{
    writer_boundary(w);
    writer_byte(w, value ? 0x88 : 0x89);
}

void writer_pair(struct writer *w, int64_t first, int64_t second)
{
    writer_boundary(w);
    writer_int(w, first);
    writer_int(w, second);
    writer_byte(w, 0x86);
    if (w->dialect != DIALECT_CPP)
        memoize(w);
}

uint32_t writer_dict_open(struct writer *w)
{
    writer_boundary(w);
    writer_byte(w, '}');
    uint32_t memo = w->dialect == DIALECT_CPP ? NO_MEMO : memoize(w);
    writer_byte(w, '(');
    return memo;
}

uint32_t writer_dict_close(struct writer *w, uint32_t memo, bool held)
{
    writer_byte(w, 'u');
    return w->dialect == DIALECT_CPP && held ? memoize(w) : memo;
}

uint32_t writer_list_open(struct writer *w, uint64_t len)
{
    writer_boundary(w);
    writer_byte(w, ']');
    uint32_t memo = w->dialect == DIALECT_CPP ? NO_MEMO : memoize(w);
    if (w->dialect == DIALECT_CPP || len > 1)
        writer_byte(w, '(');
    return memo;
}

uint32_t writer_list_close(struct writer *w, uint64_t len, uint32_t memo, bool held)
{
    if (w->dialect == DIALECT_CPP || len > 1)
        writer_byte(w, 'e');
    else if (len == 1)
        writer_byte(w, 'a');
    return w->dialect == DIALECT_CPP && held ? memoize(w) : memo;
}
