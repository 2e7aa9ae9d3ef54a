/* pickle_writer.h - writes values as the pickle opcodes that one of three producers would use.
 *
 * DIALECT_CPYTHON is what CPython's pickler writes at protocol 4, byte for byte: frames of
 * 64 KiB, a memo write after every string and container is begun, batches of 1,000 items.
 * DIALECT_PROTOCOL3 is the same pickler at protocol 3.  DIALECT_CPP is PyTorch's C++ pickler:
 * protocol 2, no batches, strings shared by content, a container's memo write behind its items
 * and only where the program keeps a second reference.
 *
 * Failure is sticky: writer_close reports the first one, all calls before it may ignore it. */
#ifndef BENCH_PICKLE_WRITER_H
#define BENCH_PICKLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum dialect { DIALECT_CPYTHON, DIALECT_PROTOCOL3, DIALECT_CPP };

#define NO_MEMO UINT32_MAX
#define BATCH_LEN 1000u
#define FRAME_TARGET 65536u
#define FRAME_HEADER 9u

/* A string with its place in the memo; one per content, so that the C++ dialect can share it. */
struct text {
    const char *at;
    uint32_t len;
    uint32_t memo; /* NO_MEMO until written */
};

struct writer {
    FILE *file; /* NULL: the bytes are counted only */
    enum dialect dialect;
    uint32_t memo_count;
    size_t header; /* bytes kept free at the front of `buf` for a FRAME opcode */
    size_t len;
    uint64_t flushed_bytes;
    bool failed;
    uint8_t buf[FRAME_TARGET + 8192];
};

void writer_open(struct writer *w, FILE *file, enum dialect dialect);

/* Ends the pickle; false when any write failed.  The file stays open. */
bool writer_close(struct writer *w);

void writer_flush(struct writer *w);

/* A string that the producer shares. */
void writer_text(struct writer *w, struct text *text);

/* A string that CPython's side makes anew each time; the C++ dialect shares it all the same. */
void writer_fresh(struct writer *w, struct text *text);

void writer_int(struct writer *w, int64_t value);
void writer_float(struct writer *w, double value);
void writer_bool(struct writer *w, bool value);
void writer_pair(struct writer *w, int64_t first, int64_t second);

/* A dict of two to 1,000 pairs: open, keys and values, close.  `writer_dict_close` takes what
 * `writer_dict_open` gave and returns the dict's memo id; in the C++ dialect it has one only
 * when `held`. */
uint32_t writer_dict_open(struct writer *w);
uint32_t writer_dict_close(struct writer *w, uint32_t memo, bool held);

/* A list of `len` items: open, then writer_list_item before each item, then close. */
uint32_t writer_list_open(struct writer *w, uint64_t len);
uint32_t writer_list_close(struct writer *w, uint64_t len, uint32_t memo, bool held);

/* CPython looks for the end of a frame before every value, and nowhere else. */
static inline void writer_boundary(struct writer *w)
{
    if (w->len >= w->header + FRAME_TARGET)
        writer_flush(w);
}

static inline void writer_byte(struct writer *w, uint8_t byte)
{
    w->buf[w->len++] = byte;
}

static inline void writer_list_item(struct writer *w, uint64_t index)
{
    if (index > 0 && index % BATCH_LEN == 0 && w->dialect != DIALECT_CPP) {
        writer_byte(w, 'e');
        writer_byte(w, '(');
    }
}

/* A reference to something written before. */
static inline void writer_get(struct writer *w, uint32_t memo)
{
    writer_boundary(w);
    if (memo < 256) {
        writer_byte(w, 'h');
        writer_byte(w, (uint8_t)memo);
        return;
    }
    writer_byte(w, 'j');
    for (unsigned shift = 0; shift < 32; shift += 8)
        writer_byte(w, (uint8_t)(memo >> shift));
}

#endif
