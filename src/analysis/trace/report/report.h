/* report.h - what a trace says: how busy its devices were, why they waited, what took the time.
 *
 * It holds no pointer into the trace. */
#ifndef VRS_ANALYSIS_TRACE_REPORT_REPORT_H
#define VRS_ANALYSIS_TRACE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/categories/categories.h"
#include "analysis/trace/calls/tree.h"
#include "analysis/trace/figures/figures.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/queue/queue.h"
#include "analysis/trace/rules/bottleneck.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/ranks/trace_ranks.h"
#include "analysis/trace/modules/modules.h"
#include "analysis/trace/splits/split.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/trace.h"

/* The file, and what of it could not be read as it stands. */
struct damage_row {
    uint8_t kind; /* enum trace_damage */
    uint64_t count, first_offset;
};

struct trace_file {
    str path;
    uint64_t size_bytes; /* as stored; UNKNOWN_U64 */
    uint64_t events;
    bool complete;
    struct damage_row *damage;
    uint32_t damages;
    bool was_cut; /* the file that it was written from; `complete` is false */
    struct cut_stream cut_stream; /* in which it is packed, where that ends too early */
    bool is_packed;
};

/* A device that the header lists. */
struct listed_row {
    int64_t number; /* TRACE_UNKNOWN, as below */
    str name;       /* ptr NULL: not known */
    int64_t bytes, major, minor, multiprocessors;
};

struct missing_row {
    static_text what, how; /* what cannot be told, and the switch that records it */
};

/* What was recorded, by the header of the file, or by events that only such a recording has. */
struct capture {
    bool record_shapes, profile_memory, with_stack, with_modules, with_flops;
    uint8_t known; /* enum trace_flag: those that are not are false above */
    bool stacks_are_texts; /* of operators, and there are no frames */
    struct listed_row *device;
    uint32_t devices;
    int64_t rank, world_size; /* TRACE_UNKNOWN */
    str backend;              /* ptr NULL */
    struct missing_row *missing;
    uint32_t missings;
};

/* How device work was led back to the host. */
struct rung_row {
    uint8_t rung; /* enum rung */
    uint64_t events;
    int64_t ns;
};

struct linking {
    struct rung_row rung[RUNGS];
    double coverage; /* share of device time that has an owner; negative: there is none */
    uint64_t before_events;
    int64_t before_ns;
};

/* The gaps of one class. */
struct gap_row {
    uint8_t kind; /* enum gap_class */
    uint64_t count;
    int64_t ns;
};

struct blame_row {
    uint8_t reason; /* enum blame */
    int64_t ns;
};

struct long_gap_row {
    int64_t first_ns, ns;
    uint8_t kind;   /* enum gap_class, the one that most of it is */
    uint8_t reason; /* enum blame, of GAP_HOST_LATE; BLAMES: none */
    str next;       /* what the device did then */
    str op;         /* to which it is owed; ptr NULL: not known */
    str step;       /* in which it was launched; ptr NULL: in none */
};

struct trace_device {
    str device; /* its process in the file */
    uint32_t process; /* of the trace */
    str name;   /* of the device, or else what the file calls that process; ptr NULL: not known */
    bool is_listed; /* the name is that of a device */
    uint32_t streams;
    uint64_t events;
    int64_t first_ns, last_ns; /* the window: from its first event to its last */
    int64_t window_ns, busy_ns, idle_ns;
    double busy, compute_busy;
    /* The same of the time of the steps: from the first that is not empty to the end of the last
     * and of its work.  Negative: there are no steps. */
    int64_t steps_window_ns, steps_busy_ns;
    int64_t steps_ends_ns; /* of that time, what is before its first event and behind its last */
    double steps_busy;
    int64_t computation_ns, exposed_communication_ns, exposed_memcpy_ns;
    uint64_t gaps;
    struct gap_row gap[GAP_CLASSES]; /* the largest first; those that are there */
    uint32_t gap_kinds;
    struct blame_row blame[BLAMES]; /* likewise */
    uint32_t blames;
    const struct trace_memory_peak *memory; /* NULL: nothing is known of it */
    uint64_t histogram[GAP_BINS];
    struct long_gap_row *longest; /* the longest first, LONGEST_GAPS at most */
    uint32_t longests;
    double bin[BUSY_BINS]; /* how busy it was in each of so many equal parts of the window */
};

