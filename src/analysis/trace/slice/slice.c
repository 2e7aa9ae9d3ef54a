/* slice.c - marks host events by time, then the device work, the links and the memory of them. */
#include "analysis/trace/slice/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/trace/study/flows.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/idtab.h"
#include "base/table.h"

struct slicing {
    const struct slice_question *q;
    struct trace_study study;
    int64_t first_ns, end_ns; /* of the steps */
    struct slice *ret;
};

static bool is_inside(const struct slicing *s, int64_t moment)
{
    return !s->q->by_steps || (moment >= s->first_ns && moment < s->end_ns);
}

/* Says which steps there are instead; none where the first is behind the last. */
static enum vrs_status refuse_steps(const struct slice_question *q, int64_t first, int64_t last,
                                    struct vrs_error *err)
{
    char which[64];
    if (q->first_step == q->last_step)
        snprintf(which, sizeof which, "step %lld", (long long)q->first_step);
    else if (q->last_step == SLICE_TO_LAST)
        snprintf(which, sizeof which, "step from %lld on", (long long)q->first_step);
    else if (q->first_step == SLICE_FROM_FIRST)
        snprintf(which, sizeof which, "step up to %lld", (long long)q->last_step);
    else
        snprintf(which, sizeof which, "step from %lld to %lld", (long long)q->first_step,
                 (long long)q->last_step);
    if (first > last)
        return vrs_fail(err, VRS_USAGE,
                        "there is no %s: no ProfilerStep#N is in the trace, which prof.step() "
                        "writes",
                        which);
    return vrs_fail(err, VRS_USAGE,
                    "there is no %s: those of the trace are %lld to %lld (vramscope trace --steps "
                    "lists them)",
                    which, (long long)first, (long long)last);
}

/* Refuses ends that were named and are not there: what is asked for is not cut down unsaid. */
static enum vrs_status refuse_ends(const struct slice_question *q, int64_t first, int64_t last,
                                   struct vrs_error *err)
{
    bool before = q->first_step != SLICE_FROM_FIRST && q->first_step < first;
    bool behind = q->last_step != SLICE_TO_LAST && q->last_step > last;
    if (!before && !behind)
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE,
                    "not all of these steps are there: the trace has %lld to %lld; %lld..%lld takes "
                    "those of them",
                    (long long)first, (long long)last,
                    (long long)(q->first_step > first ? q->first_step : first),
                    (long long)(q->last_step < last ? q->last_step : last));
}

/* From the begin of the first step to the end of the last. */
static enum vrs_status find_steps(struct slicing *s, struct vrs_error *err)
{
    const struct spans *spans = &s->study.trace->spans;
    int64_t first = INT64_MAX, last = -1; /* of all steps */
    bool found = false;
    for (uint32_t row = 0; row < spans->rows.len && s->q->by_steps; row++) {
        int64_t number = name_step_number(trace_text(s->study.trace, spans->name[row]));
        if (!span_is_range(spans->kind[row]) || number < 0)
            continue;
        first = number < first ? number : first;
        last = number > last ? number : last;
        if (number < s->q->first_step || number > s->q->last_step)
            continue;
        int64_t start = spans->start[row], end = span_end(spans, row);
        s->first_ns = !found || start < s->first_ns ? start : s->first_ns;
        s->end_ns = !found || end > s->end_ns ? end : s->end_ns;
        found = true;
    }
    if (!s->q->by_steps)
        return VRS_OK;
    return found ? refuse_ends(s->q, first, last, err) : refuse_steps(s->q, first, last, err);
}

static bool is_host(uint8_t kind)
{
    return span_is_range(kind) || span_is_call(kind) || kind == SPAN_PYTHON;
}

static bool keeps_host(const struct slicing *s, uint32_t row)
{
    const struct spans *spans = &s->study.trace->spans;
    bool is_step = (s->study.names.traits[spans->name[row]] & NAME_STEP) != 0;
    if (!is_inside(s, spans->start[row]) ||
        (spans->kind[row] == SPAN_PYTHON && s->q->drop_python))
        return false;
    return is_step || spans->duration[row] >= s->q->min_duration_ns;
}

/* Device work goes with its launch, and what nobody launched with its own begin; both ends of that
 * stay, however short. */
static void keep_work(struct slicing *s, uint32_t row)
{
    const struct links *l = &s->study.links;
    const struct spans *spans = &s->study.trace->spans;
    uint32_t launch = l->launch[row], owner = l->owner[row];
    uint32_t by = links_host(l, row);
    s->ret->span[row] = is_inside(s, spans->start[by != NO_ROW ? by : row]);
    if (!s->ret->span[row])
        return;
    if (launch != NO_ROW)
        s->ret->span[launch] = true;
    if (owner != NO_ROW && is_inside(s, spans->start[owner]))
        s->ret->span[owner] = true;
}

static void keep_spans(struct slicing *s)
{
    const struct spans *spans = &s->study.trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint8_t kind = spans->kind[row];
        if (is_host(kind))
            s->ret->span[row] = keeps_host(s, row);
        else if (!span_is_work(kind))
            s->ret->span[row] = kind == SPAN_WINDOW || is_inside(s, spans->start[row]);
    }
    for (uint32_t row = 0; row < spans->rows.len; row++)
        if (span_is_work(spans->kind[row]))
            keep_work(s, row);
    s->ret->all = spans->rows.len;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        s->ret->kept += s->ret->span[row];
}

/* Links that begin inside, and the ends of the same category and number; without steps all ends. */

static bool keep_flows(struct slicing *s)
{
    const struct flows *f = &s->study.trace->flows;
    struct idtab starts = { .slot = NULL };
    bool ok = true;
    for (uint32_t row = 0; row < f->rows.len && ok; row++) {
        if (f->finish[row] || !is_inside(s, f->time[row]))
            continue;
        s->ret->flow[row] = true;
        ok = flow_start_add(f, &starts, row);
    }
    for (uint32_t row = 0; row < f->rows.len && ok; row++)
        if (f->finish[row])
            s->ret->flow[row] = !s->q->by_steps || flow_start_find(f, &starts, row) != NO_ROW;
    idtab_free(&starts);
    return ok;
}

static enum vrs_status slice_with(struct slicing *s, struct arena *arena, struct vrs_error *err)
{
    const struct trace *t = s->study.trace;
    TRY(find_steps(s, err));
    s->ret->span = arena_array(arena, bool, t->spans.rows.len);
    s->ret->flow = arena_array(arena, bool, t->flows.rows.len);
    s->ret->memory = arena_array(arena, bool, t->memory.rows.len);
    if (s->ret->span == NULL || s->ret->flow == NULL || s->ret->memory == NULL)
        return vrs_no_memory(err);
    keep_spans(s);
    for (uint32_t row = 0; row < t->memory.rows.len; row++)
        s->ret->memory[row] = is_inside(s, t->memory.time[row]);
    return keep_flows(s) ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status slice_make(const struct trace *t, const struct slice_question *q,
                           struct arena *arena, struct slice *ret, struct vrs_error *err)
{
    struct slicing s = { .q = q, .ret = ret };
    struct arena scratch;
    *ret = (struct slice){ .kept = 0 };
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = trace_study_make(t, &scratch, &s.study, err);
    if (status == VRS_OK)
        status = slice_with(&s, arena, err);
    arena_free(&scratch);
    return status;
}
