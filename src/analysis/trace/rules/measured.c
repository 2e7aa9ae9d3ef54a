/* measured.c - the kind of bottleneck by what was measured, before what a profiler's trace says. */
#include "analysis/trace/rules/measured.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/rules/bottleneck.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"
#include "base/field.h"
#include "base/str.h"

static void tell(struct measured_method *m, enum bottleneck_kind kind, static_text text)
{
    m->bottleneck.kind = (uint8_t)kind;
    m->bottleneck.why.text = text;
}

static bool loads_longer(struct judging *j, const struct measured_training *t)
{
    if (t->loading_ns < 0 || t->step_ns <= 0)
        return false;
    judge_note(j, "loading_ns", (double)t->loading_ns);
    judge_note(j, "step_ns", (double)t->step_ns);
    return judge_above(j, "data_compute_ratio",
                       judge_share((double)t->loading_ns, (double)t->step_ns), DATA_COMPUTE);
}

/* Of a training whose model is on the host. */
static void judge_host(struct judging *j, struct measured_method *m)
{
    judge_note(j, "step_ns", (double)m->training.step_ns);
    tell(m, BOTTLENECK_HOST,
         m->training.loading_ns < 0
             ? "the model is on no device: the host computes for the {step_ns} of a step"
             : "the model is on no device: the host computes for the {step_ns} of a step, and loads "
               "its batch in {loading_ns}");
}

/* Of a device that is not busy all the time, or of which that is not known. */
static void judge_device(struct judging *j, const struct bottleneck *traced,
                         struct measured_method *m)
{
    if (traced != NULL && traced->kind != BOTTLENECK_UNKNOWN)
        m->bottleneck = *traced;
    else if (m->training.busy < 0)
        tell(m, BOTTLENECK_UNKNOWN,
             "loading takes no longer than a step; how busy the device is, neither its driver nor "
             "a trace tells");
    else if (judge_below(j, "busy_ratio", m->training.busy, GPU_LOW_HOST))
        tell(m, BOTTLENECK_HOST,
             "the driver found the device busy for {busy_ratio} of the time, and loading takes no "
             "longer than a step");
    else
        tell(m, BOTTLENECK_MIXED,
             "the driver found the device busy for {busy_ratio} of the time: neither the host nor "
             "what runs on the device is all of it");
}

void measured_judge(const struct trace_limits *limits, struct measured_method *m)
{
    const struct bottleneck *traced = m->traced == NULL ? NULL : &m->traced->bottleneck;
    const struct measured_training *t = &m->training;
    const struct rule_facts facts = { .limits = limits };
    struct trace_silence ignored = { .id = NULL };
    struct judging j = { &facts, &m->bottleneck.why, &ignored };
    m->bottleneck = (struct bottleneck){ .why.gain_ns = -1 };
    if (t->steps == 0 && m->traced != NULL && m->traced->bottleneck.kind != BOTTLENECK_UNKNOWN)
        m->bottleneck = m->traced->bottleneck;
    else if (t->steps == 0)
        tell(m, BOTTLENECK_UNKNOWN, "no step was measured");
    else if (t->on_device && t->busy >= 0 && judge_above(&j, "busy_ratio", t->busy, GPU_HIGH_BUSY))
        tell(m, BOTTLENECK_DEVICE,
             "the driver found the device busy for {busy_ratio} of the time: it is in what runs "
             "there");
    else if (loads_longer(&j, t))
        tell(m, BOTTLENECK_DATA,
             "loading a batch takes {loading_ns} in the mean, and the step that follows computes "
             "for {step_ns}");
    else if (!t->on_device)
        judge_host(&j, m);
    else
        judge_device(&j, traced, m);
}

#define NS_FIELD(member)                                                                           \
    { #member, NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct measured_training, member),            \
      .null = NULL_NEGATIVE }

static const struct field training_fields[] = {
    { "of", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct measured_training, of) },
    { "steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct measured_training, steps) },
    NS_FIELD(median_ns),
    NS_FIELD(step_ns),
    NS_FIELD(loading_ns),
    NS_FIELD(copy_ns),
    NS_FIELD(forward_ns),
    NS_FIELD(backward_ns),
    NS_FIELD(optimizer_ns),
    { "samples_per_second", NULL, UNIT_NONE, FIELD_REAL,
      FIELD_AT(struct measured_training, samples), .null = NULL_NEGATIVE, .decimals = 3 },
    { "busy_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct measured_training, busy),
      .null = NULL_NEGATIVE, .decimals = 6 },
    { "workers", NULL, UNIT_COUNT, FIELD_SIGNED, FIELD_AT(struct measured_training, workers),
      .null = NULL_NEGATIVE },
    { "processors", NULL, UNIT_COUNT, FIELD_SIGNED,
      FIELD_AT(struct measured_training, processors), .null = NULL_NEGATIVE },
    { "on_device", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct measured_training, on_device) },
};
static const struct row_type training_row_type =
    ROW_TYPE("measured_training", struct measured_training, training_fields);

static const struct field method_fields[] = {
    { "training", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct measured_method, training),
      .row = &training_row_type },
    { "bottleneck", NULL, UNIT_NONE, FIELD_ROW,
      .offset = offsetof(struct measured_method, bottleneck), .row = &bottleneck_row_type },
};
const struct row_type measured_method_row_type =
    ROW_TYPE("method", struct measured_method, method_fields);
