/* trace_diff.c - studies both traces, puts their times into steps, and compares. */
#include "analysis/trace/diff/trace_diff.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/busy/gaps.h"
#include "analysis/trace/diff/trace_diff_rows.h"
#include "analysis/trace/memory/memory.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/steps.h"
#include "analysis/trace/splits/split.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/noise.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/strings.h"

const char *const trace_diff_status_names[TRACE_DIFF_STATUSES] = {
    [TRACE_DIFF_BOTH] = "both",
    [TRACE_DIFF_NEW] = "new",
    [TRACE_DIFF_GONE] = "gone",
};

/* A trace on its way into steps. */
struct side {
    const struct trace *trace;
    struct trace_report report; /* in scratch */
    struct trace_study study;
    uint32_t *place; /* of each step of the report among those compared, or NO_ROW */
    uint32_t *name;  /* of each string: its id among those of both, plus 1; 0: not yet */
    struct trace_diff_side *about;
};

struct comparing_traces {
    const struct trace_diff_question *q;
    struct arena *scratch, *arena;
    struct strings names; /* of both */
    struct side side[2];
    struct trace_diff *ret;
};

/* Steps. */

static enum vrs_status choose_steps(struct side *s, int64_t wanted, struct arena *scratch,
                                    struct arena *arena, const char *letter,
                                    struct vrs_error *err)
{
    struct trace_diff_side *about = s->about;
    s->place = arena_array(scratch, uint32_t, s->report.steps);
    if (s->place == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->report.steps; i++) {
        const struct trace_step *step = &s->report.step[i];
        bool is_wanted = wanted >= 0 ? about->steps == 0 && name_step_number(step->name) == wanted
                                     : step->kind == STEP_PLAIN;
        s->place[i] = is_wanted ? about->steps++ : NO_ROW;
        about->dropped += !is_wanted;
        if (is_wanted && wanted >= 0)
            about->step = arena_copy(arena, step->name);
    }
    if (wanted >= 0 && about->steps == 0)
        return vrs_fail(err, VRS_USAGE, "%s has no step %lld; vramscope trace --steps lists them",
                        letter, (long long)wanted);
    if (s->report.steps > 0 && about->steps == 0)
        return vrs_fail(err, VRS_USAGE,
                        "%s has no step that is neither warm-up nor empty nor cut; name one with "
                        "--at step:N",
                        letter);
    if (wanted >= 0 && about->step.ptr == NULL)
        return vrs_no_memory(err);
    about->is_whole = s->report.steps == 0;
    about->steps += about->is_whole;
    return VRS_OK;
}

/* The compared step in which something began on the host, or NO_ROW. */
static uint32_t place_of(const struct side *s, int64_t moment)
{
    if (s->about->is_whole)
        return 0;
    uint32_t step = trace_step_of(&s->report, moment);
    return step == NO_ROW ? NO_ROW : s->place[step];
}

/* Of device work: that of its launch.  What nobody launched belongs to a trace without steps. */
static uint32_t place_of_work(const struct side *s, uint32_t row)
{
    uint32_t by = links_host(&s->study.links, row);
    if (by == NO_ROW)
        return s->about->is_whole ? 0 : NO_ROW;
    return place_of(s, s->trace->spans.start[by]);
}

/* Names. */

static bool common_name(struct comparing_traces *c, str text, uint32_t *ret)
{
    string_id id;
    if (!strings_intern(&c->names, text, &id))
        return false;
    *ret = id.n;
    return true;
}

static bool name_of(struct comparing_traces *c, struct side *s, uint32_t string, uint32_t *ret)
{
    bool is_step = (s->study.names.traits[string] & NAME_STEP) != 0;
    if (s->name[string] == 0) {
        str text = is_step ? S("ProfilerStep*") : trace_text(s->trace, string);
        if (!common_name(c, text, ret))
            return false;
        s->name[string] = *ret + 1;
    }
    *ret = s->name[string] - 1;
    return true;
}

/* Operators: time of their own, without what they called. */

