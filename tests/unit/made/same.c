#include "made/same.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/table.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"

/* What the numbers of a column stand for. */
enum meaning { PLAIN, STRING, STACK, CONTEXT, POOL, STREAM, RUN, HISTORY };

/* All columns that are not plain; a run's first row says nothing where the run is empty. */
static const struct {
    const char *table, *column;
    enum meaning meaning;
} meanings[] = {
    { "devices", "first_segment", RUN }, { "devices", "first_block", RUN },
    { "devices", "first_event", RUN },   { "devices", "first_allocation", RUN },
    { "segments", "stream", STREAM },    { "segments", "pool", POOL },
    { "segments", "stack", STACK },      { "segments", "forward_stack", STACK },
    { "segments", "first_block", RUN },  { "blocks", "stack", STACK },
    { "blocks", "context", CONTEXT },    { "blocks", "first_history", HISTORY },
    { "events", "stream", STREAM },      { "events", "stack", STACK },
    { "events", "context", CONTEXT },    { "marks", "name", STRING },
    { "settings", "name", STRING },      { "settings", "text", STRING },
};

static enum meaning meaning_of(const char *table, const char *column)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].table, table) == 0 && strcmp(meanings[i].column, column) == 0)
            return meanings[i].meaning;
    return PLAIN;
}

struct both {
    const struct recording *a, *b;
    uint32_t *stack; /* of a: the stack of b known to be the same, plus 1 */
};

static bool same_string(const struct both *r, uint64_t a, uint64_t b)
{
    return str_equal(strings_text(&r->a->code.strings, (string_id){ (uint32_t)a }),
                     strings_text(&r->b->code.strings, (string_id){ (uint32_t)b }));
}

static bool same_frame(const struct both *r, frame_id a, frame_id b)
{
    struct frame f = frames_get(&r->a->code.frames, a), g = frames_get(&r->b->code.frames, b);
    const struct fx_nodes *x = &r->a->code.fx_nodes, *y = &r->b->code.fx_nodes;
    return same_string(r, f.name.n, g.name.n) && same_string(r, f.file.n, g.file.n) &&
           f.line == g.line && same_string(r, x->op[f.fx], y->op[g.fx]) &&
           same_string(r, x->name[f.fx], y->name[g.fx]) &&
           same_string(r, x->target[f.fx], y->target[g.fx]) &&
           same_string(r, x->info[f.fx], y->info[g.fx]) &&
           same_string(r, x->original_trace[f.fx], y->original_trace[g.fx]);
}

static bool same_stack(const struct both *r, uint64_t a, uint64_t b)
{
    stack_id s = { (uint32_t)a }, t = { (uint32_t)b };
    while (s.n != 0 && t.n != 0) {
        if (r->stack[s.n] != 0)
            return r->stack[s.n] == t.n + 1;
        if (!same_frame(r, stacks_frame(&r->a->code.stacks, s),
                        stacks_frame(&r->b->code.stacks, t)))
            return false;
        r->stack[s.n] = t.n + 1; /* their callers are looked at next */
        s = stacks_caller(&r->a->code.stacks, s);
        t = stacks_caller(&r->b->code.stacks, t);
    }
    return s.n == t.n;
}

static bool same_pool(const struct both *r, uint64_t a, uint64_t b)
{
    return r->a->pools.first[a] == r->b->pools.first[b] &&
           r->a->pools.second[a] == r->b->pools.second[b];
}

static bool same_context(const struct both *r, uint64_t a, uint64_t b)
{
    const struct contexts *c = &r->a->contexts, *d = &r->b->contexts;
    return same_string(r, c->compile_context[a], d->compile_context[b]) &&
           same_string(r, c->user_metadata[a], d->user_metadata[b]) &&
           same_string(r, c->internal_metadata[a], d->internal_metadata[b]) &&
           same_string(r, c->category[a], d->category[b]) &&
           same_string(r, c->action[a], d->action[b]) && same_pool(r, c->pool[a], d->pool[b]) &&
           same_stack(r, c->forward_stack[a], d->forward_stack[b]);
}

