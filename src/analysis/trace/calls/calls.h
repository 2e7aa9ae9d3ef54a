/* calls.h - the call tree of a trace: each distinct way down it once, with what it cost.
 *
 * The spans of a thread are nested as they ran: Python frames, operators, calls of the runtime and
 * the driver.  Ranges cross frames, since one call enters them and another leaves them: they are
 * no part of the tree but lie over it.  Device work is a leaf below the call that launched it. */
#ifndef VRS_ANALYSIS_TRACE_CALLS_CALLS_H
#define VRS_ANALYSIS_TRACE_CALLS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/memory_sums.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/trace.h"

/* A name below another path.  A root is a thread, or has no track: what it holds is device work
 * that no call is known to have launched. */
struct call_path {
    uint32_t parent; /* a path before this one; NO_ROW: it is a root */
    uint32_t name;   /* string_id; of a root 0 */
    uint32_t root;   /* the path that all this is below; of a root itself */
    uint32_t track;  /* of its root; NO_ROW */
    uint32_t depth;  /* of a root 0 */
    uint8_t kind;    /* enum span_kind; of a root SPAN_KINDS */
    uint64_t calls;
    int64_t host_ns, self_host_ns; /* self: while no child ran, so never negative */
    int64_t device_ns, self_device_ns;
    struct memory_sum bytes, self_bytes; /* given out; what was given back does not count */
};

/* Ranges that are open at a moment: the innermost, inside those of its parent. */
struct range_path {
    uint32_t parent; /* or NO_ROW */
    uint32_t name;   /* string_id */
    bool is_step;    /* the steps are one: ProfilerStep* */
};

/* Which calls of a path began inside which ranges. */
struct call_range {
    uint32_t path;
    uint32_t range; /* of range_path */
    uint64_t calls;
    int64_t self_host_ns;
};

struct call_paths {
    struct call_path *at;
    uint32_t len;
    uint32_t roots;
    bool several_processes; /* that roots are threads of */
    uint32_t *of; /* of each span: its path; NO_ROW where it is no part of the tree */
    struct forest forest;
    int64_t *self_ns; /* of each span of the tree: while no child ran */
    uint32_t *giver; /* of each memory event that gave: the span that it happened in, or NO_ROW */
    struct range_path *range; /* of ranges: see call_ranges.h */
    uint32_t ranges;
    struct call_range *in_range; /* by path, then by range */
    uint32_t in_ranges;
};

/* All but what is about ranges.  Everything is taken from `arena`. */
enum vrs_status call_paths_make(const struct trace_study *s, struct arena *arena,
                                struct call_paths *ret, struct vrs_error *err) MUST_CHECK;

/* What a memory event gave out; nothing where it gave back. */
struct memory_sum given_out(const struct trace *t, uint32_t event);

/* A Python frame as the profiler writes it: "file(line): function".  False where the name is of
 * another form. */
struct frame_name {
    str file, function;
    uint32_t line;
};
bool frame_name_read(str name, struct frame_name *ret);

#endif
