/* report.c - gathers what the analyses of a trace found. */
#include "analysis/trace/report/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/queue/queue.h"
#include "analysis/trace/ranks/trace_ranks.h"
#include "analysis/trace/report/job.h"
#include "analysis/trace/modules/modules.h"
#include "analysis/trace/report/steps.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/operators.h"
#include "analysis/trace/tables/tables.h"
#include "base/bytes.h"
#include "base/table.h"
#include "base/task_list.h"
#include "model/ids.h"

static bool keep_text(const struct trace *t, uint32_t id, struct arena *arena, str *ret)
{
    *ret = (str){ NULL, 0 };
    if (id == 0)
        return true;
    *ret = arena_copy(arena, trace_text(t, id));
    return ret->ptr != NULL;
}

/* The file. */

bool trace_file_make(const struct trace *t, struct arena *arena, struct trace_file *ret)
{
    ret->events = t->events;
    ret->complete = t->damage[DAMAGE_TRUNCATED].count == 0;
    ret->was_cut = t->header.cut_at != TRACE_UNKNOWN;
    ret->cut_stream = t->cut_stream;
    ret->is_packed = t->is_packed;
    ret->size_bytes = UNKNOWN_U64;
    ret->damage = arena_array(arena, struct damage_row, TRACE_DAMAGES);
    if (ret->damage == NULL)
        return false;
    for (uint32_t kind = 0; kind < TRACE_DAMAGES; kind++)
        if (t->damage[kind].count > 0)
            ret->damage[ret->damages++] = (struct damage_row){ (uint8_t)kind, t->damage[kind].count,
                                                               t->damage[kind].first_offset };
    return true;
}

/* What was recorded. */

static bool devices_listed(const struct trace *t, struct arena *arena, struct capture *ret)
{
    const struct listed_devices *d = &t->devices;
    ret->device = arena_array(arena, struct listed_row, d->rows.len);
    ret->devices = d->rows.len;
    if (ret->device == NULL)
        return false;
    for (uint32_t i = 0; i < d->rows.len; i++) {
        ret->device[i] = (struct listed_row){ .number = d->number[i],
                                              .bytes = d->bytes[i],
                                              .major = d->major[i],
                                              .minor = d->minor[i],
                                              .multiprocessors = d->multiprocessors[i] };
        if (!keep_text(t, d->name[i], arena, &ret->device[i].name))
            return false;
    }
    return true;
}

