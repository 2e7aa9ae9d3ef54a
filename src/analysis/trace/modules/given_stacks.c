/* given_stacks.c - the stack of an operator is handed on to what it makes run. */
#include "analysis/trace/modules/given_stacks.h"

#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/study/names.h"
#include "base/table.h"
#include "model/trace.h"

/* Until 2021 ranges, too, were operators.  A range was entered somewhere else than what it holds is
 * called. */
static bool is_operator(const struct trace_study *s, uint32_t row)
{
    const struct spans *spans = &s->trace->spans;
    return spans->kind[row] == SPAN_OP && (s->names.traits[spans->name[row]] & NAME_STEP) == 0;
}

uint32_t *given_stacks(const struct trace_study *s, const struct forest *f, const uint32_t *forward,
                       struct arena *arena)
{
    const struct spans *spans = &s->trace->spans;
    const struct span_stacks *stacks = &s->trace->stacks;
    uint32_t *given = arena_array(arena, uint32_t, spans->rows.len);
    if (given == NULL)
        return NULL;
    for (uint32_t i = 0; i < stacks->rows.len; i++)
        given[stacks->span[i]] = stacks->text[i];
    for (uint32_t row = 0; row < spans->rows.len; row++)
        if (forward[row] != NO_ROW)
            given[row] = span_stack(s->trace, forward[row]);
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row];
        bool is_call = parent != NO_ROW && span_is_call(spans->kind[row]);
        if (is_call && given[row] == 0 && is_operator(s, parent))
            given[row] = given[parent];
    }
    return given;
}
