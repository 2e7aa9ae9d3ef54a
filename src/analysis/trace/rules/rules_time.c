/* rules_time.c - rules about where the time of the device and of steps went. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/figures/figures.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/study/names.h"
#include "base/bytes.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

double rule_busy(const struct rule_facts *f)
{
    return judge_share((double)f->busy_ns, (double)f->judged_ns);
}

static double compute_of(const struct rule_facts *f)
{
    return judge_share((double)f->compute_ns, (double)f->judged_ns);
}

static int64_t model_ns(const struct rule_facts *f)
{
    return i64_plus(i64_plus(f->wall[PHASE_FORWARD], f->wall[PHASE_RECOMPUTE]),
                    f->wall[PHASE_BACKWARD]);
}

int64_t rule_compute_wall(const struct rule_facts *f)
{
    return i64_plus(model_ns(f), f->wall[PHASE_OPTIMIZER]);
}

static bool loads_longer(const struct rule_facts *f)
{
    return f->steps > 0 && (double)f->wall[PHASE_DATA] >
                               f->limits->at[DATA_COMPUTE] * (double)rule_compute_wall(f);
}

void rule_note_window(struct judging *j)
{
    const struct rule_facts *f = j->f;
    judge_note(j, "window_ns", (double)f->judged_ns);
    judge_note(j, "idle_ns", (double)(f->judged_ns - f->busy_ns));
    judge_note(j, "compute_ratio", compute_of(f));
}

/* What the host was in for the largest reason of its lateness: a name, or none of them. */
static void blame_late(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (f->late_reason == BLAME_NONE) {
        judge_note(j, "unrecorded_ns", (double)f->late_reason_ns);
    } else if (f->late_name != 0) {
        j->found->culprit = trace_text(f->study->trace, f->late_name);
        judge_note(j, "culprit_ns", (double)f->late_name_ns);
    } else if (f->late_name_ns > 0) {
        judge_note(j, "outside_ns", (double)f->late_name_ns);
    }
}

/* The host is late: by launching much, or by something else between few launches. */
static void advise_host(struct judging *j, static_text if_many)
{
    enum { NONE, ACTS, WAITS, KINDS };
    static const static_text few[2][KINDS] = {
        { "the host is late, but not by launching ({launches} launches in all): see what it does in "
          "the gaps (--gaps), and do that before or elsewhere",
          "the host is late, but not by launching ({launches} launches in all): do on the device "
          "what {culprit} does, or do it before",
          "the host is late, but not by launching ({launches} launches in all): wait for the device "
          "less often, as {culprit} does" },
        { "the host is late, but not by launching ({launches_per_step} launches a step): see what "
          "it does in the gaps (--gaps), and move that out of the step",
          "the host is late, but not by launching ({launches_per_step} launches a step): do on the "
          "device what {culprit} does, or move it out of the step",
          "the host is late, but not by launching ({launches_per_step} launches a step): wait for "
          "the device less often, as {culprit} does" },
    };
    const struct rule_facts *f = j->f;
    bool has_steps = f->steps > 0, is_one = f->late_name != 0 && f->late_name_ns > f->late_ns / 2;
    bool waits = f->late_reason == BLAME_SYNC || (f->names[f->late_name] & RULE_READS) != 0;
    unsigned kind = !is_one ? NONE : waits ? WAITS : ACTS;
    double launches = has_steps ? (double)f->launches.count / (double)f->steps
                                : (double)f->all_launches;
    bool are_many = judge_from(j, has_steps ? "launches_per_step" : "launches", launches,
                               HOST_LAUNCHES);
    if (is_one && !are_many)
        blame_late(j);
    j->found->advice = f->late_reason == BLAME_NONE && f->late_reason_ns > f->late_ns / 2
                           ? "nothing of what the host did meanwhile was recorded: record frames of "
                             "Python (with_stack=True), and see what it waits for"
                       : are_many ? if_many
                                  : few[has_steps][kind];
}

