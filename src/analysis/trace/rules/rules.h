/* rules.h - what to change, by rules over what the other analyses found (docs/trace-rules.md).
 *
 * A rule either speaks, with the numbers it saw, the thresholds it held them against and what could
 * be gained at most, or it is silent, with the clause that held it back.  Rules are one table; each
 * is a short function over struct rule_facts.  Thresholds are data that a user may replace.  The
 * sentences are filled in by the renderer. */
#ifndef VRS_ANALYSIS_TRACE_RULES_RULES_H
#define VRS_ANALYSIS_TRACE_RULES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

struct figures;
struct trace_report;

enum trace_severity { TRACE_PROBLEM, TRACE_ADVICE, TRACE_NOTE, TRACE_SEVERITIES };
extern const char *const trace_severity_names[TRACE_SEVERITIES];

/* In the order of docs/trace-rules.md; the name of each is in trace_thresholds. */
enum trace_threshold {
    GPU_LOW_BUSY,
    GPU_LOW_HOST,
    GPU_HIGH_BUSY,
    GPU_HIGH_COMPUTE,
    DATA_COMPUTE,
    DATA_MODEL,
    DATA_STEP,
    DATA_IDLE,
    HOST_BUSY,
    HOST_LAUNCHES,
    FORWARD_BACKWARD,
    BACKWARD_FORWARD,
    COPY_SHARE,
    LAUNCH_STEP,
    LAUNCH_KERNELS,
    LAUNCH_KERNEL_NS,
    LAUNCH_EMPTY,
    SMALL_KERNEL_NS,
    SMALL_COUNT,
    SMALL_TIME,
    SLOW_LAUNCH_STEP,
    PAGEABLE_STEP,
    PAGEABLE_BYTES,
    COPY_EXPOSED,
    SYNC_IDLE,
    ALLOC_CALLS,
    COMM_EXPOSED,
    TENSOR_TIME,
    TENSOR_ALIGN,
    TENSOR_ALIGN_TIME,
    MEM_PEAK,
    MEM_FORWARD,
    MEM_BACKWARD,
    MEM_RESERVED,
    MEM_GROWTH,
    MEM_STEPS,
    MEM_HELD,
    COPY_BYTES,
    COPY_NS,
    COPY_RATE,
    OPT_KERNELS,
    OPT_KERNEL_NS,
    ZERO_CALLS,
    SELECT_RUN,
    TO_PAIRS,
    PROF_STEPS,
    PROF_WARM,
    PROF_SYNCS,
    PROF_COST,
    ITEM_STEPS,
    STEP_OTHER,
    COPY_STEP,
    LEAD_GAIN,
    BOTTLENECK_IDLE,
    TRACE_THRESHOLDS
};

struct trace_threshold_row {
    static_text name; /* ends in its unit: _ratio, _ns, _bytes, else a count */
    double value;
    static_text what;
};
extern const struct trace_threshold_row trace_thresholds[TRACE_THRESHOLDS];

/* The values that count: those of the table, or the user's; and what is known of the machine whose
 * trace it is. */
struct trace_limits {
    double at[TRACE_THRESHOLDS];
    int64_t processors; /* that the program may use; 0: not known, as of a file */
    int64_t workers;    /* of its loader; -1: not known */
};

void trace_limits_init(struct trace_limits *ret);
/* "NAME=VALUE".  A name that there is not fails, as does a value that is no number. */
enum vrs_status trace_limits_set(struct trace_limits *limits, str text,
                                 struct vrs_error *err) MUST_CHECK;

/* A number that a rule saw, or held it against: the name ends in its unit, as above. */
struct trace_evidence {
    static_text name;
    double value;
};

/* What a rule tested, and did not find. */
enum unmet_how { NOT_ABOVE, NOT_BELOW, LESS_THAN, UNMETS };
struct unmet {
    struct trace_evidence seen;
    struct trace_evidence limit;
    uint8_t how; /* enum unmet_how */
};

enum { EVIDENCE_MOST = 12, LIMITS_MOST = 6 };

struct trace_finding {
    static_text id;
    uint8_t severity; /* enum trace_severity */
    /* Sentences to be filled in: {NAME} is the evidence of that name, {culprit} the culprit,
     * {line} its line. */
    static_text text, advice;
    static_text workers; /* what {workers} is in them, with places of its own; NULL: not there */
    struct trace_evidence evidence[EVIDENCE_MOST];
    uint32_t evidences;
    struct trace_evidence limit[LIMITS_MOST];
    uint32_t limits;
    str culprit; /* an operator, a call or a kernel; ptr NULL: none */
    /* The program's frame around the culprit, of loading the one inside in which most of it passes;
     * ptr NULL: neither frames nor stacks of operators were recorded, or none is the program's. */
    str line;
    int64_t gain_ns; /* at most; negative: cannot be told */
    /* Of that, at most, in each of so many steps; negative and 0: there are none, or they are
     * shorter than it, so that it lies outside of them too. */
    int64_t gain_step_ns;
    uint32_t steps;
};

struct trace_silence {
    static_text id;
    static_text clause; /* why it does not apply; NULL: what was tested and not met says it */
    struct unmet unmet[LIMITS_MOST];
    uint32_t unmets;
};

struct trace_findings {
    struct trace_finding *finding; /* most to be gained first; those without a bound by severity */
    uint32_t findings;
    struct trace_silence *silent; /* in the order of the table */
    uint32_t silents;
    double least_ns; /* what a finding gains that leads */
};

/* Whether a rule would look at the shapes of inputs, were they recorded. */
bool trace_rules_use_shapes(const struct figures *f);

/* FIELD_SENTENCE of a finding, and of a silence. */
enum trace_sentence { TRACE_TEXT, TRACE_ADVICE_TEXT, TRACE_CLAUSE };

/* Fills `findings` of a report that is otherwise done.  Everything is taken from `arena`; false
 * when out of memory. */
bool trace_findings_make(const struct trace_study *s, const struct trace_limits *limits,
                         struct arena *arena, struct trace_report *ret);

/* Whether one before it gains as much of the same culprit: it is the same time, told again. */
bool trace_finding_repeats(const struct trace_findings *f, uint32_t i);

/* Whether it is for the first screen: a problem or an advice that gains enough, or of which the gain
 * cannot be told; where there is none of them, how the device is judged, else what gains little. */
bool trace_finding_leads(const struct trace_findings *f, uint32_t i);

extern const struct row_type trace_finding_row_type, trace_silence_row_type;

#endif
