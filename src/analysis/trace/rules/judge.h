/* judge.h - what a rule is given, and how it says what it saw. */
#ifndef VRS_ANALYSIS_TRACE_RULES_JUDGE_H
#define VRS_ANALYSIS_TRACE_RULES_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/rules.h"
#include "base/str.h"

/* What a rule cannot do without; the first that is missing is said. */
enum rule_need {
    NEED_TORCH = 1,
    NEED_DEVICE = 2,
    NEED_STEPS = 4,
    NEED_MEMORY = 8, /* totals of a device */
    NEED_TRAINING = 16, /* an optimizer, or a backward */
    NEED_CALLS = 32, /* of the runtime, in steps */
};

struct judging {
    const struct rule_facts *f;
    struct trace_finding *found;
    struct trace_silence *silent;
};

/* Looks; true: it speaks.  Where it is silent it has said why. */
typedef bool trace_rule(struct judging *j);

struct rule_row {
    static_text id;
    uint8_t severity; /* enum trace_severity */
    uint8_t needs;    /* enum rule_need */
    trace_rule *rule;
    static_text text, advice;
};

enum { RULES_MOST = 48 };
extern const struct rule_row rule_rows[RULES_MOST]; /* a row without an id ends it */

/* Keeps a number that the text, or somebody who reads JSON, wants. */
void judge_note(struct judging *j, static_text name, double value);

/* Keeps the number and what it was held against; says what was not met. */
bool judge_above(struct judging *j, static_text name, double value, enum trace_threshold limit);
bool judge_below(struct judging *j, static_text name, double value, enum trace_threshold limit);
bool judge_from(struct judging *j, static_text name, double value, enum trace_threshold limit);

/* False, with the reason. */
bool judge_no(struct judging *j, static_text clause);

/* Whether the device is known to have tensor cores; else false, with the reason. */
bool judge_capability(struct judging *j);

/* Who is to blame, as the name of a span's owner, with the line of Python around it. */
void judge_culprit(struct judging *j, uint32_t row);

static inline double judge_share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* The share of the judged time in which the device was busy. */
double rule_busy(const struct rule_facts *f);

/* The wall time of forward, backward and optimizer. */
int64_t rule_compute_wall(const struct rule_facts *f);

/* Where the time of loading passed, and the advice that this asks for, which stands in no row of
 * the table of rules. */
void judge_loading(struct judging *j);

/* Keeps the judged time, what of it was idle, and the share of computing. */
void rule_note_window(struct judging *j);

trace_rule rule_gpu_low, rule_gpu_high, rule_gpu_mixed, rule_host, rule_data_1, rule_data_2,
    rule_data_3, rule_forward, rule_backward, rule_copies, rule_launch_bound, rule_small_ops,
    rule_slow_launch, rule_pageable, rule_exposed_copies, rule_sync, rule_alloc, rule_comm_exposed,
    rule_comm_skew, rule_tensor_cores, rule_tensor_align, rule_mem_peak, rule_mem_forward,
    rule_mem_backward, rule_mem_reserved, rule_mem_growth, rule_bandwidth, rule_optimizer_loop,
    rule_zero_fill, rule_select_loop, rule_to_after, rule_prof_long, rule_prof_warm,
    rule_prof_mode, rule_prof_memory, rule_prof_sync, rule_prof_cost, rule_item_step,
    rule_step_other, rule_copy_step, rule_prof_coarse;

#endif