/* The devices of the judged window: which reason comes first is row D07's order. */
bool rule_gpu_low(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (!judge_below(j, "busy_ratio", rule_busy(f), GPU_LOW_BUSY))
        return false;
    bool tells = f->unknown_ns <= f->card->idle_ns / 2; /* who launched what ended the gaps */
    bool is_host = (tells && rule_busy(f) < f->limits->at[GPU_LOW_HOST]) ||
                   f->late_ns > f->card->idle_ns / 2;
    rule_note_window(j);
    if (f->slow_ns > f->card->idle_ns / 2)
        judge_culprit(j, f->slowest);
    else if (f->late_ns > f->card->idle_ns / 2)
        blame_late(j);
    j->found->gain_ns = f->judged_ns - f->busy_ns;
    if (loads_longer(f) || f->loader_ns > f->card->idle_ns / 2)
        j->found->advice = "begin with the loading of data, for which the device waits most: more "
                           "workers, pinned memory, prefetching";
    else if (f->slow_ns > f->card->idle_ns / 2)
        j->found->advice = "launches themselves were slow, as where kernels are loaded at their "
                           "first use: run some steps before those that count";
    else if (!tells)
        j->found->advice = "the trace does not tell why: of most work behind a gap the launch was "
                           "not recorded";
    else if (is_host)
        advise_host(j, "the host is late: launch less and larger work (torch.compile, CUDA graphs, "
                       "larger batches), and wait for the device less often");
    return true;
}

bool rule_gpu_high(struct judging *j)
{
    const struct rule_facts *f = j->f;
    bool is_busy = judge_above(j, "busy_ratio", rule_busy(f), GPU_HIGH_BUSY);
    bool computes = judge_above(j, "compute_ratio", compute_of(f), GPU_HIGH_COMPUTE);
    judge_note(j, "window_ns", (double)f->judged_ns);
    if (f->report->figures.tables.kernels > 0)
        j->found->culprit = f->report->figures.tables.kernel[0].name;
    return is_busy && computes;
}

bool rule_gpu_mixed(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (rule_busy(f) < f->limits->at[GPU_LOW_BUSY])
        return judge_no(j, "GPU-LOW speaks of it");
    if (rule_busy(f) > f->limits->at[GPU_HIGH_BUSY] &&
        compute_of(f) > f->limits->at[GPU_HIGH_COMPUTE])
        return judge_no(j, "GPU-HIGH speaks of it");
    judge_note(j, "busy_ratio", rule_busy(f));
    rule_note_window(j);
    j->found->gain_ns = f->judged_ns - f->busy_ns;
    return true;
}

/* Loading. */

static bool has_loading(struct judging *j)
{
    if (j->f->wall[PHASE_DATA] > 0)
        return true;
    return judge_no(j, "no range of a data loader lies in a step");
}

/* At most the time in which the loop waited for its data. */
static void found_loading(struct judging *j)
{
    const struct rule_facts *f = j->f;
    judge_note(j, "data_ns", (double)f->wall[PHASE_DATA]);
    judge_note(j, "steps_ns", (double)f->steps_ns);
    j->found->gain_ns = f->wall[PHASE_DATA];
    if (f->lone_loader != NO_ROW)
        j->found->culprit = trace_text(f->study->trace,
                                       f->study->trace->spans.name[f->lone_loader]);
    judge_loading(j);
}

bool rule_data_1(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (!has_loading(j))
        return false;
    if (rule_compute_wall(f) == 0)
        return judge_no(j, "no phase but loading is told");
    found_loading(j);
    return judge_above(j, "data_compute_ratio",
                       judge_share((double)f->wall[PHASE_DATA], (double)rule_compute_wall(f)),
                       DATA_COMPUTE);
}

bool rule_data_2(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (!has_loading(j))
        return false;
    if (model_ns(f) == 0)
        return judge_no(j, "neither forward nor backward is told");
    found_loading(j);
    return judge_above(j, "data_model_ratio",
                       judge_share((double)f->wall[PHASE_DATA], (double)model_ns(f)), DATA_MODEL);
}

bool rule_data_3(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (!has_loading(j))
        return false;
    bool takes = judge_above(j, "data_step_ratio",
                             judge_share((double)f->wall[PHASE_DATA], (double)f->steps_ns),
                             DATA_STEP);
    bool idles = f->card != NULL &&
                 judge_above(j, "data_idle_ratio",
                             judge_share((double)f->loader_ns, (double)f->card->idle_ns), DATA_IDLE);
    found_loading(j);
    return takes || idles;
}

bool rule_host(struct judging *j)
{
    const struct rule_facts *f = j->f;
    struct trace_finding found = { .id = NULL };
    struct trace_silence silent = { .id = NULL };
    struct judging other = { f, &found, &silent };
    if (!judge_below(j, "busy_ratio", rule_busy(f), HOST_BUSY))
        return false;
    if (f->steps > 0 && (rule_data_1(&other) || rule_data_2(&other) || rule_data_3(&other)))
        return judge_no(j, "the loading of data is named first (DATA-1 to DATA-3)");
    if (f->late_ns == 0)
        return judge_no(j, "the device never waited for a launch");
    judge_note(j, "late_ns", (double)f->late_ns);
    judge_note(j, "idle_ns", (double)f->card->idle_ns);
    judge_note(j, "window_ns", (double)f->judged_ns);
    blame_late(j);
    j->found->gain_ns = f->late_ns;
    advise_host(j, "launch less and larger work: torch.compile, CUDA graphs, fewer small operators, "
                   "and no preprocessing between launches");
    return true;
}

