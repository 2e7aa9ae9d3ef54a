/* facts.h - what the rules look at, counted over spans, host trees and memory events. */
#ifndef VRS_ANALYSIS_TRACE_RULES_FACTS_H
#define VRS_ANALYSIS_TRACE_RULES_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "model/trace.h"
#include "base/str.h"

/* What a name says to rules, worked out once for each distinct one. */
enum rule_name {
    RULE_PAGEABLE = 1,     /* a copy from pageable memory of the host */
    RULE_DEVICE_COPY = 2,  /* a copy within a device */
    RULE_ONE_BY_ONE = 4,   /* a frame of an optimizer that goes tensor by tensor */
    RULE_FILLS = 8,        /* an operator that fills */
    RULE_ZERO_GRAD = 16,   /* a range */
    RULE_OPTIMIZER = 32,   /* a range: a step of an optimizer */
    RULE_SELECT = 64,      /* aten::select */
    RULE_CREATES = 128,    /* an operator that makes a tensor with values */
    RULE_TO = 256,         /* aten::to */
    RULE_WHOLE_SYNC = 512, /* a wait for a whole device */
    RULE_TENSOR_CORE = 1024,
    RULE_LONE_LOADER = 2048, /* a loader without workers */
    RULE_HIP = 4096,
    RULE_TO_DEVICE = 8192, /* a copy from the host to a device */
    RULE_HALF = 16384,     /* a kernel that multiplies in 16 bits */
    RULE_READS = 32768,    /* an operator that waits for a value of the device */
};

/* What a name says of a span on the thread of the steps. */
enum loop_name {
    LOOP_IS_KNOWN = 1, /* the name was looked at */
    LOOP_PROGRAM = 2,   /* a frame of the program's own code */
    LOOP_FOREIGN = 4,   /* a frame of the framework, or of a library */
    LOOP_LOADS = 8,     /* a range or frame of a loader */
    LOOP_TRAINS = 16,   /* one of the framework's backward, optimizer or profiler */
    LOOP_FORWARD = 32,  /* a call of a module, or a range of a forward */
    LOOP_READS = 64,    /* takes a value out of a tensor */
    LOOP_COPIES = 128,  /* an operator that may copy */
    LOOP_COPY = 256,    /* the one that does */
    LOOP_WAITS = 512,   /* a built-in that sleeps, reads or opens */
    LOOP_WORKERS = 1024, /* a range of a loader with workers */
    LOOP_OPERATOR = 2048, /* no range that was recorded as one */
    LOOP_HIDES = 4096,   /* a built-in that is asked for something else than a copy */
};

/* Counted, with the longest of them. */
struct rule_calls {
    uint64_t count;
    int64_t ns;
    uint32_t longest; /* a span, or NO_ROW */
};

void rule_calls_add(struct rule_calls *c, const struct spans *s, uint32_t row);

struct rule_copies {
    uint64_t count;
    int64_t ns;
    double bytes;
    uint32_t largest; /* by time */
};

/* What the program's own lines do again in each step. */
struct rule_habit {
    struct rule_calls calls;
    uint32_t steps; /* that have one */
    uint32_t line;  /* string: the program's frame in which most of it is; 0: not known */
};

/* What was done on the thread of the steps, within them. */
struct rule_loop {
    bool has_frames;  /* of Python */
    bool has_forward; /* calls of modules or ranges say where it is */
    struct rule_habit reads, copies;
    int64_t other_ns;                 /* outside loading, forward, backward and optimizer */
    uint32_t other_steps;             /* of which that is more than STEP_OTHER */
    int64_t other_copied_ns;          /* of that, in copies that the program asks for */
    uint32_t other_op, other_line;    /* strings: what is most of it; 0: none */
    int64_t other_op_ns, other_line_ns;
    bool has_workers;                 /* a loader gives its work to others */
    uint32_t waiting_line;            /* string: the program's frame around that; 0: none */
    uint32_t load_op, load_line;      /* likewise, of loading */
    int64_t load_op_ns, load_line_ns;
    int64_t load_ops_ns;              /* of all operators of loading */
    int64_t load_waited_ns;           /* of the line: in which it slept, read or opened */
};

struct rule_memory {
    bool is_known; /* of some device, with totals */
    int64_t device;
    int64_t peak, reserved_at_peak; /* TRACE_UNKNOWN */
    int64_t forward_peak, backward_peak;
    uint32_t growing; /* steps one after another, at most */
    double growth;    /* of those the least, as a share */
};

struct rule_facts {
    const struct trace_study *study;
    const struct trace_report *report;
    const struct trace_limits *limits;
    struct arena *arena;
    uint16_t *names; /* of each string: enum rule_name */
    uint8_t *under;  /* of each host span: enum rule_under */
    uint32_t *stack; /* of each span its stack as a text, as given_stacks; NULL: nobody has any */
    uint32_t *optimizer_of; /* of each host span: the step of an optimizer around it, or NO_ROW; NULL:
                             * there is none */

