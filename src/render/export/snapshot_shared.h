/* snapshot_shared.h - the values of a snapshot that many records share, each written once.
 *
 * The first use of a word, string, frame, stack or pool writes it, every later one reads it from
 * the memo.  Memory: a number for each of them, none for events. */
#ifndef VRS_RENDER_EXPORT_SNAPSHOT_SHARED_H
#define VRS_RENDER_EXPORT_SNAPSHOT_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/recording.h"
#include "render/write/out.h"
#include "render/write/pickle_out.h"

/* Keys and values that are words of the format. */
enum snapshot_word {
    SAY_SEGMENTS,
    SAY_DEVICE_TRACES,
    SAY_ALLOCATOR_SETTINGS,
    SAY_EXTERNAL_ANNOTATIONS,
    SAY_HOST_SEGMENTS,
    SAY_HOST_TRACES,
    SAY_DEVICE,
    SAY_ADDRESS,
    SAY_TOTAL_SIZE,
    SAY_ALLOCATED_SIZE,
    SAY_ACTIVE_SIZE,
    SAY_REQUESTED_SIZE,
    SAY_STREAM,
    SAY_SEGMENT_TYPE,
    SAY_SMALL,
    SAY_LARGE,
    SAY_SEGMENT_POOL_ID,
    SAY_IS_EXPANDABLE,
    SAY_FRAMES,
    SAY_FORWARD_FRAMES,
    SAY_BLOCKS,
    SAY_SIZE,
    SAY_STATE,
    SAY_ACTIVE_ALLOCATED,
    SAY_ACTIVE_PENDING_FREE,
    SAY_INACTIVE,
    SAY_HISTORY,
    SAY_REAL_SIZE,
    SAY_CPP_FRAMES,
    SAY_NAME,
    SAY_FILENAME,
    SAY_LINE,
    SAY_FX_NODE_OP,
    SAY_FX_NODE_NAME,
    SAY_FX_NODE_TARGET,
    SAY_FX_NODE_INFO,
    SAY_FX_ORIGINAL_TRACE,
    SAY_ACTION,
    SAY_ALLOC,
    SAY_FREE_REQUESTED,
    SAY_FREE_COMPLETED,
    SAY_FREE,
    SAY_SEGMENT_ALLOC,
    SAY_SEGMENT_FREE,
    SAY_SEGMENT_MAP,
    SAY_SEGMENT_UNMAP,
    SAY_SNAPSHOT,
    SAY_OOM,
    SAY_ANNOTATE,
    SAY_USER_DEFINED,
    SAY_ADDR,
    SAY_DEVICE_FREE,
    SAY_TIME_US,
    SAY_COMPILE_CONTEXT,
    SAY_N_A,
    SAY_USER_METADATA,
    SAY_INTERNAL_METADATA,
    SAY_POOL_ID,
    SAY_CATEGORY,
    SAY_STAGE,
    SAY_START,
    SAY_END,
    SNAPSHOT_WORDS
};

struct shared {
    struct pickle_out p;
    const struct recording *r;
    struct arena arena;
    /* By row or word: the memo's entry plus 1, or 0 before the first use. */
    uint32_t word[SNAPSHOT_WORDS];
    uint32_t *string, *frame, *stack, *lines, *pool;
};

/* False when out of memory; nothing is then to be freed, and nothing was written. */
bool shared_init(struct shared *s, struct out *out, const struct recording *r);
void shared_free(struct shared *s);

str snapshot_word_text(enum snapshot_word word);

void shared_word(struct shared *s, enum snapshot_word word);
void shared_string(struct shared *s, uint32_t string);
void shared_pool(struct shared *s, uint32_t pool);

/* A stack as a list of frames; stack 0 is the empty one. */
void shared_stack(struct shared *s, uint32_t stack);

/* A stack of preformatted lines as a list of strings. */
void shared_lines(struct shared *s, uint32_t stack);

#endif
