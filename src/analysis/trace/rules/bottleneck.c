/* bottleneck.c - the kind of bottleneck: loading, device, host, or none of them alone. */
#include "analysis/trace/rules/bottleneck.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/figures/figures.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"
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

static bool is_busy(struct judging *j)
{
    rule_note_window(j);
    return judge_above(j, "busy_ratio", rule_busy(j->f), GPU_HIGH_BUSY);
}

/* Whether the device is idle for long, and mostly since the host had given it nothing to do. */
static bool waits_for_host(struct judging *j)
{
    const struct rule_facts *f = j->f;
    double waited = (double)f->judged_waited_ns, idle = (double)(f->judged_ns - f->busy_ns);
    judge_note(j, "waited_ns", waited);
    return judge_below(j, "busy_ratio", rule_busy(f), GPU_LOW_BUSY) &&
           judge_above(j, "waited_idle_ratio", judge_share(waited, idle), BOTTLENECK_IDLE);
}

/* Whether that was the data loader above all. */
static bool waits_for_loader(struct judging *j)
{
    const struct rule_facts *f = j->f;
    double loader = (double)f->loader_ns, idle = (double)f->card->idle_ns;
    judge_note(j, "loader_ns", loader);
    judge_note(j, "gaps_ns", idle);
    return judge_above(j, "loader_gaps_ratio", judge_share(loader, idle), BOTTLENECK_IDLE);
}

/* Of a device that is not busy all the time. */
static void judge_idle(struct judging *j, struct bottleneck *b)
{
    const struct rule_facts *f = j->f;
    if (f->judged_unknown_ns > (f->judged_ns - f->busy_ns) / 2)
        tell(b, BOTTLENECK_UNKNOWN,
             "the device was busy for {busy_ratio} of {window_ns}, and most of its idle time ended "
             "with work whose launch was not recorded");
    else if (!waits_for_host(j))
        tell(b, BOTTLENECK_MIXED,
             "the device was busy for {busy_ratio} of {window_ns}, for {compute_ratio} without "
             "copies: neither the host nor what runs on the device is all of it");
    else if (waits_for_loader(j))
        tell(b, BOTTLENECK_DATA,
             "the device was busy for {busy_ratio} of {window_ns}; for {loader_ns} of {gaps_ns} of "
             "gaps between its first event and its last it waited for the data loader");
    else
        tell(b, BOTTLENECK_HOST,
             "the device was busy for {busy_ratio} of {window_ns} and idle for {idle_ns}; for "
             "{waited_ns} of that the host had given it nothing to do");
}

/* Of a trace without work of devices that takes time. */
static static_text why_unknown(const struct trace_report *r)
{
    if (r->devices > 0)
        return "what ran on the device took no time";
    if (!r->file.complete)
        return "no device activity stands in the part that could be read";
    if (r->capture.devices > 0)
        return "no device activity was recorded, though a GPU is listed";
    return "no device activity was recorded: where no GPU was used, the time is the host's; else "
           "record with ProfilerActivity.CUDA";
}

void bottleneck_judge(const struct rule_facts *f, struct bottleneck *ret)
{
    struct trace_silence ignored = { .id = NULL };
    struct judging j = { f, &ret->why, &ignored };
    *ret = (struct bottleneck){ .why.gain_ns = -1 };
    if (!figures_are_of_torch(&f->report->figures))
        tell(ret, BOTTLENECK_UNKNOWN, "the trace is not one of torch.profiler");
    else if (f->card != NULL && is_busy(&j))
        tell(ret, BOTTLENECK_DEVICE,
             "the device was busy for {busy_ratio} of {window_ns}, for {compute_ratio} without "
             "copies: the time is in what runs on it");
    else if (loads_longer(&j))
        tell(ret, BOTTLENECK_DATA,
             "{data_ns} of the steps went into loading data: {data_compute_ratio} of the "
             "{compute_ns} of forward, backward and optimizer");
    else if (f->card != NULL)
        judge_idle(&j, ret);
    else
        tell(ret, BOTTLENECK_UNKNOWN, why_unknown(f->report));
}
