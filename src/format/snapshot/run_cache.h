/* run_cache.h - a cache of decoded runs of memo reads, keyed by their bytes.
 *
 * A list of frames in a pickle is a run of memo reads.  Memo entries never change, so equal bytes
 * are equal stacks: a run is decoded once, and later found by comparing bytes. */
#ifndef VRS_FORMAT_SNAPSHOT_RUN_CACHE_H
#define VRS_FORMAT_SNAPSHOT_RUN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"
#include "base/vec.h"
#include "format/snapshot/builder.h"
#include "model/recording.h"

struct run {
    uint32_t offset, len; /* in run_cache.bytes */
    uint32_t stack;
    uint32_t next; /* the run that followed it last time in events of its action, plus 1 */
};

/* Bounded, and given up where it finds too little (a file whose stacks are all distinct). */
struct run_cache {
    VEC(struct run) runs;
    VEC(uint8_t) bytes;
    struct idtab index;
    /* The newest run of each action, plus 1: what a program allocates next follows from what it
     * allocated last, whatever it freed in between. */
    uint32_t last[ACTIONS];
    uint32_t looked_up, found;
};

void run_cache_init(struct run_cache *c);
void run_cache_free(struct run_cache *c);

/* A longer run is decoded each time. */
enum { RUN_BYTES_MAX = 4096 };

/* The run that stands at `at` with the APPENDS behind it, in an event of this action: its number
 * plus 1, or 0.  `*ret_useful` where it was looked for among all and should be added. */
uint32_t run_cache_find(struct run_cache *c, enum event_action action, const uint8_t *at,
                        const uint8_t *end, bool *ret_useful);

/* Adds the run of `len` bytes that was not found; nothing is added where there is no room. */
void run_cache_add(struct run_cache *c, enum event_action action, const uint8_t *at, uint32_t len,
                   uint32_t stack);

/* Steps through the memo reads at `at`; the stack of the frames they name, and the place of the
 * APPENDS behind them.  False as below. */
bool run_decode(struct builder *b, const uint8_t *at, const uint8_t *end, uint32_t *ret_stack,
                const uint8_t **ret_stop);

/* The stack of the memo reads that begin at `at`, in an event of this action, and the place behind
 * the APPENDS that ends them.  False where something else stands there, or memory ran out; `b` may
 * have gained stacks. */
bool run_cache_take(struct run_cache *c, struct builder *b, enum event_action action,
                    const uint8_t *at, const uint8_t *end, uint32_t *ret_stack,
                    const uint8_t **ret_at);

#endif
