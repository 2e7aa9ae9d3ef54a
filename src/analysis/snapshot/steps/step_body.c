/* step_body.c - looks at the distinct stacks of a body: what they share from the outside in. */
#include "analysis/snapshot/steps/step_body.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_pairs.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"

/* Of very many pieces some are looked at, at equal distances. */
enum { PIECES_LOOKED_AT = 32 };

/* Where one of so many lies inside a module's call, it is a loop: of two layers the piece from the
 * first to the second does, the one back to the first does not. */
enum { INSIDE_SHARE = 3 };

static bool make_python(struct step_body *b)
{
    const struct recording *r = b->t->r;
    uint32_t stacks = r->code.stacks.rows.len;
    uint32_t *python_of = arena_array(b->t->scratch, uint32_t, stacks);
    b->python_made = true;
    if (python_of == NULL || !stacks_init(&b->python))
        return false;
    for (uint32_t i = 1; i < stacks; i++) {
        stack_id pushed = { python_of[r->code.stacks.caller[i]] };
        frame_id frame = { r->code.stacks.frame[i] };
        if ((b->t->tokens->of_frame[frame.n] & TOKEN_PYTHON) != 0 &&
            !stacks_push(&b->python, pushed, frame, &pushed))
            return false;
        python_of[i] = pushed.n;
    }
    b->value = arena_array(b->t->scratch, uint64_t, b->python.rows.len);
    b->seen = arena_array(b->t->scratch, bool, stacks);
    b->python_of = python_of;
    return b->value != NULL && b->seen != NULL;
}

void step_body_free(struct step_body *b)
{
    if (b->python_made)
        stacks_free(&b->python);
}

/* Counts the distinct stacks with Python frames, each in all its callers. */
static uint64_t count_stacks(struct step_body *b, uint32_t begin, uint32_t end)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < b->python.rows.len; i++)
        b->value[i] = 0;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t stack = b->t->stack[i];
        if (b->seen[stack] || b->python_of[stack] == 0)
            continue;
        b->seen[stack] = true;
        b->value[b->python_of[stack]]++;
        all++;
    }
    for (uint32_t i = begin; i < end; i++)
        b->seen[b->t->stack[i]] = false;
    stacks_sum_up(&b->python, b->value);
    return all;
}

static bool same_function(const struct frames *f, uint32_t a, uint32_t b)
{
    return f->name[a] == f->name[b] && f->file[a] == f->file[b];
}

/* The frames that all of them share, and one more where only its line differs.  Ids grow from
 * callers to callees, so the last stack that all go through is the innermost. */
static token_set shared_tokens(const struct step_body *b, uint64_t all)
{
    const struct frames *frames = &b->t->r->code.frames;
    const token_set *of_frame = b->t->tokens->of_frame;
    uint32_t shared = 0, next = 0;
    token_set set = 0;
    for (uint32_t i = 1; i < b->python.rows.len; i++)
        if (b->value[i] == all) {
            shared = i;
            set |= of_frame[b->python.frame[i]];
        }
    uint64_t inside = 0;
    for (uint32_t i = shared + 1; i < b->python.rows.len; i++) {
        if (b->python.caller[i] != shared || b->value[i] == 0)
            continue;
        if (next != 0 && !same_function(frames, next, b->python.frame[i]))
            return set;
        next = b->python.frame[i];
        inside += b->value[i];
    }
    return inside == all ? set | of_frame[next] : set;
}

/* What the allocs at positions [begin, end) are. */
struct facts {
    bool python, elsewhere, other_phase, backward;
};

static struct facts facts_of(const struct step_trace *t, uint32_t begin, uint32_t end)
{
    struct facts f = { .python = false };
    for (uint32_t i = begin; i < end; i++) {
        token_set set = t->tokens->of_stack[t->stack[i]];
        uint8_t phase = t->phases->of_stack[t->stack[i]];
        bool backward = phase == PHASE_BACKWARD || phase == PHASE_RECOMPUTE;
        f.python |= (set & TOKEN_PYTHON) != 0;
        f.elsewhere |= (set & TOKEN_ENGINE) == 0 && !backward;
        f.other_phase |= phase != PHASE_OPTIMIZER;
        f.backward |= backward;
    }
    return f;
}

static bool inside_module(struct step_body *b, uint32_t begin, uint32_t end)
{
    uint64_t all = count_stacks(b, begin, end);
    return all != 0 && (shared_tokens(b, all) & (TOKEN_MODULE | TOKEN_APPLY)) != 0;
}

/* Each looked at by itself. */
static const char *refused_one_by_one(struct step_body *b, const struct step_pieces *pieces)
{
    uint32_t looked = 0, inside = 0, backward = 0;
    uint32_t stride = pieces->count / PIECES_LOOKED_AT + 1;
    for (uint32_t i = 0; i < pieces->count; i += stride, looked++) {
        inside += inside_module(b, pieces->begin[i], pieces->end[i]);
        backward += facts_of(b->t, pieces->begin[i], pieces->end[i]).backward;
    }
    if (inside * INSIDE_SHARE >= looked)
        return "inside_module";
    return b->t->pairs->count != 0 && backward * 2 <= looked ? "no_backward" : NULL;
}

enum vrs_status step_body_judge(struct step_body *b, const struct step_pieces *pieces,
                                const char **refused_by, struct vrs_error *err)
{
    uint32_t begin = pieces->begin[0], end = pieces->end[pieces->count - 1];
    struct facts f = facts_of(b->t, begin, end);
    *refused_by = NULL;
    if (!f.python)
        *refused_by = "no_python_frames";
    else if (!f.elsewhere)
        *refused_by = "autograd_threads";
    else if (!f.other_phase)
        *refused_by = "optimizer_phase";
    if (*refused_by != NULL)
        return VRS_OK;
    if (!step_body_made(b) && !make_python(b))
        return vrs_no_memory(err);
    *refused_by = inside_module(b, begin, end) ? "inside_module" : refused_one_by_one(b, pieces);
    return VRS_OK;
}
