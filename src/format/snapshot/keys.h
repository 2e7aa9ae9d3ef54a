/* keys.h - the words of the snapshot format, by the id each has among a recording's strings.
 *
 * keys_intern puts them first into an empty table, so that a key or a value is recognised by
 * comparing ids; its bytes are looked at once, when the string is interned. */
#ifndef VRS_FORMAT_SNAPSHOT_KEYS_H
#define VRS_FORMAT_SNAPSHOT_KEYS_H

#include <stdbool.h>

#include "model/strings.h"

/* Keys come first and fit a set of 64 bits. */
enum key {
    KEY_NONE,
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
    KEY_VRAMSCOPE,
    KEY_SCHEMA,
    KEY_NAMES,
    KEY_DROPPED,
    KEY_TENSORS,
    KEY_BYTES,
    KEY_KIND,
    KEY_SHAPE,
    KEY_DTYPE,
    KEY_OF,
    KEY_SHARED,
    KEY_STEPS,
    KEY_INDEX,
    KEY_EVENT,
    KEY_RECORDER,
    KEY_BEGUN_BY,
    KEYS,
    VALUE_ALLOC = KEYS,
    VALUE_FREE_REQUESTED,
    VALUE_FREE_COMPLETED,
    VALUE_FREE,
    VALUE_SEGMENT_ALLOC,
    VALUE_SEGMENT_FREE,
    VALUE_SEGMENT_MAP,
    VALUE_SEGMENT_UNMAP,
    VALUE_SNAPSHOT,
    VALUE_OOM,
    VALUE_ANNOTATE,
    VALUE_USER_DEFINED,
    VALUE_ACTIVE_ALLOCATED,
    VALUE_ACTIVE_PENDING_FREE,
    VALUE_ACTIVE_AWAITING_FREE,
    VALUE_INACTIVE,
    VALUE_SMALL,
    VALUE_LARGE,
    VALUE_START,
    VALUE_END,
    VALUE_N_A,
    VALUE_EXTRA_1,
    VALUE_TENSOR,
    VALUE_PARAMETER,
    VALUE_BUFFER,
    VALUE_GRADIENT,
    VALUE_OPTIMIZER_STATE,
    VALUE_PROGRAM,
    KEYS_AND_VALUES
};

/* No word is longer. */
enum { KEY_BYTES_MAX = 32 };

/* The table must be as strings_init left it.  False when out of memory. */
bool keys_intern(struct strings *s);

#endif
