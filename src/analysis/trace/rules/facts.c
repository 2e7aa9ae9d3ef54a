/* facts.c - what the rules look at, counted. */
#include "analysis/trace/rules/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/steps.h"
#include "analysis/trace/study/names.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/quickselect.h"
#include "base/table.h"
#include "model/trace.h"

void rule_calls_add(struct rule_calls *c, const struct spans *s, uint32_t row)
{
    c->ns = i64_plus(c->ns, s->duration[row]);
    if (c->count++ == 0 || s->duration[row] > s->duration[c->longest])
        c->longest = row;
}

static void add_copy(struct rule_copies *c, const struct spans *s, uint32_t row)
{
    c->ns = i64_plus(c->ns, s->duration[row]);
    c->bytes += s->bytes[row] > 0 ? (double)s->bytes[row] : 0;
    if (c->count++ == 0 || s->duration[row] > s->duration[c->largest])
        c->largest = row;
}

/* Steps and the device. */

static void take_steps(struct rule_facts *f)
{
    const struct trace_report *r = f->report;
    for (uint32_t i = 0; i < r->steps; i++) {
        const struct trace_step *step = &r->step[i];
        if (!trace_step_is_judged(step))
            continue;
        if (f->steps++ == 0)
            f->window_first = step->first_ns;
        if (f->steps == 1 || step->last_ns > f->window_last)
            f->window_last = step->last_ns;
        f->steps_ns = i64_plus(f->steps_ns, step->ns);
    }
    for (uint32_t i = 0; i < r->phases.rows; i++) {
        f->wall[r->phases.row[i].phase] = r->phases.row[i].wall_ns;
        f->device[r->phases.row[i].phase] = r->phases.row[i].device_ns;
    }
}

static void take_card(struct rule_facts *f)
{
    const struct trace_report *r = f->report;
    const struct busy *busy = &r->figures.busy;
    uint32_t best = NO_ROW;
    for (uint32_t i = 0; i < r->devices; i++)
        if (r->device[i].window_ns > 0 &&
            (best == NO_ROW || r->device[i].busy_ns > r->device[best].busy_ns))
            best = i;
    if (best == NO_ROW)
        return;
    f->card = &r->device[best];
    f->process = f->card->process;
    const struct device_time *d = busy->device;
    while (d->process != f->process)
        d++;
    f->late_ns = d->class_ns[GAP_HOST_LATE];
    f->unknown_ns = d->class_ns[GAP_NO_LAUNCH];
    f->sync_ns = d->blame_ns[BLAME_SYNC];
    f->loader_ns = d->blame_ns[BLAME_DATALOADER];
    for (uint32_t i = 0; i < r->capture.devices; i++)
        if (d->pid.is_number && r->capture.device[i].number == d->pid.number)
            f->listed = &r->capture.device[i];
    if (f->steps == 0) {
        f->window_first = d->first_ns;
        f->window_last = d->last_ns;
    }
}

/* Over the spans: first the work of devices, whose last launch the calls are compared with. */

struct counting {
    struct rule_facts *f;
    int64_t *duration; /* of the kernels of steps */
    uint32_t *syncs;   /* of each step */
    uint32_t *tiny;    /* of each span that is a step of an optimizer: its tiny kernels */
    /* From where the first call that launched work begins to where the last one ends. */
    int64_t first_launch, last_launch;
};

