/* program_made.h - programs that allocate at random, and what the naive allocator makes of them.
 *
 * A program is a list of operations without addresses.  Run once it gives a recording, as a file
 * would have it; run again under other settings, or changed, it gives what a question must answer.
 */
#ifndef TESTS_UNIT_PROGRAM_MADE_H
#define TESTS_UNIT_PROGRAM_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "model/recording.h"

enum { OPS_MAX = 1024, SITES = 4 };

enum op_kind { OP_ALLOC, OP_FREE, OP_FREE_LATER, OP_COMPLETE, OP_EMPTY_CACHE };

/* What is freed or completed is named by the number of the operation that allocated it. */
struct op {
    enum op_kind kind;
    uint32_t of;
    uint32_t site; /* from 1 */
    uint32_t pool;
    uint64_t stream, bytes;
    int64_t event; /* of the recording; -1: it left no trace there */
    bool releases; /* emptying the cache gave memory back */
};

struct program_made {
    struct op op[OPS_MAX];
    uint32_t ops;
    bool ran_out;
};

struct program_options {
    uint32_t ops, streams, pools;
    uint64_t largest_mib;
    bool deferred, empties;
};

void program_draw(struct program_made *p, uint64_t seed, const struct program_options *o);

/* How a program is run: settings, a device, and what is done to site 1. */
struct way {
    const char *settings;
    uint64_t capacity; /* UINT64_MAX: no end */
    bool ascend, drop;
    double scale;         /* 0: not */
    int64_t begin, end;   /* a scope at whose end site 1 is freed; 0, 0: none */
    uint32_t first_event; /* of the recording: those before it are left out */
};

/* Runs the program and writes the recording; its events are noted in the program.  Ends at the
 * first out-of-memory. */
void program_record(struct program_made *p, const struct way *w, struct recording *ret);

struct expected {
    uint64_t reserved, active, requested; /* peaks */
    uint64_t new_memory, retries;
    bool ran_out;
    int64_t event; /* where it ran out */
};

/* Runs a program that was recorded once more. */
void program_expect(const struct program_made *p, const struct way *w, struct expected *ret);

/* The stack of a site in recordings: 1 to SITES. */
uint32_t site_stack(const struct recording *r, uint32_t site);

struct allocator_config config_from(const char *settings);

#endif
