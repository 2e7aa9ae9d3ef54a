/* bottleneck.c - the kind of bottleneck: loading, device, host, or none of them alone. */
#include "analysis/trace/rules/bottleneck.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/figures/figures.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"
#include "base/bytes.h"
#include "base/str.h"

const char *const bottleneck_kind_names[BOTTLENECK_KINDS] = {
    [BOTTLENECK_UNKNOWN] = "unknown", [BOTTLENECK_DATA] = "data", [BOTTLENECK_DEVICE] = "device",
    [BOTTLENECK_HOST] = "host",       [BOTTLENECK_MIXED] = "mixed",
};

static void tell(struct bottleneck *b, enum bottleneck_kind kind, static_text text)
{
    b->kind = (uint8_t)kind;
    b->why.text = text;
}

/* Whether loading takes longer than computing; phases that are not told are not judged. */
static bool loads_longer(struct judging *j)
{
    const struct rule_facts *f = j->f;
    int64_t computing = rule_compute_wall(f), loading = f->wall[PHASE_DATA];
    if (f->steps == 0 || loading <= 0 || computing <= 0)
        return false;
    judge_note(j, "data_ns", (double)loading);
    judge_note(j, "compute_ns", (double)computing);
    return judge_above(j, "data_compute_ratio", judge_share((double)loading, (double)computing),
                       DATA_COMPUTE);
}

/* Whose fault the idle time is, where the device is busy for neither little nor much. */
static bool is_of_host(struct judging *j)
{
    const struct rule_facts *f = j->f;
    double owed = judge_share((double)i64_plus(f->late_ns, f->slow_ns), (double)f->card->idle_ns);
    return judge_above(j, "host_idle_ratio", owed, BOTTLENECK_IDLE);
}

/* Whether the host was late for the data loader above all. */
static bool is_of_loader(struct judging *j)
{
    const struct rule_facts *f = j->f;
    judge_note(j, "loader_ns", (double)f->loader_ns);
    return judge_above(j, "loader_idle_ratio",
                       judge_share((double)f->loader_ns, (double)f->card->idle_ns),
                       BOTTLENECK_IDLE);
}

static void judge_device(struct judging *j, struct bottleneck *b)
{
    const struct rule_facts *f = j->f;
    double busy = rule_busy(f);
    rule_note_window(j);
    judge_note(j, "late_ns", (double)i64_plus(f->late_ns, f->slow_ns));
    if (judge_above(j, "busy_ratio", busy, GPU_HIGH_BUSY)) {
        tell(b, BOTTLENECK_DEVICE,
             "the device was busy for {busy_ratio} of {window_ns}, for {compute_ratio} without "
             "copies: the time is in what runs on it");
        return;
    }
    if (f->unknown_ns > f->card->idle_ns / 2) {
        tell(b, BOTTLENECK_UNKNOWN,
             "the device was busy for {busy_ratio} of {window_ns}, and most of its idle time ended "
             "with work whose launch was not recorded");
        return;
    }
    bool is_low = judge_below(j, "busy_ratio", busy, GPU_LOW_HOST);
    bool waits = is_low || (judge_below(j, "busy_ratio", busy, GPU_LOW_BUSY) && is_of_host(j));
    if (waits && is_of_loader(j))
        tell(b, BOTTLENECK_DATA,
             "the device was busy for {busy_ratio} of {window_ns} and idle for {idle_ns}; for "
             "{loader_ns} of that it waited for the data loader");
    else if (waits)
        tell(b, BOTTLENECK_HOST,
             "the device was busy for {busy_ratio} of {window_ns} and idle for {idle_ns}; for "
             "{late_ns} of that it waited for a launch that came late");
    else
        tell(b, BOTTLENECK_MIXED,
             "the device was busy for {busy_ratio} of {window_ns}, for {compute_ratio} without "
             "copies: neither the host nor what runs on the device is all of it");
}

void bottleneck_judge(const struct rule_facts *f, struct bottleneck *ret)
{
    struct trace_silence ignored = { .id = NULL };
    struct judging j = { f, &ret->why, &ignored };
    *ret = (struct bottleneck){ .why.gain_ns = -1 };
    if (!figures_are_of_torch(&f->report->figures))
        tell(ret, BOTTLENECK_UNKNOWN, "the trace is not one of torch.profiler");
    else if (loads_longer(&j))
        tell(ret, BOTTLENECK_DATA,
             "{data_ns} of the steps went into loading data: {data_compute_ratio} of the "
             "{compute_ns} of forward, backward and optimizer");
    else if (f->card != NULL)
        judge_device(&j, ret);
    else if (f->report->capture.devices > 0)
        tell(ret, BOTTLENECK_UNKNOWN,
             "a GPU is listed, but nothing ran on it while the profiler recorded");
    else
        tell(ret, BOTTLENECK_UNKNOWN,
             "no device activity was recorded: where no GPU was used, the time is the host's; else "
             "record with ProfilerActivity.CUDA");
}
