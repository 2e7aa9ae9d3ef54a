/* rules_work.c - rules about launches, copies, waiting, allocations and kernels. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/categories/categories.h"
#include "analysis/trace/queue/queue.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/tables/tables.h"
#include "base/bytes.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

bool rule_copies(struct judging *j)
{
    const struct trace_report *r = j->f->report;
    for (uint32_t i = 0; i < r->ops; i++) {
        const struct operator_row *o = &r->op[i];
        if (!str_equal(o->name, S("aten::copy_")))
            continue;
        double host = judge_share((double)o->self_cpu_ns, (double)r->self_cpu_ns);
        double device = judge_share((double)o->self_device_ns,
                                    (double)r->figures.tables.device_ns);
        judge_note(j, "calls", (double)o->calls);
        bool on_host = judge_from(j, "host_ratio", host, COPY_SHARE);
        bool on_device = judge_from(j, "device_ratio", device, COPY_SHARE);
        j->found->culprit = o->name;
        j->found->gain_ns = on_device ? o->self_device_ns : o->self_cpu_ns;
        return on_host || on_device;
    }
    return judge_no(j, "aten::copy_ was not called");
}

/* Launches. */

/* The queue of the stream that was given most work. */
static const struct trace_queue_row *main_queue(const struct rule_facts *f)
{
    const struct trace_launches *l = &f->report->launches;
    const struct trace_queue_row *best = NULL;
    for (uint32_t i = 0; i < l->queues; i++)
        if (best == NULL || l->queue[i].work > best->work)
            best = &l->queue[i];
    return best;
}

bool rule_launch_bound(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct trace_queue_row *queue = main_queue(f);
    /* A few that load kernels are not many launches. */
    int64_t ns = i64_minus(f->launches.ns, f->slow_launches.ns);
    judge_note(j, "launch_ns", (double)ns);
    judge_note(j, "launches", (double)(f->launches.count - f->slow_launches.count));
    bool calls = judge_above(j, "launch_step_ratio", judge_share((double)ns, (double)f->steps_ns),
                             LAUNCH_STEP);
    bool many = false;
    if (!calls && f->step_median_ns >= 0 && queue != NULL && queue->empty_ratio >= 0)
        many = judge_above(j, "kernels_per_step",
                           judge_share((double)f->step_kernels, (double)f->steps),
                           LAUNCH_KERNELS) &&
               judge_below(j, "kernel_median_ns", (double)f->step_median_ns, LAUNCH_KERNEL_NS) &&
               judge_above(j, "queue_empty_ratio", queue->empty_ratio, LAUNCH_EMPTY);
    if (calls)
        j->found->gain_ns = ns;
    else
        j->found->text = "{kernels_per_step} kernels in a step, half of them of "
                         "{kernel_median_ns} at most, and nothing was queued for "
                         "{queue_empty_ratio} of the time";
    return calls || many;
}

bool rule_small_ops(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (f->kernels == 0)
        return judge_no(j, "no kernel was recorded");
    judge_note(j, "kernels", (double)f->kernels);
    judge_note(j, "small_kernels", (double)f->small_kernels);
    judge_note(j, "below_ns", f->limits->at[SMALL_KERNEL_NS]);
    return judge_above(j, "small_count_ratio",
                       judge_share((double)f->small_kernels, (double)f->kernels), SMALL_COUNT) &&
           judge_below(j, "small_time_ratio",
                       judge_share((double)f->small_ns, (double)f->report->figures.tables.device_ns),
                       SMALL_TIME);
}

bool rule_slow_launch(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (f->slow_ns == 0)
        return judge_no(j, "no launch took 100 us or more while the device waited for it");
    judge_culprit(j, f->slowest);
    judge_note(j, "longest_ns", (double)f->study->trace->spans.duration[f->slowest]);
    if (f->steps > 0) {
        if (f->slow_ratio < 0)
            return judge_no(j, "no step was recorded behind warm-up");
        judge_note(j, "slow_ns", (double)f->steady_slow_ns);
        j->found->gain_ns = f->steady_slow_ns;
        return judge_above(j, "slow_ratio", f->slow_ratio, SLOW_LAUNCH_STEP);
    }
    judge_note(j, "slow_ns", (double)f->slow_ns);
    j->found->gain_ns = f->slow_ns;
    return judge_above(j, "slow_ratio", judge_share((double)f->slow_ns, (double)f->card->window_ns),
                       SLOW_LAUNCH_STEP);
}