/* Phases. */

static const int64_t *phase_times(const struct rule_facts *f)
{
    return f->device[PHASE_FORWARD] > 0 && f->device[PHASE_BACKWARD] > 0 ? f->device : f->wall;
}

static bool compare_phases(struct judging *j, enum trace_phase one, enum trace_phase other,
                           static_text name, enum trace_threshold limit)
{
    const int64_t *ns = phase_times(j->f);
    if (ns[one] == 0 || ns[other] == 0)
        return judge_no(j, "forward and backward are not both told");
    judge_note(j, "forward_ns", (double)ns[PHASE_FORWARD]);
    judge_note(j, "backward_ns", (double)ns[PHASE_BACKWARD]);
    return judge_above(j, name, judge_share((double)ns[one], (double)ns[other]), limit);
}

bool rule_forward(struct judging *j)
{
    return compare_phases(j, PHASE_FORWARD, PHASE_BACKWARD, "forward_backward_ratio",
                          FORWARD_BACKWARD);
}

bool rule_backward(struct judging *j)
{
    return compare_phases(j, PHASE_BACKWARD, PHASE_FORWARD, "backward_forward_ratio",
                          BACKWARD_FORWARD);
}

/* The method. */

bool rule_prof_long(struct judging *j)
{
    return judge_above(j, "steps", j->f->report->steps, PROF_STEPS);
}

bool rule_prof_warm(struct judging *j)
{
    const struct trace_report *r = j->f->report;
    uint32_t first = r->steps > 0 && r->step[0].kind == STEP_EMPTY;
    if (j->f->steps < 3)
        return judge_no(j, "fewer than three steps were recorded");
    judge_note(j, "first_ns", (double)r->step[first].ns);
    judge_note(j, "median_ns", r->statistics.median_ns);
    return judge_above(j, "first_ratio",
                       judge_share((double)r->step[first].ns, r->statistics.median_ns), PROF_WARM);
}

bool rule_prof_mode(struct judging *j)
{
    if (!j->f->has_optimizer)
        return judge_no(j, "no optimizer ran, so nothing says that it is a training");
    if (j->f->has_backward)
        return judge_no(j, "a backward was recorded");
    return true;
}

bool rule_prof_memory(struct judging *j)
{
    const struct trace_report *r = j->f->report;
    if (j->f->study->trace->memory.rows.len > 0)
        return judge_no(j, "memory was recorded");
    if (r->capture.profile_memory)
        return judge_no(j, "memory was to be recorded (profile_memory=True), but no event of it is "
                           "in the trace");
    return true;
}

bool rule_prof_coarse(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct figures *figures = &f->report->figures;
    if (figures->kinds[SPAN_OP] == 0)
        return judge_no(j, "no operator was recorded");
    if (figures->kinds[SPAN_PYTHON] > 0)
        return judge_no(j, "frames of Python say which part an operator is of");
    if (f->stack != NULL)
        return judge_no(j, "stacks of operators say which line each is of");
    if (figures->kinds[SPAN_ANNOTATION] == 0 && f->report->step_source == STEPS_PROFILER)
        return judge_no(j, "ranges were recorded as operators, which does not tell them apart");
    return f->own_ranges == 0 || judge_no(j, "the program has ranges of its own");
}

bool rule_prof_sync(struct judging *j)
{
    const struct rule_facts *f = j->f;
    judge_note(j, "waits", (double)f->whole_syncs.count);
    judge_note(j, "waits_ns", (double)f->whole_syncs.ns);
    judge_culprit(j, f->whole_syncs.count > 0 ? f->whole_syncs.longest : NO_ROW);
    return judge_from(j, "waits_per_step",
                      judge_share((double)f->whole_syncs.count, (double)f->steps), PROF_SYNCS);
}

bool rule_prof_cost(struct judging *j)
{
    const struct rule_facts *f = j->f;
    int64_t span = f->study->last_ns - f->study->first_ns;
    if (f->report->figures.kinds[SPAN_OVERHEAD] == 0)
        return judge_no(j, "the profiler recorded no cost of its own");
    judge_note(j, "overhead_ns", (double)f->overhead_ns);
    j->found->gain_ns = f->overhead_ns;
    return judge_above(j, "overhead_ratio", judge_share((double)f->overhead_ns, (double)span),
                       PROF_COST);
}