static void add_kernel(struct counting *c, uint32_t row, uint32_t launch, bool in_step)
{
    struct rule_facts *f = c->f;
    const struct spans *s = &f->study->trace->spans;
    uint16_t name = f->names[s->name[row]];
    f->kernels++;
    if (s->duration[row] < (int64_t)f->limits->at[SMALL_KERNEL_NS]) {
        f->small_kernels++;
        f->small_ns = i64_plus(f->small_ns, s->duration[row]);
    }
    if (in_step)
        c->duration[f->step_kernels++] = s->duration[row];
    f->has_tensor_cores = f->has_tensor_cores || (name & RULE_TENSOR_CORE) != 0;
    f->communications += (f->study->names.traits[s->name[row]] & NAME_COMMUNICATES) != 0;
    if (launch == NO_ROW || f->optimizer_of == NULL ||
        s->duration[row] >= (int64_t)f->limits->at[OPT_KERNEL_NS])
        return;
    uint32_t step = f->optimizer_of[launch];
    if (step != NO_ROW && ++c->tiny[step] > f->optimizer_kernels) {
        f->optimizer_kernels = c->tiny[step];
        f->optimizer = step;
    }
}

static void add_work(struct counting *c, uint32_t row)
{
    struct rule_facts *f = c->f;
    const struct trace_study *s = f->study;
    const struct spans *spans = &s->trace->spans;
    uint32_t launch = s->links.launch[row], owner = s->links.owner[row];
    uint16_t name = f->names[spans->name[row]];
    int64_t moment = spans->start[launch != NO_ROW ? launch : row];
    bool in_step = trace_judged_step_of(f->report, moment) != NO_ROW;
    if (launch != NO_ROW && span_end(spans, launch) > c->last_launch)
        c->last_launch = span_end(spans, launch);
    if (launch != NO_ROW && spans->start[launch] < c->first_launch)
        c->first_launch = spans->start[launch];
    if (spans->kind[row] == SPAN_KERNEL)
        add_kernel(c, row, launch, in_step);
    if (spans->kind[row] != SPAN_MEMCPY)
        return;
    f->tells_pageable = f->tells_pageable || ((name & RULE_TO_DEVICE) != 0 &&
                                              str_find(trace_text(s->trace, spans->name[row]), S("(")) <
                                                  trace_text(s->trace, spans->name[row]).len);
    if ((name & RULE_PAGEABLE) != 0 && (in_step || f->steps == 0))
        add_copy(&f->pageable, spans, row);
    if ((name & RULE_DEVICE_COPY) != 0 && owner != NO_ROW)
        add_copy(&f->by_owner[spans->name[owner]], spans, row);
}

static void add_runtime(struct counting *c, uint32_t row)
{
    struct rule_facts *f = c->f;
    const struct trace_study *s = f->study;
    const struct spans *spans = &s->trace->spans;
    uint8_t traits = s->names.traits[spans->name[row]];
    bool allocates = s->names.blame[spans->name[row]] == BLAME_ALLOCATOR;
    uint32_t step = trace_judged_step_of(f->report, spans->start[row]);
    f->has_alloc_calls = f->has_alloc_calls || allocates;
    f->is_hip = f->is_hip || (f->names[spans->name[row]] & RULE_HIP) != 0;
    f->all_launches += (traits & NAME_LAUNCHES) != 0;
    if (step == NO_ROW)
        return;
    if ((traits & NAME_LAUNCHES) != 0)
        rule_calls_add(&f->launches, spans, row);
    if ((traits & NAME_LAUNCHES) != 0 && spans->duration[row] >= SLOW_LAUNCH_NS)
        rule_calls_add(&f->slow_launches, spans, row);
    if (allocates && step >= 2 + (uint32_t)(f->report->step[0].kind == STEP_EMPTY))
        rule_calls_add(&f->allocs, spans, row);
    /* Who profiles waits for all before the first launch, and behind the last. */
    bool is_whole = (f->names[spans->name[row]] & RULE_WHOLE_SYNC) != 0;
    bool is_aside = spans->start[row] < c->first_launch || spans->start[row] >= c->last_launch;
    if ((traits & NAME_SYNCHRONIZES) == 0 || (is_whole && is_aside))
        return;
    rule_calls_add(&f->syncs, spans, row);
    f->steps_with_sync += c->syncs[step]++ == 0;
    if (is_whole && (f->under[row] & UNDER_OPERATOR) == 0)
        rule_calls_add(&f->whole_syncs, spans, row);
}