/* What the file cannot tell, and the switch of the profiler that would have recorded it. */
static bool missing_find(const struct trace_study *s, const struct figures *f, bool has_steps,
                         struct arena *arena, struct capture *ret)
{
    const struct trace_header *h = &s->trace->header;
    const bool has_frames = f->kinds[SPAN_PYTHON] > 0 || ret->stacks_are_texts;
    const struct {
        bool missing;
        struct missing_row row;
    } all[] = {
        { f->tables.kernels == 0,
          { "device activity", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]" } },
        { !has_steps, { "steps", "schedule=schedule(...), and prof.step() in each step" } },
        { !has_frames, { "source lines", "with_stack=True" } },
        { !ret->profile_memory, { "memory", "profile_memory=True" } },
        { !ret->record_shapes && trace_rules_use_shapes(f),
          { "input shapes", "record_shapes=True" } },
        { h->stacks_left_out > 0,
          { "stacks of some operators",
            "a shorter schedule (64 MiB of different ones are kept)" } },
    };
    enum { MOST = sizeof all / sizeof *all };
    ret->missing = arena_array(arena, struct missing_row, MOST);
    if (ret->missing == NULL)
        return false;
    for (uint32_t i = 0; i < MOST && figures_are_of_torch(f); i++)
        if (all[i].missing)
            ret->missing[ret->missings++] = all[i].row;
    return true;
}

/* What of it the events show. */
static uint8_t flags_shown(const struct trace *t, const struct figures *f)
{
    unsigned shown = 0;
    shown |= t->header.has_shapes ? TRACE_RECORD_SHAPES : 0u;
    shown |= t->memory.rows.len > 0 ? TRACE_PROFILE_MEMORY : 0u;
    shown |= t->stacks.rows.len > 0 || f->kinds[SPAN_PYTHON] > 0 ? TRACE_WITH_STACK : 0u;
    return (uint8_t)shown;
}

static bool capture_make(const struct trace_study *s, const struct trace_report *r,
                         struct arena *arena, struct capture *ret)
{
    const struct trace_header *h = &s->trace->header;
    uint8_t shown = flags_shown(s->trace, &r->figures), on = (uint8_t)(h->flags | shown);
    *ret = (struct capture){ .record_shapes = (on & TRACE_RECORD_SHAPES) != 0,
                             .profile_memory = (on & TRACE_PROFILE_MEMORY) != 0,
                             .with_stack = (on & TRACE_WITH_STACK) != 0,
                             .with_modules = (on & TRACE_WITH_MODULES) != 0,
                             .with_flops = (on & TRACE_WITH_FLOPS) != 0,
                             .known = (uint8_t)(h->flags_said | shown),
                             .stacks_are_texts = s->trace->stacks.rows.len > 0 &&
                                                 r->figures.kinds[SPAN_PYTHON] == 0,
                             .rank = h->rank,
                             .world_size = h->world_size };
    return keep_text(s->trace, h->backend, arena, &ret->backend) &&
           devices_listed(s->trace, arena, ret) &&
           missing_find(s, &r->figures, r->steps > 0, arena, ret);
}

/* Links. */

static void linking_make(const struct figures *f, struct linking *ret)
{
    const struct link_figures *l = &f->link;
    for (uint32_t i = 0; i < RUNGS; i++)
        ret->rung[i] = (struct rung_row){ (uint8_t)i, l->events[i], l->ns[i] };
    int64_t all = f->tables.device_ns;
    ret->coverage = all > 0 ? (double)i64_minus(all, l->ns[RUNG_NONE]) / (double)all : -1;
    ret->before_events = l->before_window;
    ret->before_ns = l->before_window_ns;
}

/* Devices. */

static void gaps_make(const struct device_time *from, struct trace_device *ret)
{
    for (uint32_t c = 0; c < GAP_CLASSES; c++) {
        struct gap_row row = { (uint8_t)c, from->class_gaps[c], from->class_ns[c] };
        if (row.count == 0)
            continue;
        uint32_t at = ret->gap_kinds++;
        for (; at > 0 && ret->gap[at - 1].ns < row.ns; at--)
            ret->gap[at] = ret->gap[at - 1];
        ret->gap[at] = row;
    }
    for (uint32_t b = 0; b < BLAMES; b++) {
        struct blame_row row = { (uint8_t)b, from->blame_ns[b] };
        if (row.ns == 0)
            continue;
        uint32_t at = ret->blames++;
        for (; at > 0 && ret->blame[at - 1].ns < row.ns; at--)
            ret->blame[at] = ret->blame[at - 1];
        ret->blame[at] = row;
    }
    for (uint32_t i = 0; i < GAP_BINS; i++)
        ret->histogram[i] = from->gap_histogram[i];
}

static bool longest_make(const struct trace_study *s, const struct trace_report *r,
                         const struct device_time *from, struct arena *arena,
                         struct trace_device *ret)
{
    const struct spans *spans = &s->trace->spans;
    ret->longest = arena_array(arena, struct long_gap_row, from->longests);
    ret->longests = from->longests;
    if (ret->longest == NULL)
        return false;
    for (uint32_t i = 0; i < from->longests; i++) {
        const struct long_gap *gap = &from->longest[i];
        uint32_t owner = s->links.owner[gap->next], launch = s->links.launch[gap->next];
        uint32_t step = launch == NO_ROW ? NO_ROW : trace_step_of(r, spans->start[launch]);
        struct long_gap_row *row = &ret->longest[i];
        *row = (struct long_gap_row){ gap->first_ns, gap->ns, gap->kind, gap->reason,
                                      .step = { NULL, 0 } };
        if (step != NO_ROW)
            row->step = r->step[step].name;
        if (!keep_text(s->trace, spans->name[gap->next], arena, &row->next) ||
            !keep_text(s->trace, owner == NO_ROW ? 0 : spans->name[owner], arena, &row->op))
            return false;
    }
    return true;
}

/* The name that the header has for a process which is a device's number. */
static str listed_name(const struct capture *c, const struct pid_name *pid)
{
    enum { LOOKED_AT = 1024 }; /* of more devices than any machine has, the first */
    for (uint32_t i = 0; i < c->devices && i < LOOKED_AT; i++)
        if (pid->is_number && pid->number == c->device[i].number)
            return c->device[i].name;
    return (str){ NULL, 0 };
}

static bool name_make(const struct trace_study *s, const struct capture *c,
                      const struct device_time *from, struct arena *arena, struct trace_device *ret)
{
    ret->name = listed_name(c, &from->pid);
    ret->is_listed = ret->name.ptr != NULL;
    /* Small numbers are those of devices, whatever a program calls their process. */
    enum { DEVICES_MOST = 64 };
    if (ret->is_listed ||
        (from->pid.is_number && from->pid.number >= 0 && from->pid.number < DEVICES_MOST))
        return true;
    return keep_text(s->trace, s->trace->processes.name[from->process], arena, &ret->name);
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : -1;
}

static bool device_make(const struct trace_study *s, const struct trace_report *r,
                        const struct device_time *from, struct arena *arena,
                        struct trace_device *ret)
{
    int64_t window = from->last_ns - from->first_ns;
    *ret = (struct trace_device){
        .device = from->pid.text,
        .process = from->process,
        .streams = from->streams,
        .events = from->events[SPAN_KERNEL] + from->events[SPAN_MEMCPY] + from->events[SPAN_MEMSET],
        .first_ns = from->first_ns,
        .last_ns = from->last_ns,
        .window_ns = window,
        .busy_ns = from->busy_ns,
        .idle_ns = from->idle_ns,
        .busy = share(from->busy_ns, window),
        .compute_busy = share(from->computation_ns, window),
        .computation_ns = from->computation_ns,
        .exposed_communication_ns = from->exposed_communication_ns,
        .exposed_memcpy_ns = from->exposed_memcpy_ns,
        .gaps = from->gaps,
        .steps_window_ns = -1,
        .steps_busy_ns = -1,
        .steps_ends_ns = -1,
        .steps_busy = -1,
    };
    for (uint32_t i = 0; i < BUSY_BINS; i++)
        ret->bin[i] = share(from->bin_ns[i], window) * BUSY_BINS;
    gaps_make(from, ret);
    return name_make(s, &r->capture, from, arena, ret) && longest_make(s, r, from, arena, ret);
}

/* How much of [from, to) lies outside [first, last). */
static int64_t outside_of(int64_t from, int64_t to, int64_t first, int64_t last)
{
    int64_t start = first > from ? first : from, end = last < to ? last : to;
    return i64_minus(i64_minus(to, from), end > start ? i64_minus(end, start) : 0);
}

/* How busy the devices were while the steps ran. */
static bool steps_busy_make(const struct trace_study *s, struct arena *arena,
                            struct trace_report *ret)
{
    uint32_t first = 0;
    while (first < ret->steps && !trace_step_is_judged(&ret->step[first]))
        first++;
    if (first == ret->steps)
        return true;
    int64_t from = ret->step[first].first_ns, to = from;
    for (uint32_t i = first; i < ret->steps; i++)
        if (trace_step_is_judged(&ret->step[i]) && ret->step[i].last_ns > to)
            to = ret->step[i].last_ns;
    int64_t *busy = arena_array(arena, int64_t, s->trace->processes.rows.len);
    if (busy == NULL || !busy_between(s, from, to, arena, busy))
        return false;
    for (uint32_t i = 0; i < ret->devices; i++) {
        struct trace_device *d = &ret->device[i];
        d->steps_window_ns = to - from;
        d->steps_busy_ns = busy[d->process];
        d->steps_ends_ns = outside_of(from, to, d->first_ns, d->last_ns);
        d->steps_busy = share(d->steps_busy_ns, d->steps_window_ns);
    }
    return true;
}

/* Numbers by their size, then texts; of equal ones as they stand. */
static int by_number(const void *a, const void *b)
{
    const struct device_time *const *d = a, *const *e = b;
    const struct pid_name *x = &(*d)->pid, *y = &(*e)->pid;
    if (x->is_number != y->is_number)
        return x->is_number ? -1 : 1;
    int order = x->is_number ? (x->number > y->number) - (x->number < y->number)
                             : str_compare(x->text, y->text);
    return order != 0 ? order : *d < *e ? -1 : *d > *e;
}

static bool devices_make(const struct trace_study *s, struct arena *arena, struct trace_report *ret)
{
    const struct busy *busy = &ret->figures.busy;
    const struct device_time **sorted =
        arena_array(arena, const struct device_time *, busy->devices);
    ret->device = arena_array(arena, struct trace_device, busy->devices);
    ret->devices = busy->devices;
    if (ret->device == NULL || sorted == NULL)
        return false;
    for (uint32_t i = 0; i < busy->devices; i++)
        sorted[i] = &busy->device[i];
    qsort(sorted, busy->devices, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < busy->devices; i++)
        if (!device_make(s, ret, sorted[i], arena, &ret->device[i]))
            return false;
    return steps_busy_make(s, arena, ret);
}

/* Operators. */

/* Copies a table with the row of what belongs to no operator, if there is any, behind those with
 * more CPU time of their own. */
static bool ops_keep(const struct tables *from, struct arena *arena, struct trace_report *ret)
{
    bool has_loose = from->loose.calls > 0;
    ret->op = arena_array(arena, struct operator_row, (size_t)from->ops + 1);
    ret->self_cpu_ns = from->self_cpu_ns;
    if (ret->op == NULL)
        return false;
    for (uint32_t i = 0; i < from->ops; i++) {
        if (has_loose && from->op[i].self_cpu_ns <= 0) {
            ret->op[ret->ops++] = from->loose;
            has_loose = false;
        }
        ret->op[ret->ops] = from->op[i];
        ret->op[ret->ops].name = arena_copy(arena, from->op[i].name);
        if (ret->op[ret->ops++].name.ptr == NULL)
            return false;
    }
    if (has_loose)
        ret->op[ret->ops++] = from->loose;
    return true;
}

struct device_key {
    int64_t ns;
    uint32_t op;
};

static int longer_first(const void *a, const void *b)
{
    const struct device_key *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static bool ops_order(struct arena *scratch, struct arena *arena, struct trace_report *ret)
{
    struct device_key *key = arena_array(scratch, struct device_key, ret->ops);
    ret->op_by_device = arena_array(arena, uint32_t, ret->ops);
    if (key == NULL || ret->op_by_device == NULL)
        return false;
    for (uint32_t i = 0; i < ret->ops; i++)
        key[i] = (struct device_key){ ret->op[i].self_device_ns, i };
    qsort(key, ret->ops, sizeof *key, longer_first);
    for (uint32_t i = 0; i < ret->ops; i++)
        ret->op_by_device[i] = key[i].op;
    return true;
}

static bool ops_make(const struct trace_study *s, bool as_framework, struct arena *scratch,
                     struct arena *arena, struct trace_report *ret)
{
    struct tables tables = { .ops = 0 };
    struct forest trees;
    if (!as_framework)
        return ops_keep(&ret->figures.tables, arena, ret);
    return framework_trees(s, scratch, &trees) && operators_make(s, &trees, NULL, scratch, &tables) &&
           ops_keep(&tables, arena, ret);
}

/* The parts, each of which needs what some of those before it leave, and nothing else that is made
 * here.  What others wait for longest stands first. */

enum report_part {
    PART_ORDER,
    PART_INDEX,
    PART_LINKS,
    PART_STEPS,
    PART_PHASES,
    PART_CURVES,
    PART_TABLES,
    PART_BUSY,
    PART_COUNTS,
    PART_DEVICES,
    PART_CATEGORIES,
    PART_LAUNCHES,
    PART_OPERATORS,
    PART_CALLS,
    PART_FINDINGS,
    PART_MODULES,
    PART_RANKS,
    REPORT_PARTS
};

#define NEEDS(part) (UINT64_C(1) << (part))
#define NEEDS_STUDY (NEEDS(PART_ORDER) | NEEDS(PART_INDEX) | NEEDS(PART_LINKS))

static const uint64_t part_needs[REPORT_PARTS] = {
    [PART_ORDER] = 0, /* the study */
    [PART_INDEX] = 0,
    [PART_LINKS] = NEEDS(PART_ORDER) | NEEDS(PART_INDEX),
    [PART_CURVES] = 0, /* the figures */
    [PART_CALLS] = NEEDS(PART_ORDER),
    [PART_TABLES] = NEEDS_STUDY,
    [PART_BUSY] = NEEDS_STUDY,
    [PART_COUNTS] = NEEDS_STUDY,
    [PART_STEPS] = NEEDS_STUDY, /* what is told besides */
    [PART_PHASES] = NEEDS_STUDY | NEEDS(PART_STEPS),
    [PART_DEVICES] = NEEDS_STUDY | NEEDS(PART_STEPS) | NEEDS(PART_TABLES) | NEEDS(PART_BUSY) |
                     NEEDS(PART_COUNTS),
    [PART_CATEGORIES] = NEEDS_STUDY | NEEDS(PART_CURVES) | NEEDS(PART_STEPS) | NEEDS(PART_PHASES) |
                        NEEDS(PART_DEVICES),
    [PART_LAUNCHES] = NEEDS_STUDY | NEEDS(PART_COUNTS),
    [PART_OPERATORS] = NEEDS_STUDY | NEEDS(PART_TABLES),
    [PART_FINDINGS] = NEEDS(PART_FINDINGS) - 1, /* all above */
    [PART_MODULES] = NEEDS_STUDY,
    [PART_RANKS] = NEEDS_STUDY,
};

struct making {
    struct trace_study study;
    struct links_index *index;
    const struct trace_report_question *question;
    struct trace_report *report;
    struct arena arena[REPORT_PARTS];       /* of what is left */
    struct arena study_arena[REPORT_PARTS]; /* of what is needed here */
};

static enum vrs_status figure_make(struct making *m, enum report_part part, struct vrs_error *err)
{
    static const uint8_t figures[REPORT_PARTS] = {
        [PART_CURVES] = FIGURES_MEMORY,
        [PART_CALLS] = FIGURES_CALLS,
        [PART_TABLES] = FIGURES_TABLES,
        [PART_BUSY] = FIGURES_BUSY,
        [PART_COUNTS] = FIGURES_COUNTS,
    };
    return figures_part_make(&m->study, (enum figures_part)figures[part], &m->arena[part],
                             &m->report->figures, err);
}

static bool study_part_make(struct making *m, enum report_part part)
{
    struct trace_study *s = &m->study;
    struct arena *arena = &m->study_arena[part];
    if (part == PART_ORDER)
        return sort_spans(s->trace, arena, &s->sorted);
    if (part == PART_INDEX)
        return links_index_make(s, arena, &m->index);
    bool ok = links_make(s, m->index, arena);
    links_index_free(m->index);
    m->index = NULL;
    return ok;
}

static bool told_make(struct making *m, enum report_part part, struct arena *scratch)
{
    const struct trace_study *s = &m->study;
    struct trace_report *r = m->report;
    struct arena *arena = &m->arena[part];
    if (part == PART_STEPS)
        return trace_steps_make(s, arena, r);
    if (part == PART_PHASES)
        return trace_phases_make(s, arena, r);
    if (part == PART_DEVICES)
        return capture_make(s, r, arena, &r->capture) && devices_make(s, arena, r);
    if (part == PART_OPERATORS)
        return ops_make(s, m->question->as_framework, scratch, arena, r) &&
               ops_order(scratch, arena, r);
    if (part == PART_CATEGORIES)
        return trace_categories_make(s, scratch, arena, r);
    if (part == PART_LAUNCHES)
        return trace_launches_make(s, &r->figures.delay, arena, &r->launches);
    if (part == PART_FINDINGS)
        return trace_findings_make(s, m->question->limits, arena, r);
    return rank_parts_make(s, arena, &r->rank) && job_of_file(&r->rank, arena, &r->ranks);
}

static enum vrs_status part_make(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    struct making *m = arg;
    enum report_part part = (enum report_part)i;
    struct arena scratch;
    enum vrs_status status = VRS_OK;
    bool ok = true;
    (void)thread;
    arena_init(&scratch, SIZE_MAX / 2);
    if (part <= PART_LINKS)
        ok = study_part_make(m, part);
    else if (part == PART_CURVES || part == PART_CALLS || part == PART_TABLES ||
             part == PART_BUSY || part == PART_COUNTS)
        status = figure_make(m, part, err);
    else if (part == PART_MODULES)
        status = trace_modules_make(&m->study, &scratch, &m->arena[part], &m->report->modules, err);
    else
        ok = told_make(m, part, &scratch);
    arena_free(&scratch);
    return ok ? status : vrs_no_memory(err);
}

static enum vrs_status parts_make(struct making *m, struct arena *arena, struct vrs_error *err)
{
    for (uint32_t i = 0; i < REPORT_PARTS; i++) {
        arena_init(&m->arena[i], SIZE_MAX / 2);
        arena_init(&m->study_arena[i], SIZE_MAX / 2);
    }
    const struct task_list list = { .tasks = REPORT_PARTS, .task = part_make, .arg = m };
    enum vrs_status status =
        task_list_run_needing(m->question->threads, &list, part_needs, err);
    links_index_free(m->index);
    for (uint32_t i = 0; i < REPORT_PARTS; i++) {
        arena_join(arena, &m->arena[i]);
        arena_free(&m->study_arena[i]);
    }
    if (status == VRS_OK)
        linking_make(&m->report->figures, &m->report->linking);
    return status;
}

enum vrs_status trace_report_make(const struct trace *t, const struct trace_report_question *q,
                                  struct arena *arena, struct trace_report *ret,
                                  struct vrs_error *err)
{
    struct making m = { .question = q, .report = ret };
    struct arena scratch;
    *ret = (struct trace_report){ .steps = 0 };
    arena_init(&scratch, SIZE_MAX / 2);
    bool begun = study_begin(t, &scratch, &m.study) && trace_file_make(t, arena, &ret->file);
    enum vrs_status status = begun ? parts_make(&m, arena, err) : vrs_no_memory(err);
    arena_free(&scratch);
    return status;
}
