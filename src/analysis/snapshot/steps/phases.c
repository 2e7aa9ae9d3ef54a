/* phases.c - from tokens to phases, from phases to intervals. */
#include "analysis/snapshot/steps/phases.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

/* A shorter run of `other` between two phases is glue, not a phase. */
enum { OTHER_RUN_JOINED = 4 };

const char *const phase_names[PHASES] = {
    [PHASE_OTHER] = "other",         [PHASE_INIT] = "init",           [PHASE_DATA] = "data",
    [PHASE_FORWARD] = "forward",     [PHASE_RECOMPUTE] = "recompute", [PHASE_BACKWARD] = "backward",
    [PHASE_OPTIMIZER] = "optimizer", [PHASE_ZERO_GRAD] = "zero_grad",
};

/* A stack has the tokens of one phase, the innermost one's, but for what stands inside a backward:
 * an optimizer called there is the optimizer. */
static enum phase phase_of_tokens(token_set set)
{
    if (set & TOKEN_OPTIMIZER)
        return PHASE_OPTIMIZER;
    if (set & TOKEN_ZERO_GRAD)
        return PHASE_ZERO_GRAD;
    /* Where native frames are recorded the engine stands among them; Python's own part of backward
     * only makes the first gradient. */
    if ((set & TOKEN_ENGINE) || ((set & TOKEN_BACKWARD) && !(set & TOKEN_NATIVE)))
        return set & TOKEN_RECOMPUTE ? PHASE_RECOMPUTE : PHASE_BACKWARD;
    if (set & TOKEN_MODULE)
        return PHASE_FORWARD;
    if ((set & TOKEN_DATA) || ((set & TOKEN_COPY) && !(set & TOKEN_APPLY)))
        return PHASE_DATA;
    return set & TOKEN_INIT ? PHASE_INIT : PHASE_OTHER;
}

/* Where Python's frames alone are recorded, what has none ran on a thread of autograd. */
static bool frames_python_only(const struct recording *r, uint32_t device,
                               const struct tokens *tokens)
{
    const uint32_t *stack = r->events.stack + r->devices.first_event[device];
    token_set seen = 0;
    for (uint32_t i = 0; i < r->devices.events[device] && (seen & TOKEN_NATIVE) == 0; i++)
        seen |= tokens->of_stack[stack[i]];
    return (seen & TOKEN_PYTHON) != 0 && (seen & TOKEN_NATIVE) == 0;
}

/* What an annotation says of the work inside it, or PHASES. */
static enum phase phase_of_mark(const struct recording *r, uint32_t mark)
{
    static const struct {
        const char *word;
        bool prefix;
        enum phase phase;
    } words[] = {
        { "forward", false, PHASE_FORWARD },
        { "backward", false, PHASE_BACKWARD },
        { "optimizer", false, PHASE_OPTIMIZER },
        { "zero_grad", false, PHASE_ZERO_GRAD },
        { "Optimizer.step#", true, PHASE_OPTIMIZER },
        { "Optimizer.zero_grad#", true, PHASE_ZERO_GRAD },
    };
    str name = mark_name(r, mark);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        str word = str_from(words[i].word);
        if (words[i].prefix ? mark_name_starts(name, word) : mark_name_is(name, word))
            return words[i].phase;
    }
    return PHASES;
}

bool mark_names_phase(const struct recording *r, uint32_t mark)
{
    return phase_of_mark(r, mark) != PHASES;
}

/* A pair of marks: [first, end) in events. */
struct span {
    uint32_t name, first, end, outer; /* outer: the span opened before it, or NO_ROW */
    enum phase phase;
};

struct spans {
    struct span *at;
    uint32_t count;
};

/* Pairs marks of phases, an end with the last open start of its name.  A start that never ends
 * goes on to the end of the trace; an end that never began says nothing. */
static enum vrs_status find_spans(const struct recording *r, uint32_t device,
                                  const struct mark_events *m, struct arena *arena,
                                  struct spans *ret, struct vrs_error *err)
{
    struct spans spans = { arena_array(arena, struct span, m->count), 0 };
    if (spans.at == NULL)
        return vrs_no_memory(err);
    uint32_t open[PHASES];
    for (int i = 0; i < PHASES; i++)
        open[i] = NO_ROW;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t row = m->order[i], name = r->marks.name[row];
        enum phase phase = phase_of_mark(r, row);
        if (phase == PHASES || m->event[row] == NO_ROW)
            continue;
        if (r->marks.stage[row] == STAGE_START) {
            spans.at[spans.count] =
                (struct span){ name, m->event[row], r->devices.events[device], open[phase], phase };
            open[phase] = spans.count++;
        } else if (open[phase] != NO_ROW && spans.at[open[phase]].name == name) {
            spans.at[open[phase]].end = m->event[row];
            open[phase] = spans.at[open[phase]].outer;
        }
    }
    *ret = spans;
    return VRS_OK;
}

/* Walks events and spans together: of the spans around an event the last to begin counts. */
struct span_walk {
    const struct spans *spans;
    uint32_t next;  /* span that begins next */
    uint32_t *open; /* those that began and may still be open */
    uint32_t opens;
};

static enum phase span_phase(struct span_walk *w, uint32_t event)
{
    const struct spans *s = w->spans;
    while (w->next < s->count && s->at[w->next].first <= event)
        w->open[w->opens++] = w->next++;
    while (w->opens != 0 && s->at[w->open[w->opens - 1]].end <= event)
        w->opens--;
    return w->opens == 0 ? PHASES : s->at[w->open[w->opens - 1]].phase;
}

