/* rule_loop.c - what the thread of the steps did within them, walked in the order of time: by whose
 * code, and in which part of the training. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/busy/intervals.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/report/steps.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/trace.h"

/* The part of the training that a span is in; the outermost that says one decides. */
enum place {
    PLACE_LOOP,
    PLACE_LINKED, /* an operator of the loop whose node runs backward: it is part of the forward */
    PLACE_LOADING,
    PLACE_FORWARD,
    PLACE_TRAINING,
};

/* A node of autograd that ran backward in a step. */
struct node {
    uint32_t sequence, step;
};

/* A span that is open, with what it has of those around it. */
struct level {
    uint32_t row;
    uint32_t step;  /* in which it begins, if that is no empty one, or NO_ROW */
    uint32_t op;    /* string: the outermost operator around it or itself; 0: none */
    uint32_t line;  /* string: the program's innermost frame; 0: none */
    uint32_t copy;  /* at which depth a copy was asked for, or NO_ROW */
    int64_t inner_ns; /* of those inside */
    uint16_t name;  /* enum loop_name */
    uint8_t place, line_place; /* of it, and of that frame */
    bool is_foreign; /* a frame of others stands between it and the program's */
    bool is_hidden;  /* a built-in around it is asked for something else than a copy */
    bool is_read;    /* it takes a value, or one around it does */
    bool copies;     /* asked for by it, a copy was made */
};

enum { NAME_KINDS = 3 }; /* frames, operators, ranges */

/* Times of each string. */
enum sum { OTHER_OP, OTHER_LINE, LOAD_OP, LOAD_LINE, LOAD_WAITED, READ_LINE, COPY_LINE, SUMS };

struct walk {
    struct rule_facts *f;
    uint16_t *name[NAME_KINDS]; /* of each string: enum loop_name, 0 before it is looked at */
    int64_t *sum[SUMS];
    struct node *node; /* in order */
    uint32_t nodes;
    VEC(struct level) open;
    VEC(struct interval) known; /* in which the place is another than the loop */
    uint32_t read_step, copy_step, forward_step; /* the last that had one */
};

/* Names. */

static uint16_t name_of(struct walk *w, uint32_t row)
{
    const struct spans *s = &w->f->study->trace->spans;
    unsigned kind = s->kind[row] == SPAN_PYTHON ? 0 : s->kind[row] == SPAN_OP ? 1 : 2;
    uint16_t *name = &w->name[kind][s->name[row]];
    if (*name == 0)
        *name = rule_loop_name(trace_text(w->f->study->trace, s->name[row]), s->kind[row]);
    return *name;
}

static enum place place_by(uint16_t name)
{
    return (name & LOOP_LOADS) != 0     ? PLACE_LOADING
           : (name & LOOP_TRAINS) != 0  ? PLACE_TRAINING
           : (name & LOOP_FORWARD) != 0 ? PLACE_FORWARD
                                        : PLACE_LOOP;
}

/* Nodes. */

static int by_number(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static bool is_node(struct walk *w, uint32_t row)
{
    const struct spans *s = &w->f->study->trace->spans;
    return s->kind[row] == SPAN_OP && s->sequence[row] != TRACE_NO_SEQUENCE &&
           (name_of(w, row) & LOOP_TRAINS) != 0;
}

static bool nodes_find(struct walk *w)
{
    const struct spans *s = &w->f->study->trace->spans;
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->rows.len; i++)
        most += is_node(w, i);
    w->node = arena_array(w->f->arena, struct node, most);
    if (w->node == NULL)
        return false;
    for (uint32_t i = 0; i < s->rows.len; i++)
        if (is_node(w, i))
            w->node[w->nodes++] =
                (struct node){ s->sequence[i], trace_step_of(w->f->report, s->start[i]) };
    qsort(w->node, w->nodes, sizeof *w->node, by_number);
    return true;
}

/* An operator has the number of the node that is made next, whatever it does: so this is asked only
 * behind the first call of a module in a step. */
static bool is_linked(const struct walk *w, const struct level *l)
{
    const struct spans *s = &w->f->study->trace->spans;
    const struct node wanted = { s->sequence[l->row], l->step };
    return s->kind[l->row] == SPAN_OP && s->sequence[l->row] != TRACE_NO_SEQUENCE &&
           l->step != NO_ROW && w->forward_step == l->step && w->nodes > 0 &&
           bsearch(&wanted, w->node, w->nodes, sizeof *w->node, by_number) != NULL;
}

/* Sums. */

static void add(struct walk *w, enum sum sum, uint32_t string, int64_t ns)
{
    if (string != 0)
        w->sum[sum][string] = i64_plus(w->sum[sum][string], ns);
}

static void add_habit(struct walk *w, struct rule_habit *h, const struct level *l, uint32_t *last,
                      enum sum sum)
{
    const struct spans *s = &w->f->study->trace->spans;
    rule_calls_add(&h->calls, s, l->row);
    h->steps += *last != l->step;
    *last = l->step;
    add(w, sum, l->line, i64_plus(s->duration[l->row], 1));
}

