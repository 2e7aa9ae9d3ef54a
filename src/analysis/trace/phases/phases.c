/* phases.c - spans that say their phase, as sets of instants, measured step by step. */
#include "analysis/trace/phases/phases.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/busy/intervals.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/report/steps.h"
#include "base/bytes.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

/* What the spans of the host say. */
struct said {
    const struct trace_study *study;
    uint8_t *by_range, *by_op; /* of each string, as the name of either: enum trace_phase */
    bool *is_autograd;         /* of each track: the thread runs nothing but backwards */
    uint8_t *inherited;        /* of each host span: what it and those around it say */
};

/* Names. */

static enum trace_phase phase_of_op(str name)
{
    if (str_find(name, S("CheckpointFunctionBackward")) < name.len)
        return PHASE_RECOMPUTE;
    if (str_starts(name, S("autograd::engine::evaluate_function:")))
        return PHASE_BACKWARD;
    /* Until 2021 ranges were recorded as operators; operators of a library have "::". */
    return str_find(name, S("::")) < name.len ? PHASE_OTHER : trace_phase_of_range(name);
}

static enum trace_phase own_phase(const struct said *a, uint32_t row)
{
    const struct spans *spans = &a->study->trace->spans;
    if (spans->kind[row] == SPAN_OP)
        return (enum trace_phase)a->by_op[spans->name[row]];
    return spans->kind[row] == SPAN_ANNOTATION ? (enum trace_phase)a->by_range[spans->name[row]]
                                               : PHASE_OTHER;
}

/* A backward inside a recomputation is a backward; else the phase that stands first. */
static enum trace_phase inside(enum trace_phase around, enum trace_phase own)
{
    if (around == PHASE_RECOMPUTE && own == PHASE_BACKWARD)
        return own;
    return own < around ? own : around;
}

/* Autograd runs backwards on threads of its own, whose outermost spans are its functions. */
static void find_autograd(struct said *a)
{
    const struct trace_study *s = a->study;
    const struct forest *f = &s->host;
    for (uint32_t track = 0; track < f->threads; track++) {
        bool has_function = false, has_range = false;
        for (uint32_t i = f->first[track]; i < f->first[track + 1]; i++) {
            uint32_t row = f->row[i];
            has_range = has_range || s->trace->spans.kind[row] == SPAN_ANNOTATION;
            has_function = has_function || (f->parent[row] == NO_ROW &&
                                            own_phase(a, row) == PHASE_BACKWARD);
        }
        a->is_autograd[track] = has_function && !has_range;
    }
}

static void inherit(struct said *a)
{
    const struct forest *f = &a->study->host;
    for (uint32_t track = 0; track < f->threads; track++) {
        for (uint32_t i = f->first[track]; i < f->first[track + 1]; i++) {
            uint32_t row = f->row[i], parent = f->parent[row];
            enum trace_phase around = parent != NO_ROW ? (enum trace_phase)a->inherited[parent]
                                      : a->is_autograd[track] ? PHASE_BACKWARD
                                                              : PHASE_OTHER;
            a->inherited[row] = (uint8_t)inside(around, own_phase(a, row));
        }
    }
}

static bool said_make(const struct trace_study *s, struct arena *arena, struct said *ret)
{
    uint32_t strings = s->trace->strings.rows.len;
    *ret = (struct said){ .study = s,
                          .by_range = arena_array(arena, uint8_t, strings),
                          .by_op = arena_array(arena, uint8_t, strings),
                          .is_autograd = arena_array(arena, bool, s->trace->tracks.rows.len),
                          .inherited = arena_array(arena, uint8_t, s->trace->spans.rows.len) };
    if (ret->by_range == NULL || ret->by_op == NULL || ret->is_autograd == NULL ||
        ret->inherited == NULL)
        return false;
    for (uint32_t id = 0; id < strings; id++) {
        ret->by_range[id] = (uint8_t)trace_phase_of_range(trace_text(s->trace, id));
        ret->by_op[id] = (uint8_t)phase_of_op(trace_text(s->trace, id));
    }
    for (uint32_t row = 0; row < s->trace->spans.rows.len; row++)
        ret->inherited[row] = PHASE_OTHER;
    find_autograd(ret);
    inherit(ret);
    return true;
}

/* Sets of instants. */

static bool set_make(struct intervals *set, uint32_t most, struct arena *arena)
{
    *set = (struct intervals){ .at = arena_array(arena, struct interval, most) };
    return set->at != NULL;
}

