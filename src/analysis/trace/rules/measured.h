/* measured.h - a training that was measured without a profiler, and the kind of its bottleneck.
 *
 * The answer `method` (vramscope.method/1) is made of it, which Python's diagnose() asks for; the
 * verb diagnose asks a trace alone, whose rows are those of its report. */
#ifndef VRS_ANALYSIS_TRACE_RULES_MEASURED_H
#define VRS_ANALYSIS_TRACE_RULES_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/bottleneck.h"
#include "analysis/trace/rules/rules.h"
#include "base/field.h"
#include "base/str.h"

/* Means of steps, since workers give batches out in bursts, and a step may have to wait for others;
 * beside them the median of a step.  What is negative was not measured. */
struct measured_training {
    str of; /* the model, its device, the size of its batches */
    uint32_t steps;
    int64_t median_ns; /* of a step */
    int64_t step_ns;   /* without the loading, which is before it */
    int64_t loading_ns, copy_ns, forward_ns, backward_ns, optimizer_ns;
    double samples; /* in a second, with the loading */
    double busy;    /* the share of the time in which something ran on the device */
    int64_t workers; /* of the loader */
    int64_t processors;
    bool on_device; /* where the model is; times but that of loading are then the device's */
};

/* The kind, with what was seen and held against the thresholds. */
struct measured_method {
    struct measured_training training;
    const struct trace_report *traced; /* what a trace of it says; NULL: there is none */
    struct bottleneck bottleneck;
};

/* The first that holds: a device that is busy for more than gpu-high-busy_ratio; loading that takes
 * more than data-compute_ratio of a step; a model on the host; what a trace of the same training
 * says, if it says anything; a device that is busy for less than gpu-low-host_ratio, or for
 * more. */
void measured_judge(const struct trace_limits *limits, struct measured_method *m);

extern const struct row_type measured_method_row_type;

#endif