/* What the steps are told by. */
enum step_source {
    STEPS_NONE,      /* there are none */
    STEPS_PROFILER,  /* ranges ProfilerStep#n */
    STEPS_OPTIMIZER, /* ends of Optimizer.step#: each begins where the one before ended */
    STEPS_RANGES,    /* ranges execute_* around everything else of their thread */
    STEP_SOURCES
};

/* A step of the training loop. */
enum step_kind { STEP_PLAIN, STEP_WARM_UP, STEP_CUT, STEP_EMPTY, STEP_KINDS };

struct trace_step {
    str name;
    int64_t first_ns, ns; /* of the host's range */
    int64_t device_ns;    /* of the work that was launched within, or is owed to code within */
    uint64_t work;
    int64_t aware_ns; /* from its begin, or the end of the step before, to `last_ns` */
    int64_t last_ns;  /* the end of it and of its work */
    double busy;      /* how much of that the devices worked for it; negative: not known */
    uint8_t kind;     /* enum step_kind */
};

/* Of whole steps as the loop goes on: of those that are plain. */
struct step_statistics {
    uint32_t count;
    double mean_ns, std_ns, median_ns, p95_ns, p99_ns;
    int64_t min_ns, max_ns;
    double aware_median_ns; /* of their `aware_ns` */
};

/* Parts of the text; none: the first screen. */
enum trace_section {
    SECTION_OPS = 1,
    SECTION_KERNELS = 2,
    SECTION_GAPS = 4,
    SECTION_STEPS = 8,
    SECTION_MEMORY = 16,
    SECTION_CALLS = 32,
    SECTION_FINDINGS = 64,
    SECTION_PHASES = 128,
    SECTION_LAUNCHES = 256,
    SECTION_MODULES = 512,
    SECTION_TREE = 1024,
    SECTION_METHOD = 2048,
};

struct trace_report {
    uint32_t sections; /* enum trace_section, that the text is to show alone; 0: a page */
    struct trace_file file;
    struct capture capture;
    struct linking linking;
    struct trace_device *device;
    uint32_t devices;
    struct trace_step *step;
    uint32_t steps;
    uint8_t step_source; /* enum step_source */
    uint32_t step_track; /* their thread among the tracks of the trace, or NO_ROW */
    struct step_statistics statistics;
    struct trace_phases phases;
    struct trace_launches launches;
    struct trace_findings findings;
    struct bottleneck bottleneck;
    struct trace_memory_peaks peaks;
    struct operator_row *op; /* by falling self CPU, ties by name */
    uint32_t *op_by_device;  /* the same by falling self device */
    uint32_t ops;
    int64_t self_cpu_ns; /* of all host events, in the table or not */
    struct figures figures;
    struct rank_parts rank;          /* what it is compared with other files by */
    const struct trace_ranks *ranks; /* of a file of several; or NULL */
    struct modules modules;
    struct trace_tree *tree; /* NULL where it was not asked for */
    struct split_table split; /* of operators, where one was asked for */
};

/* The file without its path and size, which are the caller's to fill.  False when out of memory. */
bool trace_file_make(const struct trace *t, struct arena *arena, struct trace_file *ret);

/* How a report is made. */
struct trace_report_question {
    bool as_framework;
    const struct trace_limits *limits; /* of the rules, which a user replaced; NULL: their own */
    uint32_t threads;                  /* at most so many; 0: one for each processor */
};

/* Everything is taken from `arena`; path and size are the caller's to fill.  With `as_framework` the
 * operators are those of key_averages() to the last digit also where Python frames were recorded,
 * which the framework leaves in its trees: a range then has not the time of operators that a frame
 * inside it called. */
enum vrs_status trace_report_make(const struct trace *t, const struct trace_report_question *q,
                                  struct arena *arena, struct trace_report *ret,
                                  struct vrs_error *err) MUST_CHECK;

extern const struct row_type trace_report_row_type, trace_file_row_type, trace_step_row_type,
    operator_row_type, kernel_row_type, call_row_type, copy_row_type, long_gap_row_type, trace_memory_row_type;

extern const char *const trace_step_kind_names[STEP_KINDS];
extern const char *const trace_step_source_names[STEP_SOURCES];

#endif