static bool unite(const struct intervals *a, const struct intervals *b, struct arena *arena,
                  struct intervals *ret)
{
    uint32_t i = 0, k = 0;
    if (!set_make(ret, a->len + b->len, arena))
        return false;
    while (i < a->len || k < b->len) {
        bool first = k == b->len || (i < a->len && a->at[i].start <= b->at[k].start);
        const struct interval *next = first ? &a->at[i++] : &b->at[k++];
        intervals_add(ret, next->start, next->end);
    }
    return true;
}

/* What is in `a` and not in `b`. */
static bool without(const struct intervals *a, const struct intervals *b, struct arena *arena,
                    struct intervals *ret)
{
    uint32_t k = 0;
    if (!set_make(ret, a->len + b->len, arena))
        return false;
    for (uint32_t i = 0; i < a->len; i++) {
        int64_t at = a->at[i].start;
        while (k < b->len && b->at[k].end <= at)
            k++;
        for (uint32_t n = k; n < b->len && b->at[n].start < a->at[i].end; n++) {
            if (b->at[n].start > at)
                intervals_add(ret, at, b->at[n].start);
            if (b->at[n].end > at)
                at = b->at[n].end;
        }
        if (at < a->at[i].end)
            intervals_add(ret, at, a->at[i].end);
    }
    return true;
}

/* The first interval that ends behind a moment. */
static uint32_t first_behind(const struct intervals *set, int64_t moment)
{
    uint32_t low = 0, high = set->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->at[middle].end <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool set_holds(const struct intervals *set, int64_t moment)
{
    uint32_t at = first_behind(set, moment);
    return at < set->len && set->at[at].start <= moment;
}

/* A set, with the time of all intervals before each: steps may lie in each other, so that none is
 * walked. */
struct measured {
    const struct intervals *set;
    int64_t *before;
};

static bool measured_make(const struct intervals *set, struct arena *arena, struct measured *ret)
{
    *ret = (struct measured){ set, arena_array(arena, int64_t, (size_t)set->len + 1) };
    for (uint32_t i = 0; i < set->len && ret->before != NULL; i++)
        ret->before[i + 1] =
            i64_plus(ret->before[i], i64_minus(set->at[i].end, set->at[i].start));
    return ret->before != NULL;
}

/* How much of the time before a moment it holds. */
static int64_t measure_before(const struct measured *m, int64_t moment)
{
    uint32_t at = first_behind(m->set, moment);
    bool lies_in = at < m->set->len && m->set->at[at].start < moment;
    return lies_in ? i64_plus(m->before[at], i64_minus(moment, m->set->at[at].start))
                   : m->before[at];
}

/* What spans say, thread by thread put together. */
struct phase_sets {
    struct intervals of[PHASE_OTHER];
    struct intervals nested; /* backwards inside recomputations */
    struct intervals implied; /* forward by its place in a step alone */
};

/* Loading, optimizing and forward count where the steps are, so that a loader's own thread does not
 * take time in which the loop went on; backwards count on every thread. */
static bool counts(const struct said *a, const struct trace_report *r, uint32_t row,
                   enum trace_phase phase)
{
    uint32_t track = a->study->trace->spans.track[row];
    return phase == PHASE_BACKWARD || phase == PHASE_RECOMPUTE || r->step_track == NO_ROW ||
           track == r->step_track;
}

static bool collect(const struct said *a, const struct trace_report *r, struct arena *arena,
                    struct phase_sets *ret)
{
    const struct trace_study *s = a->study;
    const struct spans *spans = &s->trace->spans;
    struct intervals recompute;
    for (uint32_t p = 0; p < PHASE_OTHER; p++)
        if (!set_make(&ret->of[p], spans->rows.len, arena))
            return false;
    if (!set_make(&ret->nested, spans->rows.len, arena))
        return false;
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = s->sorted[i];
        if (!span_is_range(spans->kind[row]) || s->home[row] == NO_ROW)
            continue;
        uint32_t parent = s->host.parent[row];
        enum trace_phase phase = own_phase(a, row);
        if (parent == NO_ROW && phase == PHASE_OTHER && a->is_autograd[s->home[row]])
            phase = PHASE_BACKWARD;
        if (phase == PHASE_OTHER || !counts(a, r, row, phase))
            continue;
        intervals_add(&ret->of[phase], spans->start[row], span_end(spans, row));
        if (phase == PHASE_BACKWARD && parent != NO_ROW && a->inherited[parent] == PHASE_RECOMPUTE)
            intervals_add(&ret->nested, spans->start[row], span_end(spans, row));
    }
    if (!without(&ret->of[PHASE_RECOMPUTE], &ret->nested, arena, &recompute))
        return false;
    ret->of[PHASE_RECOMPUTE] = recompute;
    return true;
}