/* The run of history that begins at `a` and at `b`; how long it is, another column says. */
static bool same_history(const struct both *r, uint32_t block)
{
    const struct history *h = &r->a->history, *k = &r->b->history;
    for (uint32_t i = 0; i < r->a->blocks.histories[block]; i++) {
        uint32_t a = r->a->blocks.first_history[block] + i;
        uint32_t b = r->b->blocks.first_history[block] + i;
        if (i >= r->b->blocks.histories[block] || h->address[a] != k->address[b] ||
            h->real_size[a] != k->real_size[b] || !same_stack(r, h->stack[a], k->stack[b]) ||
            !same_string(r, h->cpp_frames[a], k->cpp_frames[b]))
            return false;
    }
    return true;
}

static bool same_value(const struct both *r, enum meaning meaning, uint64_t a, uint64_t b,
                       uint32_t row)
{
    switch (meaning) {
    case STRING:
        return same_string(r, a, b);
    case STACK:
        return same_stack(r, a, b);
    case CONTEXT:
        return same_context(r, a, b);
    case POOL:
        return same_pool(r, a, b);
    case STREAM:
        return r->a->streams.handle[a] == r->b->streams.handle[b];
    case HISTORY:
        return same_history(r, row);
    case PLAIN:
    case RUN:
        break;
    }
    return a == b;
}

static uint64_t cell(const void *table, const struct column *column, uint32_t row)
{
    const char *const *at = (const void *)((const char *)table + column->offset);
    size_t width = column_width(column->type);
    uint64_t value = 0;
    memcpy(&value, *at + row * width, width);
    return value;
}

static void same_column(const struct both *r, const struct table_place *place, uint32_t c)
{
    const struct column *column = &place->kind->column[c];
    const void *a = (const char *)r->a + place->offset, *b = (const char *)r->b + place->offset;
    enum meaning meaning = meaning_of(place->kind->name, column->name);
    uint32_t rows = ((const struct table *)a)->len;
    for (uint32_t i = 0; i < rows; i++) {
        /* The length of a run is the column behind its first row. */
        if (meaning == RUN && cell(a, column + 1, i) == 0)
            continue;
        uint64_t left = cell(a, column, i), right = cell(b, column, i);
        if (!same_value(r, meaning, left, right, i))
            fail_msg("%s.%s, row %u: %llu and %llu", place->kind->name, column->name, i,
                     (unsigned long long)left, (unsigned long long)right);
    }
}

static uint64_t unknown_actions(const struct recording *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->tallies.rows.len; i++)
        sum += r->tallies.kind[i] == TALLY_UNKNOWN_ACTION ? r->tallies.count[i] : 0;
    return sum;
}

void same_recording(const struct recording *a, const struct recording *b)
{
    static const struct table_kind *const kinds[] = { &devices_kind,    &segments_kind,
                                                      &blocks_kind,     &events_kind,
                                                      &marks_kind,      &settings_kind,
                                                      &allocations_kind };
    struct both r = { a, b, calloc(a->code.stacks.rows.len, sizeof *r.stack) };
    assert_non_null(r.stack);
    for (uint32_t i = 0; i < recording_table_count; i++) {
        const struct table_place *place = &recording_tables[i];
        bool compared = false;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            compared = compared || kinds[k] == place->kind;
        if (!compared)
            continue;
        const struct table *left = (const void *)((const char *)a + place->offset);
        const struct table *right = (const void *)((const char *)b + place->offset);
        if (left->len != right->len)
            fail_msg("%s: %u and %u rows", place->kind->name, left->len, right->len);
        for (uint32_t c = 0; c < place->kind->columns; c++)
            same_column(&r, place, c);
    }
    assert_int_equal(unknown_actions(a), unknown_actions(b));
    free(r.stack);
}
