/* rule_stacks.c - lines of the program in the stacks that operators have as texts. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/modules/backward.h"
#include "analysis/trace/modules/given_stacks.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/strings.h"
#include "model/trace.h"

bool rule_stacks_find(struct rule_facts *f)
{
    const struct trace_study *s = f->study;
    struct arena scratch;
    uint32_t *forward;
    /* Where frames were recorded they tell more. */
    if (!f->report->capture.stacks_are_texts)
        return true;
    arena_init(&scratch, SIZE_MAX / 2);
    if (backward_find(s, &s->host, &scratch, &forward)) {
        backward_spread(&s->host, forward);
        f->stack = given_stacks(s, &s->host, forward, f->arena);
    }
    arena_free(&scratch);
    return f->stack != NULL;
}

static str line_of(const struct rule_facts *f, uint32_t stack)
{
    str rest = span_stack_text(f->study->trace, stack), frame;
    while (span_stack_next(&rest, &frame))
        if (rule_name_is_of_the_program(frame))
            return frame;
    return (str){ NULL, 0 };
}

str rule_line_given(const struct rule_facts *f, uint32_t row)
{
    return f->stack != NULL ? line_of(f, f->stack[row]) : (str){ NULL, 0 };
}

/* Of each stack the time of the spans of a name. */
static void add_times(const struct rule_facts *f, uint32_t name, int64_t *ns)
{
    const struct trace_study *s = f->study;
    const struct spans *spans = &s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        if (spans->name[row] != name)
            continue;
        uint32_t by = span_is_work(spans->kind[row]) ? s->links.owner[row] : row;
        if (by != NO_ROW)
            ns[f->stack[by]] = i64_plus(ns[f->stack[by]], spans->duration[row]);
    }
}

static uint32_t string_of(const struct trace *t, str text)
{
    uint32_t id = t->strings.rows.len;
    while (--id > 0 && !str_equal(trace_text(t, id), text))
        continue;
    return id;
}

/* Several stacks have one line. */
static bool longest_line(const struct rule_facts *f, const int64_t *ns, struct strings *lines,
                         str *ret)
{
    uint32_t stacks = f->study->trace->stacks.texts.rows.len;
    int64_t *of_line = arena_array(f->arena, int64_t, stacks), most = 0;
    if (of_line == NULL)
        return false;
    for (uint32_t stack = 1; stack < stacks; stack++) {
        str line = ns[stack] > 0 ? line_of(f, stack) : (str){ NULL, 0 };
        string_id id;
        if (line.ptr == NULL)
            continue;
        if (!strings_intern(lines, line, &id))
            return false;
        of_line[id.n] = i64_plus(of_line[id.n], ns[stack]);
        if (of_line[id.n] > most) {
            most = of_line[id.n];
            *ret = line;
        }
    }
    return true;
}

bool rule_line_of_name(const struct rule_facts *f, str name, str *ret)
{
    const struct trace *t = f->study->trace;
    struct strings lines;
    uint32_t string = f->stack != NULL ? string_of(t, name) : 0;
    *ret = (str){ NULL, 0 };
    if (string == 0)
        return true;
    struct arena_mark mark = arena_mark(f->arena);
    int64_t *ns = arena_array(f->arena, int64_t, t->stacks.texts.rows.len);
    bool ok = strings_init(&lines, UINT32_MAX) && ns != NULL;
    if (ok)
        add_times(f, string, ns);
    ok = ok && longest_line(f, ns, &lines, ret);
    strings_free(&lines);
    arena_release(f->arena, mark);
    return ok;
}
