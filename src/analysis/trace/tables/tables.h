/* tables.h - time by name: operators as the framework's key_averages, device work, calls, copies.
 *
 * Rows of a table stand by falling time (of operators: of their own CPU time), ties by name. */
#ifndef VRS_ANALYSIS_TRACE_TABLES_TABLES_H
#define VRS_ANALYSIS_TRACE_TABLES_TABLES_H

#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/memory_sums.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

struct operator_row {
    str name; /* steps are one row, ProfilerStep* */
    uint64_t calls;
    int64_t cpu_total_ns;
    int64_t self_cpu_ns; /* without its direct children */
    int64_t device_total_ns;
    int64_t self_device_ns; /* of the device work that it is the owner of */
    /* Memory given out less memory given back while it ran, on whatever thread, as the framework
     * counts it; without that of its direct children. */
    struct memory_sum bytes, self_bytes;
    uint32_t key; /* see struct operator_keys; 0 where names are the keys */
};

struct name_row {
    str name;
    uint64_t calls;
    int64_t ns;
};

struct copy_row {
    str kind; /* HtoD Pageable -> Device */
    uint64_t calls, bytes;
    int64_t ns;
};

struct tables {
    struct operator_row *op;
    uint32_t ops;
    struct name_row *kernel, *call, *range; /* device work; runtime and driver; ranges by name */
    uint32_t kernels, calls, ranges;
    struct copy_row *copy; /* by kind */
    uint32_t copies;
    struct operator_row loose; /* memory events in no host event; `calls` of them */
    uint64_t merged;     /* only children with their parent's name, which it has absorbed */
    int64_t self_cpu_ns; /* of all host events, in the tables or not */
    int64_t device_ns;   /* of all device work */
    uint64_t syncs, launches;
    int64_t sync_ns, launch_ns;
};

/* Everything is taken from `arena`. */
enum vrs_status tables_make(const struct trace_study *s, struct arena *arena, struct tables *ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