/* Without frames nobody is foreign, and what the model does is not told from the loop. */
static bool is_the_programs(const struct level *l)
{
    return l->step != NO_ROW && !l->is_foreign &&
           (l->place == PLACE_LOOP || l->place == PLACE_LINKED ||
            (l->place == PLACE_FORWARD && l->line_place == PLACE_FORWARD));
}

/* What a span spent by itself. */
static void add_self(struct walk *w, const struct level *l)
{
    const struct spans *s = &w->f->study->trace->spans;
    int64_t ns = i64_minus(s->duration[l->row], l->inner_ns);
    struct rule_loop *loop = &w->f->loop;
    if (l->step == NO_ROW || ns <= 0)
        return;
    if (l->place == PLACE_LOOP) {
        add(w, OTHER_OP, l->op, ns);
        add(w, OTHER_LINE, l->line, ns);
    } else if (l->place == PLACE_LOADING) {
        uint32_t line = l->line_place == PLACE_LOADING ? l->line : 0;
        add(w, LOAD_OP, l->op, ns);
        add(w, LOAD_LINE, line, ns);
        if ((l->name & LOOP_WAITS) != 0)
            add(w, LOAD_WAITED, line, ns);
        loop->load_ops_ns = i64_plus(loop->load_ops_ns, l->op != 0 ? ns : 0);
    }
}

/* The walk. */

static void close_one(struct walk *w)
{
    const struct level *l = &w->open.at[--w->open.len];
    struct rule_loop *loop = &w->f->loop;
    if (l->copies && is_the_programs(l)) {
        add_habit(w, &loop->copies, l, &w->copy_step, COPY_LINE);
        if (l->place == PLACE_LOOP)
            loop->other_copied_ns =
                i64_plus(loop->other_copied_ns, w->f->study->trace->spans.duration[l->row]);
    }
    add_self(w, l);
}

/* What a span has by those around it and by its name. */
static struct level level_of(struct walk *w, uint32_t row)
{
    static const struct level outside = { .row = NO_ROW, .copy = NO_ROW };
    const struct rule_facts *f = w->f;
    const struct spans *s = &f->study->trace->spans;
    const struct level *around = w->open.len > 0 ? &w->open.at[w->open.len - 1] : &outside;
    struct level l = *around;
    l.row = row;
    l.step = trace_judged_step_of(f->report, s->start[row]);
    l.inner_ns = 0;
    l.copies = false;
    l.name = name_of(w, row);
    bool is_inside = around->place != PLACE_LOOP;
    if (!is_inside)
        l.place = (uint8_t)place_by(l.name);
    if (l.place == PLACE_FORWARD)
        w->forward_step = l.step;
    if (!is_inside && l.place == PLACE_LOOP && is_linked(w, &l))
        l.place = PLACE_LINKED;
    if ((l.name & LOOP_PROGRAM) != 0) {
        l.line = s->name[row];
        l.line_place = l.place;
    }
    l.is_foreign = (l.name & LOOP_PROGRAM) == 0 &&
                   (around->is_foreign || (l.name & LOOP_FOREIGN) != 0);
    l.is_hidden = (l.name & LOOP_PROGRAM) == 0 &&
                  (around->is_hidden || (l.name & LOOP_HIDES) != 0);
    l.is_read = around->is_read || (l.name & LOOP_READS) != 0;
    if (around->op == 0 && (l.name & LOOP_OPERATOR) != 0) {
        l.op = s->name[row];
        l.copy = (l.name & LOOP_COPIES) != 0 && !l.is_hidden ? w->open.len : NO_ROW;
    }
    return l;
}

static bool open_one(struct walk *w, uint32_t row)
{
    const struct spans *s = &w->f->study->trace->spans;
    struct rule_loop *loop = &w->f->loop;
    const struct level *around = w->open.len > 0 ? &w->open.at[w->open.len - 1] : NULL;
    bool was_read = around != NULL && around->is_read;
    bool was_inside = around != NULL && around->place != PLACE_LOOP;
    struct level l = level_of(w, row);
    if (around != NULL)
        w->open.at[w->open.len - 1].inner_ns =
            i64_plus(w->open.at[w->open.len - 1].inner_ns, s->duration[row]);
    if (!was_inside && l.place != PLACE_LOOP && s->duration[row] > 0 &&
        !vec_push(&w->known, (struct interval){ s->start[row], span_end(s, row) }))
        return false;
    loop->has_frames = loop->has_frames || s->kind[row] == SPAN_PYTHON;
    loop->has_forward = loop->has_forward || (l.step != NO_ROW && (l.name & LOOP_FORWARD) != 0 &&
                                              l.place == PLACE_FORWARD);
    if (l.step != NO_ROW && (l.name & LOOP_WORKERS) != 0) {
        loop->has_workers = true;
        loop->waiting_line = l.line;
    }
    if (l.is_read && !was_read && is_the_programs(&l))
        add_habit(w, &loop->reads, &l, &w->read_step, READ_LINE);
    if (!vec_push(&w->open, l))
        return false;
    if ((l.name & LOOP_COPY) != 0 && l.copy != NO_ROW)
        w->open.at[l.copy].copies = true;
    return true;
}

