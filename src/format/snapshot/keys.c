/* keys.c - the spelling of each word of the format. */
#include "format/snapshot/keys.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/ids.h"

static const str words[KEYS_AND_VALUES] = {
    [KEY_SEGMENTS] = { "segments", 8 },
    [KEY_DEVICE_TRACES] = { "device_traces", 13 },
    [KEY_ALLOCATOR_SETTINGS] = { "allocator_settings", 18 },
    [KEY_EXTERNAL_ANNOTATIONS] = { "external_annotations", 20 },
    [KEY_HOST_SEGMENTS] = { "host_segments", 13 },
    [KEY_HOST_TRACES] = { "host_traces", 11 },
    [KEY_ACTION] = { "action", 6 },
    [KEY_ADDR] = { "addr", 4 },
    [KEY_SIZE] = { "size", 4 },
    [KEY_STREAM] = { "stream", 6 },
    [KEY_FRAMES] = { "frames", 6 },
    [KEY_TIME_US] = { "time_us", 7 },
    [KEY_DEVICE_FREE] = { "device_free", 11 },
    [KEY_COMPILE_CONTEXT] = { "compile_context", 15 },
    [KEY_USER_METADATA] = { "user_metadata", 13 },
    [KEY_INTERNAL_METADATA] = { "internal_metadata", 17 },
    [KEY_POOL_ID] = { "pool_id", 7 },
    [KEY_FORWARD_FRAMES] = { "forward_frames", 14 },
    [KEY_CATEGORY] = { "category", 8 },
    [KEY_FILENAME] = { "filename", 8 },
    [KEY_LINE] = { "line", 4 },
    [KEY_NAME] = { "name", 4 },
    [KEY_FX_NODE_OP] = { "fx_node_op", 10 },
    [KEY_FX_NODE_NAME] = { "fx_node_name", 12 },
    [KEY_FX_NODE_TARGET] = { "fx_node_target", 14 },
    [KEY_FX_NODE_INFO] = { "fx_node_info", 12 },
    [KEY_FX_ORIGINAL_TRACE] = { "fx_original_trace", 17 },
    [KEY_DEVICE] = { "device", 6 },
    [KEY_ADDRESS] = { "address", 7 },
    [KEY_TOTAL_SIZE] = { "total_size", 10 },
    [KEY_ALLOCATED_SIZE] = { "allocated_size", 14 },
    [KEY_ACTIVE_SIZE] = { "active_size", 11 },
    [KEY_REQUESTED_SIZE] = { "requested_size", 14 },
    [KEY_SEGMENT_TYPE] = { "segment_type", 12 },
    [KEY_SEGMENT_POOL_ID] = { "segment_pool_id", 15 },
    [KEY_IS_EXPANDABLE] = { "is_expandable", 13 },
    [KEY_BLOCKS] = { "blocks", 6 },
    [KEY_STATE] = { "state", 5 },
    [KEY_HISTORY] = { "history", 7 },
    [KEY_REAL_SIZE] = { "real_size", 9 },
    [KEY_CPP_FRAMES] = { "cpp_frames", 10 },
    [KEY_STAGE] = { "stage", 5 },
    [KEY_TRACE_ALLOC_OVERFLOWED] = { "trace_alloc_overflowed", 22 },
    [KEY_TRACE_ALLOC_MAX_ENTRIES] = { "trace_alloc_max_entries", 23 },
    [KEY_VRAMSCOPE] = { "vramscope", 9 },
    [KEY_SCHEMA] = { "schema", 6 },
    [KEY_NAMES] = { "names", 5 },
    [KEY_DROPPED] = { "dropped", 7 },
    [KEY_TENSORS] = { "tensors", 7 },
    [KEY_BYTES] = { "bytes", 5 },
    [KEY_KIND] = { "kind", 4 },
    [KEY_SHAPE] = { "shape", 5 },
    [KEY_DTYPE] = { "dtype", 5 },
    [KEY_OF] = { "of", 2 },
    [KEY_SHARED] = { "shared", 6 },
    [KEY_STEPS] = { "steps", 5 },
    [KEY_INDEX] = { "index", 5 },
    [KEY_EVENT] = { "event", 5 },
    [KEY_RECORDER] = { "recorder", 8 },
    [KEY_BEGUN_BY] = { "begun_by", 8 },
    [VALUE_ALLOC] = { "alloc", 5 },
    [VALUE_FREE_REQUESTED] = { "free_requested", 14 },
    [VALUE_FREE_COMPLETED] = { "free_completed", 14 },
    [VALUE_FREE] = { "free", 4 },
    [VALUE_SEGMENT_ALLOC] = { "segment_alloc", 13 },
    [VALUE_SEGMENT_FREE] = { "segment_free", 12 },
    [VALUE_SEGMENT_MAP] = { "segment_map", 11 },
    [VALUE_SEGMENT_UNMAP] = { "segment_unmap", 13 },
    [VALUE_SNAPSHOT] = { "snapshot", 8 },
    [VALUE_OOM] = { "oom", 3 },
    [VALUE_ANNOTATE] = { "annotate", 8 },
    [VALUE_USER_DEFINED] = { "user_defined", 12 },
    [VALUE_ACTIVE_ALLOCATED] = { "active_allocated", 16 },
    [VALUE_ACTIVE_PENDING_FREE] = { "active_pending_free", 19 },
    [VALUE_ACTIVE_AWAITING_FREE] = { "active_awaiting_free", 20 },
    [VALUE_INACTIVE] = { "inactive", 8 },
    [VALUE_SMALL] = { "small", 5 },
    [VALUE_LARGE] = { "large", 5 },
    [VALUE_START] = { "START", 5 },
    [VALUE_END] = { "END", 3 },
    [VALUE_N_A] = { "N/A", 3 },
    [VALUE_EXTRA_1] = { "vramscope.extra/1", 17 },
    [VALUE_TENSOR] = { "tensor", 6 },
    [VALUE_PARAMETER] = { "parameter", 9 },
    [VALUE_BUFFER] = { "buffer", 6 },
    [VALUE_GRADIENT] = { "gradient", 8 },
    [VALUE_OPTIMIZER_STATE] = { "optimizer_state", 15 },
    [VALUE_PROGRAM] = { "program", 7 },
};

bool keys_intern(struct strings *s)
{
    for (uint32_t w = 1; w < KEYS_AND_VALUES; w++) {
        string_id id;
        if (!strings_intern(s, words[w], &id))
            return false;
    }
    return true;
}