/* `name_of_span`: of each span among the names of both; NULL: its own name. */
static bool add_calls(struct comparing_traces *c, struct side *s, const uint32_t *name_of_span,
                      struct diff_times *times)
{
    const struct spans *spans = &s->trace->spans;
    const struct forest *f = &s->study.host;
    int64_t *children = arena_array(c->scratch, int64_t, spans->rows.len);
    if (children == NULL || !diff_times_make(times, spans->rows.len, c->scratch))
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        if (f->parent[row] != NO_ROW)
            children[f->parent[row]] = i64_plus(children[f->parent[row]], spans->duration[row]);
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], place = place_of(s, spans->start[row]), name;
        if (place == NO_ROW || (s->study.names.traits[spans->name[row]] & NAME_UNLISTED) != 0)
            continue;
        if (name_of_span != NULL)
            name = name_of_span[row];
        else if (!name_of(c, s, spans->name[row], &name))
            return false;
        diff_times_add(times, name, place, i64_minus(spans->duration[row], children[row]));
    }
    return true;
}

static bool add_ops(struct comparing_traces *c, struct side *s, struct diff_times *times)
{
    return add_calls(c, s, NULL, times);
}

/* Operators by more than their names: what a key says is one text among the names of both, its parts
 * with a byte between them that no text holds. */

enum { BETWEEN = 0xff };

static bool put_key(struct comparing_traces *c, const struct split_row *key, uint32_t *ret)
{
    struct buf text;
    const str parts[] = {
        key->op.name, key->shapes, key->module,
        key->phase < TRACE_PHASES ? str_from(trace_phase_names[key->phase]) : (str){ NULL, 0 },
        key->stack,
    };
    buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (i > 0)
            buf_char(&text, (char)BETWEEN);
        buf_str(&text, parts[i]);
    }
    bool ok = !text.failed && common_name(c, buf_slice(&text), ret);
    buf_free(&text);
    return ok;
}

static str take_part(str *text)
{
    const char *end = text->len == 0 ? NULL : memchr(text->ptr, BETWEEN, text->len);
    str part = { text->ptr, end == NULL ? text->len : (size_t)(end - text->ptr) };
    size_t taken = part.len + (end != NULL);
    *text = (str){ text->ptr + taken, text->len - taken };
    return part;
}

static void take_parts(struct trace_diff_table *t)
{
    for (uint32_t i = 0; i < t->rows; i++) {
        struct trace_diff_row *row = &t->row[i];
        str text = row->name;
        row->name = take_part(&text);
        str *parts[] = { &row->shapes, &row->module, &row->phase, &row->stack };
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            str part = take_part(&text);
            *parts[k] = part.len == 0 ? (str){ NULL, 0 } : part;
        }
    }
}

static bool name_keys(struct comparing_traces *c, struct side *s, uint32_t **ret)
{
    const struct forest *f = &s->study.host;
    struct split_keys keys;
    if (split_keys_make(&s->study, &s->report, c->q->by, f, c->scratch, c->arena, &keys, NULL) !=
        VRS_OK)
        return false;
    uint32_t *name = arena_array(c->scratch, uint32_t, keys.keys);
    for (uint32_t i = 0; name != NULL && i < keys.keys; i++)
        if (!put_key(c, &keys.key[i], &name[i]))
            return false;
    *ret = keys.of;
    for (uint32_t i = 0; name != NULL && i < f->first[f->threads]; i++)
        keys.of[f->row[i]] = name[keys.of[f->row[i]]];
    return name != NULL;
}

static bool add_ops_by(struct comparing_traces *c, struct side *s, struct diff_times *times)
{
    uint32_t *name;
    return name_keys(c, s, &name) && add_calls(c, s, name, times);
}

/* Device work. */

static bool add_kernels(struct comparing_traces *c, struct side *s, struct diff_times *times)
{
    const struct spans *spans = &s->trace->spans;
    if (!diff_times_make(times, spans->rows.len, c->scratch))
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t place, name;
        if (!span_is_work(spans->kind[row]) || (place = place_of_work(s, row)) == NO_ROW)
            continue;
        if (!name_of(c, s, spans->name[row], &name))
            return false;
        diff_times_add(times, name, place, spans->duration[row]);
    }
    return true;
}