/* In a step, what lies between the last loading and the first backward is forward. */
static void imply_forward(const struct trace_report *r, const struct intervals *backward,
                          struct phase_sets *sets)
{
    const struct intervals *data = &sets->of[PHASE_DATA];
    for (uint32_t i = 0; i < r->steps; i++) {
        int64_t start = r->step[i].first_ns, end = start + r->step[i].ns;
        uint32_t at = first_behind(backward, start);
        if (at == backward->len || backward->at[at].start >= end)
            continue;
        int64_t until = backward->at[at].start;
        uint32_t loading = first_behind(data, until); /* the last before it stands in front */
        if (loading < data->len && data->at[loading].start < until)
            continue; /* it goes on, or the backward began within */
        if (loading > 0 && data->at[loading - 1].end > start)
            start = data->at[loading - 1].end;
        if (start < until)
            intervals_add(&sets->implied, start, until);
    }
}

static bool implied_make(const struct trace_report *r, struct arena *scratch,
                         struct phase_sets *sets)
{
    struct intervals backward;
    if (!unite(&sets->of[PHASE_RECOMPUTE], &sets->of[PHASE_BACKWARD], scratch, &backward) ||
        !set_make(&sets->implied, r->steps, scratch))
        return false;
    imply_forward(r, &backward, sets);
    return true;
}

/* The sets of enum trace_phase, each with all before it. */
static bool add_up(const struct trace_report *r, struct arena *scratch, struct arena *arena,
                   struct phase_sets *sets, struct trace_phases *ret)
{
    struct intervals forward, before = { .len = 0 };
    if (!implied_make(r, scratch, sets))
        return false;
    if (!unite(&sets->of[PHASE_FORWARD], &sets->implied, scratch, &forward))
        return false;
    sets->of[PHASE_FORWARD] = forward;
    for (uint32_t p = 0; p < PHASE_OTHER; p++) {
        if (!unite(&before, &sets->of[p], arena, &ret->up_to[p]))
            return false;
        before = ret->up_to[p];
    }
    return true;
}

enum trace_phase trace_phase_at(const struct trace_phases *p, int64_t moment)
{
    uint32_t phase = 0;
    while (phase < PHASE_OTHER && !set_holds(&p->up_to[phase], moment))
        phase++;
    return (enum trace_phase)phase;
}

/* Parts. */

static void part_wall(const struct measured up_to[PHASE_OTHER], int64_t start, int64_t end,
                      int64_t ret[TRACE_PHASES])
{
    int64_t before = 0;
    for (uint32_t phase = 0; phase < PHASE_OTHER; phase++) {
        int64_t ns = measure_before(&up_to[phase], end) - measure_before(&up_to[phase], start);
        ret[phase] = ns - before;
        before = ns;
    }
    ret[PHASE_OTHER] = end - start - before;
    ret[PHASE_UNKNOWN] = 0;
}

/* The phase of device work, by the code that launched it; the instant of that. */
static enum trace_phase phase_of_work(const struct said *a, const struct phase_sets *sets,
                                      uint32_t row, int64_t *ret_moment)
{
    const struct trace_study *s = a->study;
    uint32_t host = links_host(&s->links, row), code = links_code(&s->links, row);
    *ret_moment = s->trace->spans.start[host != NO_ROW ? host : row];
    if (host == NO_ROW)
        return PHASE_UNKNOWN;
    /* A launch may lie in no range, its owner be told by a number. */
    enum trace_phase phase = inside((enum trace_phase)a->inherited[code],
                                    (enum trace_phase)a->inherited[host]);
    if (phase == PHASE_OTHER && set_holds(&sets->implied, *ret_moment))
        return PHASE_FORWARD;
    return phase;
}