/* Copies. */

bool rule_pageable(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct rule_copies *c = &f->pageable;
    if (!f->tells_pageable)
        return judge_no(j, "no copy to a device was recorded that says what memory it comes from");
    double steps = f->steps > 0 ? f->steps : 1;
    double whole = f->steps > 0 ? (double)f->steps_ns : (double)f->card->window_ns;
    judge_note(j, "copies", (double)c->count);
    judge_note(j, "pageable_ns", (double)c->ns);
    bool takes = judge_above(j, "pageable_step_ratio", judge_share((double)c->ns, whole),
                             PAGEABLE_STEP);
    bool much = judge_above(j, "pageable_bytes", c->bytes / steps, PAGEABLE_BYTES);
    if (c->count > 0)
        judge_culprit(j, c->largest);
    j->found->gain_ns = c->ns;
    return takes || much;
}

bool rule_exposed_copies(struct judging *j)
{
    const struct trace_device *d = j->f->card;
    judge_note(j, "exposed_ns", (double)d->exposed_memcpy_ns);
    j->found->gain_ns = d->exposed_memcpy_ns;
    return judge_above(j, "copy_exposed_ratio",
                       judge_share((double)d->exposed_memcpy_ns, (double)d->window_ns),
                       COPY_EXPOSED);
}

bool rule_bandwidth(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const double second = 1e9;
    uint32_t best = NO_ROW, strings = f->study->trace->strings.rows.len;
    for (uint32_t id = 0; id < strings; id++)
        if (f->by_owner[id].count > 0 &&
            (best == NO_ROW || f->by_owner[id].bytes > f->by_owner[best].bytes))
            best = id;
    if (best == NO_ROW)
        return judge_no(j, "no copy within a device is owed to an operator; of kernels the trace "
                           "does not tell the bytes");
    const struct rule_copies *c = &f->by_owner[best];
    judge_culprit(j, c->largest);
    j->found->gain_ns = c->ns;
    return judge_above(j, "copied_bytes", c->bytes, COPY_BYTES) &&
           judge_above(j, "copied_ns", (double)c->ns, COPY_NS) &&
           judge_below(j, "rate_bytes", c->ns > 0 ? c->bytes / (double)c->ns * second : 0,
                       COPY_RATE);
}

/* Waiting and allocating. */

bool rule_sync(struct judging *j)
{
    const struct rule_facts *f = j->f;
    judge_note(j, "waits", (double)f->syncs.count);
    judge_note(j, "waits_ns", (double)f->syncs.ns);
    judge_note(j, "steps_with_waits", f->steps_with_sync);
    judge_note(j, "steps", f->steps);
    judge_note(j, "sync_idle_ns", (double)f->sync_ns);
    judge_culprit(j, f->syncs.count > 0 ? f->syncs.longest : NO_ROW);
    j->found->gain_ns = f->sync_ns > 0 ? f->sync_ns : -1;
    bool in_each = f->steps > 0 && f->steps_with_sync == f->steps;
    bool idles = judge_above(j, "sync_idle_ratio",
                             judge_share((double)f->sync_ns, (double)f->card->window_ns), SYNC_IDLE);
    if (!in_each && !idles)
        return judge_no(j, f->steps == 0 ? "the trace has no steps, and little idle time is owed to "
                                           "waiting"
                           : f->syncs.count == 0
                               ? "no step waits for the device, but for the waits of who profiles"
                               : "some step does not wait, and little idle time is owed to "
                                 "waiting");
    if (!in_each)
        j->found->text = "for {sync_idle_ns} the device had nothing to do while the host waited for it";
    return true;
}

bool rule_alloc(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (!f->has_alloc_calls)
        return judge_no(j, "no allocation calls were recorded");
    judge_note(j, "alloc_ns", (double)f->allocs.ns);
    if (f->allocs.count > 0)
        judge_culprit(j, f->allocs.longest);
    j->found->gain_ns = f->allocs.ns;
    return judge_above(j, "alloc_calls", (double)f->allocs.count, ALLOC_CALLS);
}

