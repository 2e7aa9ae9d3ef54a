/* program.h - the call stacks of the imaginary training program that a recording is made of.
 *
 * Stacks share their frames the way real ones do: the allocator's own frames at the inner end,
 * the chain of one of 48 operators, a path through nested modules, the main program at the
 * outer end.  Frames are in the order of the file, innermost first. */
#ifndef BENCH_PROGRAM_H
#define BENCH_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "pickle_writer.h"

#define STACK_MAX 84u

struct frame {
    uint32_t name, file; /* texts */
    uint32_t line;
    uint32_t memo; /* NO_MEMO until written */
    uint32_t uses; /* places in lists; the C++ writer memoises what stands in two */
};

struct program {
    struct text *text;
    uint32_t text_len, text_cap;
    struct frame *frame;
    uint32_t frame_len, frame_cap;
    uint32_t *member; /* frames of all paths and operators, one after the other */
    uint32_t member_len, member_cap;
    uint32_t *path; /* first member of each path; one more at the end */
    uint32_t path_len, path_cap;
    uint32_t stack_count;
    bool distinct;
    uint64_t random;
    uint32_t op[50]; /* first member of each operator's chain, then of the emptied cache's */
    uint32_t outer, outer_len;
    uint32_t variant; /* first of the frames that tell distinct stacks apart */
};

void program_open(struct program *p, uint32_t stacks, bool distinct, uint64_t seed);
void program_close(struct program *p);

/* Forgets what was written and counted. */
void program_reset(struct program *p);

/* The frames of a stack as captured the `capture`-th time; returns how many.  Stack `stack_count`
 * is that of emptying the cache.  Captures differ only when all stacks are to be distinct. */
uint32_t program_stack(const struct program *p, uint32_t stack, uint32_t capture,
                       uint32_t ret_frames[STACK_MAX]);

#endif