static void part_devices(const struct said *a, const struct phase_sets *sets,
                         const struct trace_report *r, struct trace_phases *ret,
                         int64_t all[TRACE_PHASES])
{
    const struct spans *spans = &a->study->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        if (!span_is_work(spans->kind[row]))
            continue;
        int64_t moment;
        enum trace_phase phase = phase_of_work(a, sets, row, &moment);
        uint32_t step = phase == PHASE_UNKNOWN ? NO_ROW : trace_step_of(r, moment);
        all[phase] = i64_plus(all[phase], spans->duration[row]);
        if (step != NO_ROW)
            ret->step[step].device_ns[phase] =
                i64_plus(ret->step[step].device_ns[phase], spans->duration[row]);
    }
}

static void add_steps(const struct trace_report *r, const struct trace_phases *p,
                      int64_t wall[TRACE_PHASES], int64_t device[TRACE_PHASES])
{
    for (uint32_t phase = 0; phase < TRACE_PHASES; phase++) {
        wall[phase] = device[phase] = 0;
        for (uint32_t i = 0; i < p->steps; i++) {
            if (!trace_step_is_judged(&r->step[i]))
                continue;
            wall[phase] = i64_plus(wall[phase], p->step[i].wall_ns[phase]);
            device[phase] = i64_plus(device[phase], p->step[i].device_ns[phase]);
        }
    }
}

static bool parts_make(const struct said *a, const struct phase_sets *sets,
                       const struct trace_report *r, struct arena *scratch, struct arena *arena,
                       struct trace_phases *ret)
{
    const struct trace_study *s = a->study;
    struct measured up_to[PHASE_OTHER];
    int64_t wall[TRACE_PHASES] = { 0 }, device[TRACE_PHASES] = { 0 };
    ret->step = arena_array(arena, struct trace_step_phases, r->steps);
    ret->steps = r->steps;
    ret->of_steps = r->steps > 0;
    if (ret->step == NULL)
        return false;
    for (uint32_t p = 0; p < PHASE_OTHER; p++)
        if (!measured_make(&ret->up_to[p], scratch, &up_to[p]))
            return false;
    for (uint32_t i = 0; i < r->steps; i++) {
        const struct trace_step *step = &r->step[i];
        ret->step[i].step = step->name;
        part_wall(up_to, step->first_ns, step->first_ns + step->ns, ret->step[i].wall_ns);
    }
    part_devices(a, sets, r, ret, device);
    if (ret->of_steps)
        add_steps(r, ret, wall, device);
    else if (s->has_range)
        part_wall(up_to, s->first_ns, s->last_ns, wall);
    static const enum trace_phase order[TRACE_PHASES] = {
        PHASE_DATA,      PHASE_FORWARD, PHASE_RECOMPUTE, PHASE_BACKWARD,
        PHASE_OPTIMIZER, PHASE_OTHER,   PHASE_UNKNOWN,
    };
    for (size_t i = 0; i < TRACE_PHASES; i++)
        if (wall[order[i]] != 0 || device[order[i]] != 0)
            ret->row[ret->rows++] =
                (struct trace_phase_row){ (uint8_t)order[i], wall[order[i]], device[order[i]] };
    return true;
}

bool trace_phases_make(const struct trace_study *s, struct arena *arena, struct trace_report *ret)
{
    struct arena scratch;
    struct said said;
    struct phase_sets sets;
    arena_init(&scratch, SIZE_MAX / 2);
    bool ok = said_make(s, &scratch, &said) && collect(&said, ret, &scratch, &sets) &&
              add_up(ret, &scratch, arena, &sets, &ret->phases) &&
              parts_make(&said, &sets, ret, &scratch, arena, &ret->phases);
    arena_free(&scratch);
    return ok;
}

bool trace_phases_of_spans(const struct trace_study *s, const struct trace_report *report,
                           struct arena *arena, uint8_t **ret)
{
    struct arena scratch;
    struct said said;
    struct phase_sets sets;
    *ret = arena_array(arena, uint8_t, s->trace->spans.rows.len);
    arena_init(&scratch, SIZE_MAX / 2);
    bool ok = *ret != NULL && said_make(s, &scratch, &said) &&
              collect(&said, report, &scratch, &sets) && implied_make(report, &scratch, &sets);
    for (uint32_t row = 0; ok && row < s->trace->spans.rows.len; row++) {
        bool is_implied = said.inherited[row] == PHASE_OTHER &&
                          set_holds(&sets.implied, s->trace->spans.start[row]);
        (*ret)[row] = is_implied ? PHASE_FORWARD : said.inherited[row];
    }
    arena_free(&scratch);
    return ok;
}