/* Gaps: in the step of the launch behind, or in which they began. */

static void add_gap(const struct side *s, const uint32_t class_name[GAP_CLASSES], int64_t start,
                    uint32_t next, struct diff_times *times)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t launch = s->study.links.launch[next];
    int64_t end = spans->start[next];
    uint32_t place = place_of(s, launch == NO_ROW ? start : spans->start[launch]);
    if (place == NO_ROW)
        return;
    struct gap_parts parts = gap_part(&s->study, start, next);
    diff_times_add(times, class_name[parts.kind], place, parts.late_until - start);
    if (parts.kind == GAP_HOST_LATE)
        diff_times_add(times, class_name[parts.rest], place, end - parts.late_until);
}

static bool add_gaps(struct comparing_traces *c, struct side *s, struct diff_times *times)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t processes = s->trace->processes.rows.len, class_name[GAP_CLASSES];
    int64_t *busy_until = arena_array(c->scratch, int64_t, processes);
    bool *has_begun = arena_array(c->scratch, bool, processes);
    if (busy_until == NULL || has_begun == NULL ||
        !diff_times_make(times, spans->rows.len > UINT32_MAX / 2 ? UINT32_MAX : spans->rows.len * 2,
                         c->scratch))
        return false;
    for (uint32_t i = 0; i < GAP_CLASSES; i++)
        if (!common_name(c, str_from(gap_class_names[i]), &class_name[i]))
            return false;
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = s->study.sorted[i];
        if (!span_is_work(spans->kind[row]) || spans->duration[row] == 0)
            continue;
        uint32_t p = s->trace->tracks.process[spans->track[row]];
        if (has_begun[p] && spans->start[row] > busy_until[p])
            add_gap(s, class_name, busy_until[p], gap_end(&s->study, i), times);
        if (!has_begun[p] || span_end(spans, row) > busy_until[p])
            busy_until[p] = span_end(spans, row);
        has_begun[p] = true;
    }
    return true;
}

/* Phases of training, of which a step has each once; a trace without steps is one. */

static bool add_phases(struct comparing_traces *c, struct side *s, bool of_devices,
                       struct diff_times *times)
{
    const struct trace_phases *p = &s->report.phases;
    uint32_t name[TRACE_PHASES];
    if (!diff_times_make(times, (p->steps + 1) * TRACE_PHASES, c->scratch))
        return false;
    for (uint32_t phase = 0; phase < TRACE_PHASES; phase++)
        if (!common_name(c, str_from(trace_phase_names[phase]), &name[phase]))
            return false;
    for (uint32_t i = 0; i < p->rows && s->about->is_whole; i++) {
        int64_t ns = of_devices ? p->row[i].device_ns : p->row[i].wall_ns;
        if (ns != 0)
            diff_times_add(times, name[p->row[i].phase], 0, ns);
    }
    for (uint32_t i = 0; i < p->steps; i++) {
        const int64_t *of = of_devices ? p->step[i].device_ns : p->step[i].wall_ns;
        for (uint32_t phase = 0; phase < TRACE_PHASES && s->place[i] != NO_ROW; phase++)
            if (of[phase] != 0)
                diff_times_add(times, name[phase], s->place[i], of[phase]);
    }
    return true;
}

static bool add_wall_phases(struct comparing_traces *c, struct side *s, struct diff_times *times)
{
    return add_phases(c, s, false, times);
}

static bool add_device_phases(struct comparing_traces *c, struct side *s, struct diff_times *times)
{
    return add_phases(c, s, true, times);
}

/* Tables. */

typedef bool add_times(struct comparing_traces *c, struct side *s, struct diff_times *times);

