/* split_stacks.c - the frames around a frame, or those that an operator has as a text, and the
 * operator that a backward pass began with. */
#include "analysis/trace/splits/split_stacks.h"

#include <stddef.h>

#include "analysis/trace/modules/backward.h"
#include "analysis/trace/modules/given_stacks.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/trace.h"

struct stacks {
    const struct trace_study *s;
    uint32_t frames;
    uint32_t *around; /* of each span: the innermost frame around it, a span, or NO_ROW */
    uint32_t *from;   /* of each span: the forward operator whose backward pass it lies in */
    uint32_t *text;   /* of each frame: that of it and those around it, plus 1; 0: not yet */
    uint32_t *given;  /* of each span: its stack as a text; 0: none */
    uint32_t *cut;    /* of each such text: what is shown of it, plus 1; 0: not yet */
};

/* Parents stand before their children. */
static void look_up(const struct stacks *x, const struct forest *trees)
{
    const struct spans *spans = &x->s->trace->spans;
    for (uint32_t i = 0; i < trees->first[trees->threads]; i++) {
        uint32_t row = trees->row[i], parent = trees->parent[row];
        if (parent != NO_ROW)
            x->around[row] = spans->kind[parent] == SPAN_PYTHON ? parent : x->around[parent];
    }
}

static bool text_of(const struct stacks *x, uint32_t frame, struct strings *texts, uint32_t *ret)
{
    struct buf text;
    string_id id = { 0 };
    if (x->text[frame] != 0) {
        *ret = x->text[frame] - 1;
        return true;
    }
    buf_init(&text, SIZE_MAX / 2);
    uint32_t at = frame;
    for (uint32_t i = 0; i < x->frames && at != NO_ROW; i++, at = x->around[at]) {
        buf_text(&text, i > 0 ? "; " : "");
        buf_str(&text, trace_text(x->s->trace, x->s->trace->spans.name[at]));
    }
    bool ok = !text.failed && strings_intern(texts, buf_slice(&text), &id);
    buf_free(&text);
    x->text[frame] = id.n + 1;
    *ret = id.n;
    return ok;
}

/* The first frames of a text, the innermost first as in it. */
static bool text_of_given(const struct stacks *x, uint32_t stack, struct strings *texts,
                          uint32_t *ret)
{
    struct buf text;
    string_id id = { 0 };
    if (x->cut[stack] != 0) {
        *ret = x->cut[stack] - 1;
        return true;
    }
    buf_init(&text, SIZE_MAX / 2);
    str rest = span_stack_text(x->s->trace, stack), frame;
    for (uint32_t i = 0; i < x->frames && span_stack_next(&rest, &frame); i++) {
        buf_text(&text, i > 0 ? "; " : "");
        buf_str(&text, frame);
    }
    bool ok = !text.failed && strings_intern(texts, buf_slice(&text), &id);
    buf_free(&text);
    x->cut[stack] = id.n + 1;
    *ret = id.n;
    return ok;
}

/* The frames around it where they were recorded as such, else its text. */
static bool stack_of(const struct stacks *x, uint32_t row, struct strings *texts, uint32_t *ret)
{
    uint32_t of = x->from[row] != NO_ROW ? x->from[row] : row;
    if (x->around[of] != NO_ROW)
        return text_of(x, x->around[of], texts, ret);
    return x->given[row] == 0 || text_of_given(x, x->given[row], texts, ret);
}

bool split_stacks_make(const struct trace_study *s, const struct forest *trees, uint32_t frames,
                       struct strings *texts, struct arena *arena, uint32_t **ret)
{
    const struct spans *spans = &s->trace->spans;
    struct stacks x = { .s = s, .frames = frames,
                        .around = arena_array(arena, uint32_t, spans->rows.len),
                        .text = arena_array(arena, uint32_t, spans->rows.len),
                        .cut = arena_array(arena, uint32_t, s->trace->stacks.texts.rows.len) };
    *ret = arena_array(arena, uint32_t, spans->rows.len);
    if (x.around == NULL || x.text == NULL || x.cut == NULL || *ret == NULL ||
        !backward_find(s, trees, arena, &x.from))
        return false;
    backward_spread(trees, x.from);
    x.given = given_stacks(s, trees, x.from, arena);
    if (x.given == NULL)
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        x.around[row] = NO_ROW;
    look_up(&x, trees);
    for (uint32_t i = 0; i < trees->first[trees->threads]; i++) {
        uint32_t row = trees->row[i];
        if (spans->kind[row] != SPAN_PYTHON && !stack_of(&x, row, texts, &(*ret)[row]))
            return false;
    }
    return true;
}
