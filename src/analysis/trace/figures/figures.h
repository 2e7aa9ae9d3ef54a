/* figures.h - the exact figures of a trace that two readers must agree on (docs/trace-figures.md). */
#ifndef VRS_ANALYSIS_TRACE_FIGURES_FIGURES_H
#define VRS_ANALYSIS_TRACE_FIGURES_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/memory/memory.h"
#include "analysis/trace/queue/queue.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/trace.h"

struct count_row {
    str name;
    uint64_t count;
};

/* Who called whom: operators, calls and Python frames of each thread, without ranges. */
struct call_tree {
    uint32_t threads;
    uint64_t overlaps;
    uint32_t max_depth;
    uint64_t paths; /* different chains of names from the outermost on */
    uint64_t roots;
    uint64_t module_frames;
};

struct step_row {
    str name;
    int64_t start_ns; /* of the trace */
    int64_t ns;
    uint64_t events; /* of devices, launched within */
    int64_t device_ns;
};

/* How often each phase stands in the file, and each other thing of it. */
struct file_figures {
    bool is_array;
    uint8_t flags; /* enum trace_flag */
    int64_t base_ns; /* TRACE_UNKNOWN */
    uint64_t events, times_integer, times_other, times_missing, out_of_memory;
    uint32_t devices_listed;
    struct count_row *phase; /* by name */
    uint32_t phases;
};

struct tree_figures {
    uint32_t threads;
    uint64_t overlaps;
    uint32_t max_depth;
};

struct link_figures {
    uint64_t events[RUNGS];
    int64_t ns[RUNGS];
    uint64_t with_launch, before_window, agree, differ, most_of_a_launch;
    int64_t before_window_ns;
};

/* Holds no pointer into the trace. */
struct figures {
    struct file_figures file;
    bool has_range;
    int64_t first_ns, last_ns;
    struct tree_figures host;
    struct link_figures link;
    uint64_t kinds[SPAN_KINDS];
    struct count_row *other; /* categories without a kind, by name */
    uint32_t others;
    struct call_tree calls;
    struct busy busy;
    struct tables tables;
    struct launch_delay delay;
    struct memory memory;
    struct step_row *step; /* by start */
    uint32_t steps;
    uint64_t pairs_started, pairs_finished; /* links from forward to backward */
};

/* Whether any event is of a kind that torch.profiler records: not in traces of other tools. */
bool figures_are_of_torch(const struct figures *f);

/* What is made by itself: no part needs another.  That of calls and that of memory need of the
 * study no more than its begin and the order, the others all of it. */
enum figures_part {
    FIGURES_CALLS,
    FIGURES_MEMORY,
    FIGURES_TABLES,
    FIGURES_BUSY,
    FIGURES_COUNTS, /* all else */
};

/* Fills the members of a part; what they point to is taken from `arena`. */
enum vrs_status figures_part_make(const struct trace_study *s, enum figures_part part,
                                  struct arena *arena, struct figures *ret,
                                  struct vrs_error *err) MUST_CHECK;

#endif
