/* words.h - the words of the snapshot format, by the id each has among a recording's strings.
 *
 * words_intern puts them first into an empty table, so that a key or a value is recognised by
 * comparing ids; its bytes are looked at once, when the string is interned. */
#ifndef VRS_FORMAT_SNAPSHOT_WORDS_H
#define VRS_FORMAT_SNAPSHOT_WORDS_H

#include "model/strings.h"

/* Keys come first and fit a set of 64 bits. */
enum word {
    WORD_NONE,
    KEY_SEGMENTS,
    KEY_DEVICE_TRACES,
    KEY_ALLOCATOR_SETTINGS,
    KEY_EXTERNAL_ANNOTATIONS,
    KEY_HOST_SEGMENTS,
    KEY_HOST_TRACES,
    KEY_ACTION,
    KEY_ADDR,
    KEY_SIZE,
    KEY_STREAM,
    KEY_FRAMES,
    KEY_TIME_US,
    KEY_DEVICE_FREE,
    KEY_COMPILE_CONTEXT,
    KEY_USER_METADATA,
    KEY_INTERNAL_METADATA,
    KEY_POOL_ID,
    KEY_FORWARD_FRAMES,
    KEY_CATEGORY,
    KEY_FILENAME,
    KEY_LINE,
    KEY_NAME,
    KEY_FX_NODE_OP,
    KEY_FX_NODE_NAME,
    KEY_FX_NODE_TARGET,
    KEY_FX_NODE_INFO,
    KEY_FX_ORIGINAL_TRACE,
    KEY_DEVICE,
    KEY_ADDRESS,
    KEY_TOTAL_SIZE,
    KEY_ALLOCATED_SIZE,
    KEY_ACTIVE_SIZE,
    KEY_REQUESTED_SIZE,
    KEY_SEGMENT_TYPE,
    KEY_SEGMENT_POOL_ID,
    KEY_IS_EXPANDABLE,
    KEY_BLOCKS,
    KEY_STATE,
    KEY_HISTORY,
    KEY_REAL_SIZE,
    KEY_CPP_FRAMES,
    KEY_STAGE,
    KEY_TRACE_ALLOC_OVERFLOWED,
    KEY_TRACE_ALLOC_MAX_ENTRIES,
    KEYS,
    WORD_ALLOC = KEYS,
    WORD_FREE_REQUESTED,
    WORD_FREE_COMPLETED,
    WORD_FREE,
    WORD_SEGMENT_ALLOC,
    WORD_SEGMENT_FREE,
    WORD_SEGMENT_MAP,
    WORD_SEGMENT_UNMAP,
    WORD_SNAPSHOT,
    WORD_OOM,
    WORD_ANNOTATE,
    WORD_USER_DEFINED,
    WORD_ACTIVE_ALLOCATED,
    WORD_ACTIVE_PENDING_FREE,
    WORD_ACTIVE_AWAITING_FREE,
    WORD_INACTIVE,
    WORD_SMALL,
    WORD_LARGE,
    WORD_START,
    WORD_END,
    WORD_N_A,
    WORDS
};

/* No word is longer. */
enum { WORD_BYTES_MAX = 32 };

/* The table must be as strings_init left it.  False when out of memory. */
bool words_intern(struct strings *s);

#endif