static bool table_make(struct comparing_traces *c, add_times *add, struct trace_diff_table *ret)
{
    struct diff_times times[2];
    const uint32_t steps[2] = { c->ret->a.steps, c->ret->b.steps };
    struct arena_mark mark = arena_mark(c->scratch);
    bool ok = add(c, &c->side[0], &times[0]) && add(c, &c->side[1], &times[1]) &&
              diff_rows_make(times, steps, &c->names, c->scratch, c->arena, ret);
    arena_release(c->scratch, mark);
    return ok;
}

/* The steps themselves: as wide as with their device work, the host's range, the device's time. */

enum { TIME_STEP, TIME_HOST, TIME_DEVICE, TIMES };

static int64_t time_of_step(const struct trace_step *step, uint32_t which)
{
    return which == TIME_STEP   ? step->aware_ns
           : which == TIME_HOST ? step->ns
                                : step->device_ns;
}

static int64_t time_of_whole(const struct side *s, uint32_t which)
{
    const struct trace_report *r = &s->report;
    if (which == TIME_DEVICE)
        return r->figures.tables.device_ns;
    return r->figures.has_range ? i64_minus(r->figures.last_ns, r->figures.first_ns) : 0;
}

static struct trace_diff_value time_value(const struct side *s, uint32_t which, double *room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->report.steps; i++) {
        int64_t ns = time_of_step(&s->report.step[i], which);
        if (!s->about->is_whole && s->place[i] != NO_ROW && ns != 0)
            room[count++] = (double)ns;
    }
    if (s->about->is_whole)
        room[count++] = (double)time_of_whole(s, which);
    struct trace_diff_value value = diff_value_of(room, count, s->about->steps);
    value.count = s->about->steps;
    return value;
}

static bool times_make(struct comparing_traces *c)
{
    static const char *const names[TIMES] = { "step", "host", "device" };
    struct trace_diff_table *t = &c->ret->step;
    uint32_t a_steps = c->ret->a.steps, b_steps = c->ret->b.steps;
    struct arena_mark mark = arena_mark(c->scratch);
    double *room = arena_array(c->scratch, double, a_steps > b_steps ? a_steps : b_steps);
    t->row = arena_array(c->arena, struct trace_diff_row, TIMES);
    if (t->row == NULL || room == NULL)
        return false;
    for (uint32_t i = 0; i < TIMES; i++) {
        struct trace_diff_row *row = &t->row[t->rows++];
        row->name = str_from(names[i]);
        row->a = time_value(&c->side[0], i, room);
        row->b = time_value(&c->side[1], i, room);
        diff_row_judge(row);
    }
    arena_release(c->scratch, mark);
    return true;
}

/* Memory. */

static void memory_put(struct trace_diff *d, const struct memory_row *m, int side)
{
    uint32_t at = 0;
    while (at < d->memories && (d->memory[at].device_type != m->device_type ||
                                d->memory[at].device_number != m->device_number))
        at++;
    struct trace_diff_memory *row = &d->memory[at];
    if (at == d->memories) {
        d->memories++;
        *row = (struct trace_diff_memory){ .device_type = m->device_type,
                                           .device_number = m->device_number };
    }
    row->there[side] = true;
    row->is_least[side] = m->is_lower_bound;
    row->is_lower_bound = row->is_lower_bound || m->is_lower_bound;
    if (side == 0)
        row->a_bytes = m->peak;
    else
        row->b_bytes = m->peak;
}

static bool memory_compare(struct comparing_traces *c)
{
    struct trace_diff *d = c->ret;
    const struct memory *m[2] = { &c->side[0].report.figures.memory,
                                  &c->side[1].report.figures.memory };
    d->memory =
        arena_array(c->arena, struct trace_diff_memory, (size_t)m[0]->rows + m[1]->rows);
    if (d->memory == NULL)
        return false;
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < m[s]->rows; i++)
            memory_put(d, &m[s]->row[i], s);
    for (uint32_t i = 0; i < d->memories; i++) {
        struct trace_diff_memory *row = &d->memory[i];
        bool both = row->there[0] && row->there[1];
        row->change_bytes = both ? i64_minus(row->b_bytes, row->a_bytes) : 0;
        row->change =
            both && row->a_bytes != 0 ? (double)row->change_bytes / (double)row->a_bytes : NAN;
    }
    return true;
}

