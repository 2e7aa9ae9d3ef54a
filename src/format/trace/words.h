/* words.h - the words of a trace that mean something: keys, and categories as kinds. */
#ifndef VRS_FORMAT_TRACE_WORDS_H
#define VRS_FORMAT_TRACE_WORDS_H

#include "base/str.h"
#include "model/trace.h"

enum trace_key {
    KEY_OTHER,
    /* of the file */
    KEY_TRACE_EVENTS,
    KEY_DEVICE_PROPERTIES,
    KEY_DISTRIBUTED,
    KEY_RECORD_SHAPES,
    KEY_PROFILE_MEMORY,
    KEY_WITH_STACK,
    KEY_WITH_MODULES,
    KEY_WITH_FLOPS,
    KEY_BASE_NS,
    KEY_CUT_AT, /* ours: see trace_header.cut_at */
    KEY_SEGMENTS, /* of a memory snapshot */
    KEY_DEVICE_TRACES,
    /* of an event */
    KEY_PH,
    KEY_CAT,
    KEY_NAME,
    KEY_PID,
    KEY_TID,
    KEY_TS,
    KEY_DUR,
    KEY_ID,
    KEY_ARGS,
    /* of its args */
    KEY_EXTERNAL_ID,
    KEY_EXTERNAL_ID_LOWER,
    KEY_CORRELATION,
    KEY_BYTES,
    KEY_BYTES_LOWER,
    KEY_ADDRESS,
    KEY_DEVICE_TYPE,
    KEY_DEVICE_ID,
    KEY_TOTAL_ALLOCATED,
    KEY_TOTAL_RESERVED,
    KEY_LABELS,
    KEY_SEQUENCE,
    KEY_FORWARD_THREAD,
    KEY_CALL_STACK,
    KEY_INPUT_DIMS,
    KEY_INPUT_DIMS_2021,
    /* of a listed device, and of the distributed job */
    KEY_TOTAL_GLOBAL_MEM,
    KEY_COMPUTE_MAJOR,
    KEY_COMPUTE_MINOR,
    KEY_NUM_SMS,
    KEY_RANK,
    KEY_WORLD_SIZE,
    KEY_BACKEND,
    TRACE_KEYS
};

enum trace_key trace_key_of(str text);

/* SPAN_OTHER where the category, which is in lower case, is not known. */
enum span_kind trace_kind_of(str category);

#endif
