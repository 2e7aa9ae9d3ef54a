/* pickle_out.h - the opcodes of pickle protocol 4, as CPython's pickler writes them.
 *
 * Byte for byte: frames of 64 KiB, the shortest integer, a memo entry for every string, tuple and
 * container, items in batches of 1,000.  What is written once and read from the memo afterwards is
 * one shared object to whoever loads it, so pickling that again gives the same bytes.
 *
 * Sticky, as `out`: failures are asked for there, at the end. */
#ifndef VRS_RENDER_WRITE_PICKLE_OUT_H
#define VRS_RENDER_WRITE_PICKLE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "render/write/out.h"

struct pickle_out {
    struct out *out;
    size_t frame;  /* where the open frame begins in out->text */
    bool framed;   /* there is one */
    uint32_t memo; /* entries so far; an entry's number is the count before it */
};

/* A list or dict that is being written. */
struct pickle_items {
    uint32_t memo;        /* its own entry */
    uint32_t count, done; /* items or pairs */
    char one, many;       /* the opcode that adds one, or a batch */
};

void pickle_start(struct pickle_out *p, struct out *out);
/* The one value has been written. */
void pickle_finish(struct pickle_out *p);

void pickle_none(struct pickle_out *p);
void pickle_bool(struct pickle_out *p, bool value);
void pickle_u64(struct pickle_out *p, uint64_t value);
void pickle_i64(struct pickle_out *p, int64_t value);
void pickle_float(struct pickle_out *p, double value);

/* What has an entry in the memo returns its number, for pickle_get.  Strings are valid UTF-8. */
uint32_t pickle_str(struct pickle_out *p, str text);
uint32_t pickle_pair(struct pickle_out *p, uint64_t first, uint64_t second);
void pickle_get(struct pickle_out *p, uint32_t memo);

/* A container: opened, then pickle_next before each item or key, then closed.  `count` is the
 * number of items or pairs; a dict that has at least two, and less than a batch, may say
 * PICKLE_SEVERAL. */
enum { PICKLE_SEVERAL = 2 };
void pickle_list(struct pickle_out *p, uint32_t count, struct pickle_items *ret);
void pickle_dict(struct pickle_out *p, uint32_t count, struct pickle_items *ret);
void pickle_next(struct pickle_out *p, struct pickle_items *items);
void pickle_close(struct pickle_out *p, struct pickle_items *items);

#endif
