/* trace_file.h - the struct behind the handle of a trace. */
#ifndef VRS_API_TRACE_TRACE_FILE_H
#define VRS_API_TRACE_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/rules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "format/input/window.h"
#include "model/trace.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

struct vrs_trace {
    struct trace model;
    char *path; /* as it was opened */
    uint64_t size_bytes; /* as stored; UNKNOWN_U64 */
    uint32_t threads;    /* for reading and one question */
};

/* A trace out of an input, which is called `path`; `options` are whole. */
enum vrs_status open_trace(struct source source, uint64_t size_bytes, const char *path,
                           const struct vrs_open_options *options, struct vrs_trace **ret,
                           struct vrs_error *err) MUST_CHECK;

/* What the trace says, with the file that it is of, called `path` (NULL: as it was opened).
 * `limits` are the thresholds of the rules; NULL: their own. */
enum vrs_status trace_report_of(const struct vrs_trace *trace, const char *path, bool as_framework,
                                const struct trace_limits *limits, struct arena *arena,
                                struct trace_report *ret, struct vrs_error *err) MUST_CHECK;

#endif