static void add_range(struct rule_facts *f, uint32_t row)
{
    const struct spans *spans = &f->study->trace->spans;
    uint16_t name = f->names[spans->name[row]];
    uint8_t traits = f->study->names.traits[spans->name[row]];
    if ((name & RULE_LONE_LOADER) != 0)
        f->lone_loader = row;
    f->own_ranges += spans->kind[row] == SPAN_ANNOTATION &&
                     (traits & (NAME_STEP | NAME_RANGE)) == 0;
    if ((name & RULE_OPTIMIZER) != 0) {
        f->has_optimizer = true;
        f->optimizer_ns = i64_plus(f->optimizer_ns, spans->duration[row]);
    }
    if ((name & RULE_FILLS) != 0 && (f->under[row] & UNDER_ZERO_GRAD) != 0 &&
        (f->under[row] & UNDER_FILL) == 0)
        rule_calls_add(&f->zero_fills, spans, row);
}

static void count_one(struct counting *c, uint32_t row)
{
    struct rule_facts *f = c->f;
    const struct spans *spans = &f->study->trace->spans;
    if (span_is_call(spans->kind[row]))
        add_runtime(c, row);
    else if (span_is_range(spans->kind[row]))
        add_range(f, row);
    else if (spans->kind[row] == SPAN_PYTHON && (f->names[spans->name[row]] & RULE_ONE_BY_ONE) != 0)
        rule_calls_add(&f->one_by_one, spans, row);
    else if (spans->kind[row] == SPAN_OVERHEAD)
        f->overhead_ns = i64_plus(f->overhead_ns, spans->duration[row]);
}

static bool count(struct rule_facts *f)
{
    const struct trace *t = f->study->trace;
    f->by_owner = arena_array(f->arena, struct rule_copies, t->strings.rows.len);
    struct arena_mark mark = arena_mark(f->arena);
    struct counting c = { .f = f,
                          .duration = arena_array(f->arena, int64_t, f->study->work),
                          .syncs = arena_array(f->arena, uint32_t, f->report->steps),
                          .tiny = arena_array(f->arena, uint32_t,
                                              f->optimizer_of != NULL ? t->spans.rows.len : 0),
                          .first_launch = INT64_MAX,
                          .last_launch = INT64_MIN };
    if (c.duration == NULL || c.syncs == NULL || c.tiny == NULL || f->by_owner == NULL)
        return false;
    for (uint32_t row = 0; row < t->spans.rows.len; row++)
        if (span_is_work(t->spans.kind[row]))
            add_work(&c, row);
    for (uint32_t row = 0; row < t->spans.rows.len; row++)
        if (!span_is_work(t->spans.kind[row]))
            count_one(&c, row);
    f->step_median_ns = -1;
    if (f->step_kernels > 0)
        f->step_median_ns = quickselect_i64(c.duration, (uint32_t)f->step_kernels,
                                            (uint32_t)(f->step_kernels - 1) / 2);
    arena_release(f->arena, mark);
    return true;
}

bool rule_facts_make(const struct trace_study *s, const struct trace_limits *limits,
                     const struct trace_report *r, struct arena *arena, struct rule_facts *ret)
{
    *ret = (struct rule_facts){ .study = s,
                                .report = r,
                                .limits = limits,
                                .arena = arena,
                                .lone_loader = NO_ROW,
                                .optimizer = NO_ROW,
                                .select_at = NO_ROW };
    take_steps(ret);
    take_card(ret);
    ret->has_backward = ret->wall[PHASE_BACKWARD] > 0 || ret->device[PHASE_BACKWARD] > 0;
    return rule_names_make(ret) && rule_trees_find(ret) && rule_gaps_find(ret) && count(ret) &&
           rule_memory_find(ret) && rule_loop_find(ret) && rule_stacks_find(ret);
}
