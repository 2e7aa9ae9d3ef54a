/* timeline.h - what may be asked of a trace's memory timeline. */
#ifndef VRS_API_TRACE_TIMELINE_H
#define VRS_API_TRACE_TIMELINE_H

#include "api/trace/trace_file.h"
#include "base/fail.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* Fails where the file is a memory timeline, of which `what` cannot be told. */
enum vrs_status timeline_refuse(const struct vrs_trace *trace, const char *what,
                                struct vrs_error *err) MUST_CHECK;

/* vrs_trace_report of a memory timeline; `o` is whole. */
enum vrs_status timeline_report(const struct vrs_trace *trace, const struct vrs_trace_options *o,
                                struct vrs_result **ret, struct vrs_error *err) MUST_CHECK;

#endif