static bool walk_all(struct walk *w)
{
    const struct trace_study *study = w->f->study;
    const struct spans *s = &study->trace->spans;
    for (uint32_t i = 0; i < s->rows.len; i++) {
        uint32_t row = study->sorted[i];
        uint32_t track = s->kind[row] == SPAN_PYTHON ? s->track[row] : study->home[row];
        if (track != w->f->report->step_track)
            continue;
        while (w->open.len > 0) {
            int64_t end = span_end(s, w->open.at[w->open.len - 1].row);
            if (s->start[row] < end && span_end(s, row) <= end)
                break;
            close_one(w);
        }
        if (!open_one(w, row))
            return false;
    }
    while (w->open.len > 0)
        close_one(w);
    return true;
}

/* The end of it. */

static uint32_t largest(const struct walk *w, enum sum sum, int64_t *ret_ns)
{
    uint32_t best = 0, strings = w->f->study->trace->strings.rows.len;
    for (uint32_t id = 1; id < strings; id++)
        if (w->sum[sum][id] > w->sum[sum][best])
            best = id;
    *ret_ns = w->sum[sum][best];
    return best;
}

/* How much of the known time lies before a moment, by what of it lies before each interval. */
static int64_t known_before(const struct intervals *known, const int64_t *before, int64_t moment)
{
    uint32_t low = 0, high = known->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (known->at[middle].end <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    bool lies_in = low < known->len && known->at[low].start < moment;
    return i64_plus(before[low], lies_in ? i64_minus(moment, known->at[low].start) : 0);
}

static bool is_much(const struct rule_facts *f, int64_t other, int64_t step)
{
    return (double)other > f->limits->at[STEP_OTHER] * (double)step;
}

static bool find_other(struct walk *w)
{
    struct rule_facts *f = w->f;
    const struct trace_report *r = f->report;
    struct intervals known = { .at = arena_array(f->arena, struct interval, w->known.len) };
    int64_t *before = arena_array(f->arena, int64_t, (size_t)w->known.len + 1);
    if (known.at == NULL || before == NULL)
        return false;
    for (uint32_t i = 0; i < w->known.len; i++)
        intervals_add(&known, w->known.at[i].start, w->known.at[i].end);
    for (uint32_t i = 0; i < known.len; i++)
        before[i + 1] = i64_plus(before[i], i64_minus(known.at[i].end, known.at[i].start));
    for (uint32_t i = 0; i < r->steps; i++) {
        int64_t start = r->step[i].first_ns, end = i64_plus(start, r->step[i].ns);
        if (!trace_step_is_judged(&r->step[i]))
            continue;
        int64_t in = known_before(&known, before, end) - known_before(&known, before, start);
        int64_t other = i64_minus(r->step[i].ns, in);
        f->loop.other_ns = i64_plus(f->loop.other_ns, other);
        f->loop.other_steps += is_much(f, other, r->step[i].ns);
    }
    return true;
}

static bool walk_make(struct walk *w)
{
    uint32_t strings = w->f->study->trace->strings.rows.len;
    bool ok = true;
    for (int kind = 0; kind < NAME_KINDS; kind++) {
        w->name[kind] = arena_array(w->f->arena, uint16_t, strings);
        ok = ok && w->name[kind] != NULL;
    }
    for (int sum = 0; sum < SUMS; sum++) {
        w->sum[sum] = arena_array(w->f->arena, int64_t, (size_t)strings + 1);
        ok = ok && w->sum[sum] != NULL;
    }
    return ok && nodes_find(w);
}

static void keep_largest(struct walk *w)
{
    struct rule_loop *loop = &w->f->loop;
    int64_t ignored;
    loop->other_op = largest(w, OTHER_OP, &loop->other_op_ns);
    loop->other_line = largest(w, OTHER_LINE, &loop->other_line_ns);
    loop->load_op = largest(w, LOAD_OP, &loop->load_op_ns);
    loop->load_line = largest(w, LOAD_LINE, &loop->load_line_ns);
    loop->load_waited_ns = w->sum[LOAD_WAITED][loop->load_line];
    loop->reads.line = largest(w, READ_LINE, &ignored);
    loop->copies.line = largest(w, COPY_LINE, &ignored);
}

/* Nothing asks where devices worked and no step loads: it is a pass over all spans. */
bool rule_loop_find(struct rule_facts *f)
{
    if (f->steps == 0 || f->report->step_track == NO_ROW ||
        (f->card != NULL && f->wall[PHASE_DATA] == 0))
        return true;
    struct arena_mark mark = arena_mark(f->arena);
    uint32_t spans = f->study->trace->spans.rows.len;
    struct walk w = { .f = f,
                      .open.max = spans,
                      .known.max = spans,
                      .read_step = NO_ROW,
                      .copy_step = NO_ROW,
                      .forward_step = NO_ROW };
    bool ok = walk_make(&w) && walk_all(&w) && find_other(&w);
    if (ok)
        keep_largest(&w);
    vec_free(&w.open);
    vec_free(&w.known);
    arena_release(f->arena, mark);
    return ok;
}
