/* trace_file.h - the struct behind the handle of a trace. */
#ifndef VRS_API_TRACE_TRACE_FILE_H
#define VRS_API_TRACE_TRACE_FILE_H

#include <stdint.h>

#include "model/trace.h"

struct vrs_trace {
    struct trace model;
    char *path; /* as it was opened */
    uint64_t size_bytes; /* as stored; UNKNOWN_U64 */
};

#endif