    /* Steps that are not empty. */
    uint32_t steps;
    int64_t steps_ns;
    int64_t window_first, window_last; /* of all of them and their work */
    int64_t wall[TRACE_PHASES], device[TRACE_PHASES];

    /* The device that worked most, and the time that it is judged by. */
    const struct trace_device *card; /* NULL: there is none */
    uint32_t process;
    const struct listed_row *listed; /* NULL: the header does not have it */
    int64_t judged_ns, busy_ns, compute_ns; /* in the window of the steps, else in its own */
    int64_t late_ns, unknown_ns, sync_ns, loader_ns; /* of its idle time */
    /* Of the judged time: in which it waited for a late or slow launch, or had no work yet or any
     * more; and in which it waited for work whose launch is not in the trace. */
    int64_t judged_waited_ns, judged_unknown_ns;

    /* All device work. */
    uint64_t kernels, small_kernels, step_kernels;
    int64_t small_ns;
    int64_t step_median_ns; /* of the kernels of steps; -1: none */
    uint64_t communications;
    struct rule_copies pageable; /* of steps, where there are steps */
    bool tells_pageable;         /* copies to a device say what memory they come from */
    bool has_tensor_cores, is_hip;
    struct rule_copies *by_owner; /* copies within a device, of each operator's name */

    /* Slow launches: of all, and of the step where they are the largest part. */
    int64_t slow_ns, steady_slow_ns;
    double slow_ratio; /* largest share of a step outside warm-up; negative: no such step */
    uint32_t slow_step;
    uint32_t slowest; /* the call */

    /* Calls in steps. */
    uint64_t all_launches; /* in steps or not */
    struct rule_calls launches, allocs, syncs, whole_syncs;
    struct rule_calls slow_launches; /* of those, which rule_slow_launch tells */
    bool has_alloc_calls; /* anywhere */
    uint32_t steps_with_sync;

    /* Operators. */
    uint8_t late_reason; /* enum blame, the largest; BLAMES: the host was never late */
    int64_t late_reason_ns;
    uint32_t late_name; /* a string: what was longest in that; 0: nothing, or steps by themselves */
    int64_t late_name_ns;
    struct rule_calls zero_fills;
    struct rule_calls one_by_one;  /* frames */
    uint64_t optimizer_kernels;    /* tiny ones, in the step of an optimizer with most of them */
    int64_t optimizer_ns;          /* of all such steps on the host */
    uint32_t optimizer;            /* that step */
    uint32_t select_run;
    uint32_t select_at;            /* the last of the longest run */
    struct rule_calls to_pairs;
    uint32_t lone_loader; /* a range of a loader without workers, or NO_ROW */
    int64_t overhead_ns;
    uint64_t own_ranges; /* neither steps nor the framework's */
    bool has_backward, has_optimizer;

    struct rule_loop loop;
    struct rule_memory memory;
};

/* False when out of memory. */
bool rule_facts_make(const struct trace_study *s, const struct trace_limits *limits,
                     const struct trace_report *r, struct arena *arena, struct rule_facts *ret);

/* The parts of it; each false when out of memory. */
bool rule_names_make(struct rule_facts *f);
bool rule_name_is_half(str name);
/* Whether a part stands somewhere in a name; or one of several. */
bool rule_name_has(str name, const char *part);
bool rule_name_has_one_of(str name, const char *const *part, size_t count);
bool rule_gaps_find(struct rule_facts *f);  /* window, slow launches, what ran meanwhile */
bool rule_memory_find(struct rule_facts *f);
bool rule_trees_find(struct rule_facts *f); /* runs of selects, tensors that are moved */
bool rule_loop_find(struct rule_facts *f);
bool rule_stacks_find(struct rule_facts *f);

/* What the name of a span of this kind says, by its text: enum loop_name. */
uint16_t rule_loop_name(str name, uint8_t kind);

/* "train.py(12): step", not of torch, of an installed package, or of the interpreter. */
bool rule_name_is_of_the_program(str name);

/* The innermost frame of the user's own Python code around a span; ptr NULL: there is none. */
str rule_line(const struct rule_facts *f, uint32_t row);
/* The same by its stack as a text; and of the spans of a name, those of devices by their owners,
 * the one in which most of their time is.  False when out of memory. */
str rule_line_given(const struct rule_facts *f, uint32_t row);
bool rule_line_of_name(const struct rule_facts *f, str name, str *ret);

/* The operator or range that device work, or a call, is owed to; its name, or that of the span. */
str rule_owner(const struct rule_facts *f, uint32_t row);

enum rule_under {
    UNDER_ZERO_GRAD = 1,
    UNDER_OPERATOR = 2, /* of a library, not a range */
    UNDER_FILL = 4,
    UNDER_LOADER = 8,
};

#endif
