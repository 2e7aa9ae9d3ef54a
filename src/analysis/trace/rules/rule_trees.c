/* rule_trees.c - operators by where they stand in the tree of their thread: in what, beside what. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/rules/facts.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/table.h"
#include "model/trace.h"

/* Of the operators side by side under one parent, or under none on one thread. */
struct siblings {
    uint64_t group, before; /* names since the last select, and those of the group before */
    uint32_t run;           /* equal groups */
    uint32_t last;          /* the operator before, or NO_ROW */
};

static const struct siblings no_siblings = { .last = NO_ROW };

/* A parent stands before its children, and those before what is beside it: so there is one set of
 * siblings at each depth. */
struct level {
    uint32_t row; /* the one that was last at this depth */
    struct siblings siblings;
};

static uint64_t mix(uint64_t hash, uint32_t name)
{
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    const unsigned half = 32;
    hash = (hash ^ name) * factor;
    return hash ^ hash >> half;
}

/* Groups that begin with a select: equal ones in a row are a loop over a tensor. */
static void add_select(struct rule_facts *f, struct siblings *s, uint32_t row)
{
    bool is_select = (f->names[f->study->trace->spans.name[row]] & RULE_SELECT) != 0;
    if (!is_select) {
        s->group = mix(s->group, f->study->trace->spans.name[row]);
        return;
    }
    s->run = s->run > 0 && s->group == s->before ? s->run + 1 : s->run > 0 ? 2 : 1;
    s->before = s->group;
    s->group = 1;
    if (s->run > f->select_run) {
        f->select_run = s->run;
        f->select_at = row;
    }
}

/* What work an operator launched, itself or by one inside. */
enum launched { LAUNCHED_ANY = 1, LAUNCHED_COPY = 2 /* from the host to a device */ };

/* A tensor that an operator makes on the host, and one that the next moves. */
static void add_pair(struct rule_facts *f, struct siblings *s, uint32_t row,
                     const uint8_t *launched)
{
    const struct spans *spans = &f->study->trace->spans;
    uint32_t before = s->last;
    s->last = row;
    if (before != NO_ROW && (f->names[spans->name[before]] & RULE_CREATES) != 0 &&
        launched[before] == 0 && (f->names[spans->name[row]] & RULE_TO) != 0 &&
        (launched[row] & LAUNCHED_COPY) != 0)
        rule_calls_add(&f->to_pairs, spans, before);
}

static uint8_t under_of(const struct rule_facts *f, uint32_t row)
{
    const struct trace_study *s = f->study;
    uint32_t name = s->trace->spans.name[row], parent = s->host.parent[row];
    unsigned under = parent == NO_ROW ? 0u : f->under[parent];
    if (parent != NO_ROW && s->trace->spans.kind[parent] == SPAN_OP) {
        unsigned of = f->names[s->trace->spans.name[parent]];
        under |= (of & RULE_FILLS) != 0 ? UNDER_FILL : 0u;
        /* Until 2021 ranges were operators. */
        bool is_range = (s->names.traits[s->trace->spans.name[parent]] &
                         (NAME_STEP | NAME_RANGE)) != 0;
        under |= is_range ? 0u : UNDER_OPERATOR;
    }
    under |= (f->names[name] & RULE_ZERO_GRAD) != 0 ? UNDER_ZERO_GRAD : 0u;
    under |= s->names.blame[name] == BLAME_DATALOADER ? UNDER_LOADER : 0u;
    return (uint8_t)under;
}

static void find_launched(const struct rule_facts *f, uint8_t *launched)
{
    const struct trace_study *s = f->study;
    const struct spans *spans = &s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        if (!span_is_work(spans->kind[row]))
            continue;
        bool is_copy = (f->names[spans->name[row]] & RULE_TO_DEVICE) != 0;
        unsigned what = LAUNCHED_ANY | (is_copy ? LAUNCHED_COPY : 0u);
        for (uint32_t at = s->links.owner[row]; at != NO_ROW && (launched[at] & what) != what;
             at = s->host.parent[at])
            launched[at] = (uint8_t)(launched[at] | what);
    }
}

static void look_at(struct rule_facts *f, struct siblings *siblings, uint32_t row,
                    const uint8_t *launched)
{
    const struct trace_study *s = f->study;
    const struct spans *spans = &s->trace->spans;
    uint32_t parent = s->host.parent[row];
    bool is_optimizer = (f->names[spans->name[row]] & RULE_OPTIMIZER) != 0;
    f->under[row] = under_of(f, row);
    if (f->optimizer_of != NULL)
        f->optimizer_of[row] = is_optimizer       ? row
                               : parent != NO_ROW ? f->optimizer_of[parent]
                                                  : NO_ROW;
    if (spans->kind[row] != SPAN_OP)
        return;
    if ((f->under[row] & UNDER_LOADER) == 0) /* a dataset gives its samples one by one */
        add_select(f, siblings, row);
    add_pair(f, siblings, row, launched);
}

/* Left NULL where no step of an optimizer was recorded: it has a number for each span. */
static bool optimizers_begin(struct rule_facts *f)
{
    const struct trace *t = f->study->trace;
    bool has_one = false;
    for (uint32_t id = 0; id < t->strings.rows.len; id++)
        has_one = has_one || (f->names[id] & RULE_OPTIMIZER) != 0;
    if (!has_one)
        return true;
    f->optimizer_of = arena_array(f->arena, uint32_t, t->spans.rows.len);
    for (uint32_t i = 0; f->optimizer_of != NULL && i < t->spans.rows.len; i++)
        f->optimizer_of[i] = NO_ROW;
    return f->optimizer_of != NULL;
}

bool rule_trees_find(struct rule_facts *f)
{
    const struct trace_study *s = f->study;
    const struct forest *host = &s->host;
    uint32_t spans = s->trace->spans.rows.len;
    f->under = arena_array(f->arena, uint8_t, spans);
    if (!optimizers_begin(f))
        return false;
    struct arena_mark mark = arena_mark(f->arena);
    struct level *level = arena_array(f->arena, struct level, (size_t)host->max_depth + 1);
    uint8_t *launched = arena_array(f->arena, uint8_t, spans);
    if (f->under == NULL || level == NULL || launched == NULL)
        return false;
    find_launched(f, launched);
    for (uint32_t track = 0; track < host->threads; track++) {
        uint32_t depth = 0;
        level[0].siblings = no_siblings;
        for (uint32_t i = host->first[track]; i < host->first[track + 1]; i++) {
            uint32_t row = host->row[i], parent = host->parent[row];
            while (depth > 0 && level[depth - 1].row != parent)
                depth--;
            look_at(f, &level[depth].siblings, row, launched);
            level[depth++].row = row;
            level[depth].siblings = no_siblings;
        }
    }
    arena_release(f->arena, mark);
    return true;
}