/* Is it work in the closure that the optimizer of the annotation was given? */
static bool is_of_closure(enum phase said, enum phase by_tokens)
{
    return said == PHASE_OPTIMIZER && (by_tokens == PHASE_FORWARD || by_tokens == PHASE_RECOMPUTE ||
                                       by_tokens == PHASE_BACKWARD);
}

/* Lets the last interval go on with those of `run`. */
static void extend(struct phase_interval *last, const struct phase_interval *run)
{
    last->last_event = run->last_event;
    last->allocs += run->allocs;
    last->alloc_bytes += run->alloc_bytes;
    if (run->largest_bytes > last->largest_bytes) {
        last->largest_bytes = run->largest_bytes;
        last->largest_stack = run->largest_stack;
    }
}

/* Intervals in the making. */
struct maker {
    VEC(struct phase_interval) made;
    struct phase_interval glue; /* since the last interval; counts where the same one goes on */
};

static bool finish_run(struct maker *m, const struct phase_interval *run)
{
    struct phase_interval *last = m->made.len == 0 ? NULL : &m->made.at[m->made.len - 1];
    if (run->allocs == 0)
        return true;
    if (last != NULL && run->phase == PHASE_OTHER && run->allocs < OTHER_RUN_JOINED) {
        m->glue = *run;
        return true;
    }
    if (last == NULL || last->phase != run->phase) {
        m->glue.allocs = 0;
        return vec_push(&m->made, *run);
    }
    if (m->glue.allocs != 0)
        extend(last, &m->glue);
    extend(last, run);
    m->glue.allocs = 0;
    return true;
}

static bool find_intervals(const struct recording *r, uint32_t device, struct span_walk walk,
                           struct maker *maker, struct phases *p)
{
    uint32_t first = r->devices.first_event[device], events = r->devices.events[device];
    const uint8_t *action = r->events.action + first;
    struct phase_interval run = { .allocs = 0 };
    uint32_t by_stack = 0, by_annotation = 0, annotation_agrees = 0;
    for (uint32_t i = 0; i < events; i++) {
        if (action[i] != ACTION_ALLOC)
            continue;
        uint32_t stack = r->events.stack[first + i];
        uint64_t bytes = known_or_0(r->events.size[first + i]);
        enum phase said = span_phase(&walk, i), by_tokens = (enum phase)p->of_stack[stack];
        if (is_of_closure(said, by_tokens))
            said = PHASES;
        enum phase phase = said == PHASES ? by_tokens : said;
        by_stack += said == PHASES;
        by_annotation += said != PHASES;
        annotation_agrees += said == by_tokens;
        struct phase_interval one = { (uint8_t)phase, i, i, 1, bytes, { stack }, { stack }, bytes };
        if (run.allocs != 0 && run.phase == phase) {
            extend(&run, &one);
            continue;
        }
        if (!finish_run(maker, &run))
            return false;
        run = one;
    }
    p->by_stack = by_stack;
    p->by_annotation = by_annotation;
    p->annotation_agrees = annotation_agrees;
    return finish_run(maker, &run);
}

static bool make_intervals(const struct recording *r, uint32_t device, struct span_walk walk,
                           struct arena *arena, struct phases *p)
{
    struct maker maker = { .made.max = UINT32_MAX };
    bool made = find_intervals(r, device, walk, &maker, p);
    p->intervals = maker.made.len;
    p->interval = made ? arena_array(arena, struct phase_interval, p->intervals) : NULL;
    if (p->interval != NULL && p->intervals > 0)
        memcpy(p->interval, maker.made.at, p->intervals * sizeof *p->interval);
    vec_free(&maker.made);
    return p->interval != NULL;
}

static bool any_alloc_has_stack(const struct recording *r, uint32_t device)
{
    uint32_t first = r->devices.first_event[device];
    for (uint32_t i = 0; i < r->devices.events[device]; i++)
        if (r->events.action[first + i] == ACTION_ALLOC && r->events.stack[first + i] != 0)
            return true;
    return false;
}

enum vrs_status phases_make(const struct recording *r, uint32_t device, const struct tokens *tokens,
                            const struct mark_events *marks, struct arena *arena,
                            struct phases *ret, struct vrs_error *err)
{
    struct spans spans = { .count = 0 };
    TRY(find_spans(r, device, marks, arena, &spans, err));
    struct phases p = { .of_stack = arena_array(arena, uint8_t, r->code.stacks.rows.len) };
    struct span_walk walk = { .spans = &spans, .open = arena_array(arena, uint32_t, spans.count) };
    if (p.of_stack == NULL || walk.open == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 1; i < r->code.stacks.rows.len; i++)
        p.of_stack[i] = (uint8_t)phase_of_tokens(tokens->of_stack[i]);
    p.python_only = frames_python_only(r, device, tokens);
    if (p.python_only)
        p.of_stack[0] = PHASE_BACKWARD;
    p.known = spans.count != 0 || any_alloc_has_stack(r, device);
    if (!make_intervals(r, device, walk, arena, &p))
        return vrs_no_memory(err);
    *ret = p;
    return VRS_OK;
}

uint32_t phases_at(const struct phases *p, int64_t event)
{
    uint32_t at;
    SORTED_FIND(at, p->intervals, p->interval[at].first_event <= event);
    return at == 0 ? NO_ROW : at - 1;
}

uint8_t phases_forward(const struct phases *p)
{
    for (uint32_t i = 0; i < p->intervals; i++)
        if (p->interval[i].phase == PHASE_FORWARD)
            return PHASE_FORWARD;
    return PHASE_OTHER;
}