/* Collectives. */

bool rule_comm_exposed(struct judging *j)
{
    const struct trace_device *d = j->f->card;
    if (j->f->communications == 0)
        return judge_no(j, "no kernel of a library of collectives ran");
    judge_note(j, "exposed_ns", (double)d->exposed_communication_ns);
    j->found->gain_ns = d->exposed_communication_ns;
    return judge_above(j, "comm_exposed_ratio",
                       judge_share((double)d->exposed_communication_ns, (double)d->window_ns),
                       COMM_EXPOSED);
}

bool rule_comm_skew(struct judging *j)
{
    return judge_no(j, "rules look at one rank: where several are given, or were merged into the "
                       "trace, \"ranks\" says who waited for whom");
}

/* Tensor cores. */

static bool multiplies(str name)
{
    static const str names[] = {
        { "aten::mm", 8 },           { "aten::addmm", 11 },       { "aten::bmm", 9 },
        { "aten::baddbmm", 13 },     { "aten::_addmm_activation", 23 },
        { "aten::cudnn_convolution", 23 }, { "aten::convolution_backward", 26 },
        { "aten::cudnn_convolution_backward_weight", 39 },
        { "aten::cudnn_convolution_backward_input", 38 },
        { "aten::_scaled_dot_product_efficient_attention", 45 },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(name, names[i]))
            return true;
    return false;
}

bool judge_capability(struct judging *j)
{
    enum { FIRST_WITH_THEM = 7 };
    const struct rule_facts *f = j->f;
    if (f->is_hip)
        return judge_no(j, "kernels of ROCm do not say in their names what units they use");
    if (f->listed == NULL || f->listed->major == TRACE_UNKNOWN)
        return judge_no(j, "the trace does not tell the compute capability of the device");
    return f->listed->major >= FIRST_WITH_THEM || judge_no(j, "the device has no tensor cores");
}

bool rule_tensor_cores(struct judging *j)
{
    enum { FIRST_WITH_TF32 = 8 };
    const struct rule_facts *f = j->f;
    int64_t most = 0, all = 0;
    str culprit = { NULL, 0 };
    if (!judge_capability(j))
        return false;
    for (uint32_t i = 0; i < f->report->ops; i++) {
        const struct operator_row *o = &f->report->op[i];
        if (!multiplies(o->name))
            continue;
        all = i64_plus(all, o->self_device_ns);
        if (o->self_device_ns > most) {
            most = o->self_device_ns;
            culprit = o->name;
        }
    }
    judge_note(j, "products_ns", (double)all);
    j->found->culprit = culprit;
    j->found->gain_ns = all;
    if (f->listed->major >= FIRST_WITH_TF32)
        j->found->advice = "use mixed precision (torch.autocast), or "
                           "torch.set_float32_matmul_precision(\"high\")";
    if (!judge_above(j, "tensor_time_ratio",
                     judge_share((double)all, (double)f->report->figures.tables.device_ns),
                     TENSOR_TIME))
        return false;
    return !f->has_tensor_cores || judge_no(j, "kernels that use tensor cores ran");
}

/* Operators. */

bool rule_optimizer_loop(struct judging *j)
{
    const struct rule_facts *f = j->f;
    if (!f->has_optimizer)
        return judge_no(j, "no range of an optimizer's step was recorded");
    judge_note(j, "frames", (double)f->one_by_one.count);
    judge_note(j, "optimizer_ns", (double)f->optimizer_ns);
    j->found->gain_ns = f->optimizer_ns;
    if (f->one_by_one.count > 0)
        j->found->culprit = trace_text(f->study->trace,
                                       f->study->trace->spans.name[f->one_by_one.longest]);
    else
        judge_culprit(j, f->optimizer);
    return judge_above(j, "kernels_of_a_step", (double)f->optimizer_kernels, OPT_KERNELS) ||
           f->one_by_one.count > 0;
}