/* The whole. */

static bool file_keep(const struct trace_file *from, struct arena *arena, struct trace_file *ret)
{
    *ret = *from;
    ret->damage = arena_array(arena, struct damage_row, from->damages);
    for (uint32_t i = 0; ret->damage != NULL && i < from->damages; i++)
        ret->damage[i] = from->damage[i];
    return ret->damage != NULL;
}

static enum vrs_status side_make(struct comparing_traces *c, int i, struct vrs_error *err)
{
    struct side *s = &c->side[i];
    s->trace = c->q->trace[i];
    s->about = i == 0 ? &c->ret->a : &c->ret->b;
    s->name = arena_array(c->scratch, uint32_t, s->trace->strings.rows.len);
    if (s->name == NULL)
        return vrs_no_memory(err);
    TRY(trace_report_make(s->trace, &(struct trace_report_question){ .threads = c->q->threads },
                          c->scratch, &s->report, err));
    TRY(trace_study_make(s->trace, c->scratch, &s->study, err));
    if (!file_keep(&s->report.file, c->arena, &s->about->file))
        return vrs_no_memory(err);
    return choose_steps(s, c->q->step[i], c->scratch, c->arena, i == 0 ? "A" : "B", err);
}

static bool apply_limit(struct comparing_traces *c)
{
    const struct trace_diff_row *step = &c->ret->step.row[TIME_STEP];
    const struct noise_limit *asked = c->q->limit;
    if (asked == NULL)
        return true;
    struct trace_diff_limit *limit = arena_array(c->arena, struct trace_diff_limit, 1);
    if (limit == NULL)
        return false;
    double most = asked->is_ratio ? asked->ratio * (double)step->a.median_ns : (double)asked->ns;
    limit->most = *asked;
    limit->exceeded = (double)step->change_ns > most;
    c->ret->limit = limit;
    return true;
}

/* A whole trace is no step: beside one without steps the other is compared as a whole, too. */
static enum vrs_status pair_sides(struct comparing_traces *c, struct vrs_error *err)
{
    if (c->ret->a.is_whole == c->ret->b.is_whole)
        return VRS_OK;
    const int i = c->ret->a.is_whole ? 1 : 0;
    struct trace_diff_side *about = c->side[i].about;
    if (c->q->step[i] >= 0)
        return vrs_fail(err, VRS_USAGE,
                        "%s has no steps, which one step of %s cannot be compared with; name no "
                        "step, and both are compared as a whole",
                        i == 1 ? "A" : "B", i == 1 ? "B" : "A");
    about->has_other_steps = true;
    about->is_whole = true;
    about->steps = 1;
    about->dropped = 0;
    return VRS_OK;
}

static enum vrs_status compare(struct comparing_traces *c, struct vrs_error *err)
{
    for (int i = 0; i < 2; i++)
        TRY(side_make(c, i, err));
    TRY(pair_sides(c, err));
    struct trace_diff *d = c->ret;
    bool ok = times_make(c) && table_make(c, add_ops, &d->op) &&
              table_make(c, add_kernels, &d->kernel) && table_make(c, add_gaps, &d->gap) &&
              table_make(c, add_wall_phases, &d->phase) &&
              table_make(c, add_device_phases, &d->device_phase) &&
              (d->by == 0 || table_make(c, add_ops_by, &d->op_by)) && memory_compare(c) &&
              apply_limit(c);
    take_parts(&d->op_by);
    return ok ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status trace_diff_make(const struct trace_diff_question *q, struct arena *arena,
                                struct trace_diff *ret, struct vrs_error *err)
{
    struct arena scratch;
    struct comparing_traces c = { .q = q, .scratch = &scratch, .arena = arena, .ret = ret };
    *ret = (struct trace_diff){ .by = q->by.parts };
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = strings_init(&c.names, UINT32_MAX) ? compare(&c, err)
                                                                : vrs_no_memory(err);
    strings_free(&c.names);
    arena_free(&scratch);
    return status;
}
