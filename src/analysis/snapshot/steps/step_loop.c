/* step_loop.c - follows the line of one function over the allocs of a trace. */
#include "analysis/snapshot/steps/step_loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/steps/step_sources.h"
#include "analysis/snapshot/steps/step_stacks.h"
#include "base/arena.h"
#include "base/table.h"
#include "model/code.h"
#include "model/frames.h"
#include "model/ids.h"

/* `line` has of each stack_id 1 + the line of the function in it, 0 where it is not called from
 * there; so many frames of Python lie outside of it. */
struct loop {
    const struct step_trace *t;
    uint32_t depth;
    uint32_t function; /* a frame of it */
    uint32_t *line;
    bool *known;
};

static bool is_of_function(const struct loop *l, uint32_t frame)
{
    const struct frames *f = &l->t->r->code.frames;
    return frame != 0 && f->name[frame] == f->name[l->function] &&
           f->file[frame] == f->file[l->function];
}

/* The outermost function in which the stacks of a loop, those that are `used`, are called from
 * several lines; false: they are called from several functions at once. */
static bool find_function(struct loop *l, const bool *used)
{
    const struct step_trace *t = l->t;
    const struct code *code = &t->r->code;
    stack_id first = { 0 };
    l->depth = UINT32_MAX;
    for (uint32_t i = 1; i < code->stacks.rows.len; i++) {
        stack_id stack = { i };
        if (!used[i] || step_stacks_frame(code, t->tokens, stack, 0) == 0)
            continue;
        first = first.n == 0 ? stack : first;
        uint32_t parted = step_stacks_parted(code, t->tokens, first, stack);
        l->depth = parted < l->depth ? parted : l->depth;
    }
    if (l->depth == UINT32_MAX)
        return false;
    l->function = step_stacks_frame(code, t->tokens, first, l->depth);
    for (uint32_t i = 1; i < code->stacks.rows.len; i++) {
        stack_id stack = { i };
        if (used[i] && step_stacks_frame(code, t->tokens, stack, 0) != 0 &&
            !is_of_function(l, step_stacks_frame(code, t->tokens, stack, l->depth)))
            return false;
    }
    return true;
}

/* 1 + the line of the function at a position; 0: it is not there. */
static uint32_t line_at(struct loop *l, uint32_t position)
{
    const struct code *code = &l->t->r->code;
    const struct frames *f = &code->frames;
    uint32_t stack = l->t->stack[position];
    if (!l->known[stack]) {
        uint32_t frame = step_stacks_frame(code, l->t->tokens, (stack_id){ stack }, l->depth);
        l->line[stack] = is_of_function(l, frame) ? 1 + f->line[frame] : 0;
        l->known[stack] = true;
    }
    return l->line[stack];
}

/* The line before a position: what is called from elsewhere between, as a backward, is passed by.
 */
static uint32_t line_before(struct loop *l, uint32_t position, uint32_t least)
{
    uint32_t line = 0;
    while (line == 0 && position > least)
        line = line_at(l, --position);
    return line;
}

/* Where in (begin, end] the line goes back furthest, or NO_ROW where it does so twice. */
static uint32_t goes_round(struct loop *l, uint32_t begin, uint32_t end)
{
    uint32_t at = NO_ROW, furthest = 0, line = line_before(l, begin + 1, 0);
    for (uint32_t i = begin + 1; i <= end && i < l->t->allocs; i++) {
        uint32_t now = line_at(l, i);
        uint32_t back = now != 0 && now < line ? line - now : 0;
        line = now == 0 ? line : now;
        if (back > furthest) {
            furthest = back;
            at = i;
        } else if (back != 0 && back == furthest) {
            at = NO_ROW;
        }
    }
    return at;
}

static bool is_as_long(uint32_t length, uint32_t as)
{
    return step_is_whole(length, as) && step_is_whole(as, length);
}

/* Where the loop is entered, at its first line and from wherever.  What comes before the first of
 * the rounds in sight is one of them only where it is as long: the recording may begin within it.
 */
static uint32_t entered(struct loop *l, const struct step_rounds *rounds, uint32_t begin)
{
    uint32_t at = begin, line = line_at(l, begin);
    do {
        if (at == 0)
            return NO_ROW;
        at--;
    } while (line_at(l, at) != line || line_before(l, at, 0) == line);
    bool in_sight = at <= rounds->at[0] && at != 0;
    return in_sight || is_as_long(begin - at, rounds->at[1] - rounds->at[0]) ? at : NO_ROW;
}

/* Where it goes round once more behind the last of the rounds in sight; NO_ROW: nowhere. */
static uint32_t goes_on(struct loop *l, const struct step_rounds *rounds, uint32_t begin)
{
    uint32_t last = rounds->at[rounds->count - 1], gap = last - rounds->at[rounds->count - 2];
    uint32_t round = begin < last ? goes_round(l, last, last + gap) : NO_ROW;
    return round != NO_ROW && line_at(l, round) == line_at(l, begin) ? round : NO_ROW;
}

bool step_loop_begins(const struct step_trace *t, struct step_rounds *rounds)
{
    uint32_t stacks = t->r->code.stacks.rows.len, count = rounds->count, begins = 1;
    const uint32_t *at = rounds->at;
    struct loop l = {
        .t = t,
        .line = arena_array(t->scratch, uint32_t, stacks),
        .known = arena_array(t->scratch, bool, stacks),
    };
    /* The first is for a round before those in sight. */
    uint32_t *begin = arena_array(t->scratch, uint32_t, (size_t)count + 2);
    bool *used = arena_array(t->scratch, bool, stacks);
    if (l.line == NULL || l.known == NULL || begin == NULL || used == NULL)
        return false;
    for (uint32_t i = at[0]; i < at[count - 1]; i++)
        used[t->stack[i]] = true;
    if (!find_function(&l, used))
        return true;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t round = goes_round(&l, at[i], at[i + 1]);
        if (round == NO_ROW || (begins > 1 && line_at(&l, round) != line_at(&l, begin[1])))
            return true;
        begin[begins++] = round;
    }
    begin[0] = entered(&l, rounds, begin[1]);
    begin[begins] = goes_on(&l, rounds, begin[begins - 1]);
    begins += begin[begins] != NO_ROW;
    uint32_t skip = begin[0] == NO_ROW;
    if (begins - skip >= 2)
        *rounds = (struct step_rounds){ begin + skip, begins - skip };
    return true;
}