bool rule_zero_fill(struct judging *j)
{
    const struct rule_facts *f = j->f;
    judge_note(j, "fill_ns", (double)f->zero_fills.ns);
    j->found->gain_ns = f->zero_fills.ns;
    if (f->zero_fills.count > 0)
        j->found->culprit = trace_text(f->study->trace,
                                       f->study->trace->spans.name[f->zero_fills.longest]);
    return judge_above(j, "fills", (double)f->zero_fills.count, ZERO_CALLS);
}

bool rule_select_loop(struct judging *j)
{
    const struct rule_facts *f = j->f;
    judge_culprit(j, f->select_at);
    return judge_from(j, "groups", f->select_run, SELECT_RUN);
}

bool rule_to_after(struct judging *j)
{
    const struct rule_facts *f = j->f;
    judge_note(j, "made_ns", (double)f->to_pairs.ns);
    j->found->gain_ns = f->to_pairs.ns;
    if (f->to_pairs.count > 0)
        judge_culprit(j, f->to_pairs.longest);
    return judge_above(j, "pairs", (double)f->to_pairs.count, TO_PAIRS);
}

/* Memory. */

bool rule_mem_peak(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct capture *c = &f->report->capture;
    int64_t whole = 0;
    for (uint32_t i = 0; i < c->devices; i++)
        if (c->device[i].number == f->memory.device && c->device[i].bytes > 0)
            whole = c->device[i].bytes;
    if (whole == 0)
        return judge_no(j, "the trace does not tell the memory of the device");
    judge_note(j, "peak_bytes", (double)f->memory.peak);
    judge_note(j, "device_bytes", (double)whole);
    return judge_above(j, "peak_ratio", judge_share((double)f->memory.peak, (double)whole),
                       MEM_PEAK);
}

static bool has_phase_peaks(struct judging *j)
{
    const struct rule_memory *m = &j->f->memory;
    if (m->forward_peak <= 0 || m->backward_peak <= 0)
        return judge_no(j, "memory was not recorded in both forward and backward");
    judge_note(j, "forward_bytes", (double)m->forward_peak);
    judge_note(j, "backward_bytes", (double)m->backward_peak);
    return true;
}

bool rule_mem_forward(struct judging *j)
{
    const struct rule_memory *m = &j->f->memory;
    return has_phase_peaks(j) &&
           judge_above(j, "forward_backward_ratio",
                       judge_share((double)m->forward_peak, (double)m->backward_peak), MEM_FORWARD);
}

bool rule_mem_backward(struct judging *j)
{
    const struct rule_memory *m = &j->f->memory;
    return has_phase_peaks(j) &&
           judge_above(j, "backward_forward_ratio",
                       judge_share((double)m->backward_peak, (double)m->forward_peak),
                       MEM_BACKWARD);
}

bool rule_mem_reserved(struct judging *j)
{
    const struct rule_memory *m = &j->f->memory;
    if (m->reserved_at_peak == TRACE_UNKNOWN)
        return judge_no(j, "the trace does not tell how much was reserved");
    judge_note(j, "peak_bytes", (double)m->peak);
    judge_note(j, "reserved_bytes", (double)m->reserved_at_peak);
    return judge_above(j, "reserved_ratio",
                       judge_share((double)m->reserved_at_peak, (double)m->peak), MEM_RESERVED);
}

/* Gradients and activations that outlive their step, more of them after each. */
static bool holds_on(struct judging *j)
{
    const struct trace_report *r = j->f->report;
    const struct trace_memory_peak *most = NULL;
    for (uint32_t i = 0; i < r->peaks.rows; i++)
        if (r->peaks.row[i].held != NULL &&
            (most == NULL || r->peaks.row[i].held_steps > most->held_steps))
            most = &r->peaks.row[i];
    if (most == NULL || !judge_from(j, "held_steps", most->held_steps, MEM_HELD))
        return false;
    judge_note(j, "held_blocks", (double)most->held[most->steps - 1]);
    j->found->text = "{held_steps} steps, one after another, end with more gradients and activations "
                     "that earlier steps had made, the last with {held_blocks}";
    return true;
}

bool rule_mem_growth(struct judging *j)
{
    const struct rule_memory *m = &j->f->memory;
    judge_note(j, "growth_ratio", m->growth);
    return judge_from(j, "growing_steps", m->growing, MEM_STEPS) || holds_on(j);
}
