/* sample.h - recordings made by hand, in a few lines.
 *
 * A sample that cannot be made ends the test, so callers check nothing.  Do not make one while
 * `fault_left` counts. */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/recording.h"

/* One line of a stack. */
struct line {
    const char *function, *file;
    uint32_t line;
};

void sample_init(struct recording *r);

/* The parts are those of a whole file; later calls fill the newest device, segment, block. */
uint32_t sample_device(struct recording *r, uint32_t number);

/* A segment of the default pool and stream, with sums that its blocks will not change. */
uint32_t sample_segment(struct recording *r, uint64_t address, uint64_t size);

/* The next block of the newest segment; the segment's sums follow. */
uint32_t sample_block(struct recording *r, uint64_t size, uint64_t requested,
                      enum block_state state);

/* Events, separated by "; ": a letter, the address in hexadecimal, the size, as "a 1000 512".
 * The letters are: a alloc, r free_requested, c free_completed, f free, A segment_alloc,
 * F segment_free, M segment_map, U segment_unmap, o oom, n snapshot, x an action that is not
 * known.  "?" is an address or size that is not known.  Event i is at time i. */
void sample_events(struct recording *r, const char *text);

string_id sample_string(struct recording *r, const char *text);

/* Innermost line first. */
stack_id sample_stack(struct recording *r, const struct line *line, uint32_t lines);

/* Stacks that stand for a letter; lines from the innermost on, up to one without a function. */
struct stack_letter {
    char letter;
    struct line line[4];
};

/* Gives each event the stack of its letter; '-' is none. */
void sample_letters(struct recording *r, const struct stack_letter *of, size_t count,
                    const char *letters);

/* `device` is what the mark says, which nothing goes by. */
void sample_mark(struct recording *r, uint32_t device, const char *name, enum stage stage,
                 uint64_t time_us);

void sample_setting(struct recording *r, const char *name, int64_t value);

/* Pairs and verifies. */
void sample_finish(struct recording *r);

#endif
