/* trace_ranks.c - steps by number, collectives by name and order, over all ranks. */
#include "analysis/trace/ranks/trace_ranks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/statistics.h"

/* A step, or a collective, of a rank. */
struct met {
    str name; /* of a collective */
    int64_t step;
    uint32_t order, rank; /* the latter: a row */
    int64_t ns;
};

static int by_place(const void *a, const void *b)
{
    const struct met *x = a, *y = b;
    int names = str_compare(x->name, y->name);
    if (names != 0)
        return names;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The same with all ranks of one call side by side. */
static int by_call(const void *a, const void *b)
{
    const struct met *x = a, *y = b;
    int names = str_compare(x->name, y->name);
    if (names != 0)
        return names;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool is_call(const struct met *a, const struct met *b)
{
    return a->step == b->step && a->order == b->order && str_equal(a->name, b->name);
}

/* Ranks. */

static int by_rank(const void *a, const void *b)
{
    const struct rank_unit *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return str_compare(x->path, y->path);
}

static int64_t median_step(const struct rank_part *part, double *room)
{
    for (uint32_t i = 0; i < part->steps; i++)
        room[i] = (double)part->step[i].ns;
    statistics_sort(room, part->steps);
    return part->steps == 0 ? 0 : i64_of_double(statistics_median(room, part->steps));
}

static bool add_rows(const struct rank_unit *unit, uint32_t units, struct arena *arena,
                     struct trace_ranks *ret)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < units; i++)
        most = unit[i].part->steps > most ? unit[i].part->steps : most;
    ret->row = arena_array(arena, struct trace_rank_row, units);
    struct arena_mark mark = arena_mark(arena);
    double *room = arena_array(arena, double, most);
    if (ret->row == NULL || room == NULL)
        return false;
    for (uint32_t i = 0; i < units; i++) {
        const struct rank_part *part = unit[i].part;
        ret->row[ret->rows++] = (struct trace_rank_row){
            .path = unit[i].path,
            .process = part->process,
            .rank = unit[i].rank,
            .steps = part->steps,
            .median_step_ns = median_step(part, room),
            .communication_ns = part->communication_ns,
            .exposed_communication_ns = part->exposed_communication_ns,
            .waiting = -1,
        };
    }
    arena_release(arena, mark);
    return true;
}

/* Steps. */

static void add_step(struct trace_ranks *r, const struct met *met, uint32_t count)
{
    struct trace_rank_step_row *row = &r->step[r->steps++];
    *row = (struct trace_rank_step_row){ .number = met[0].step,
                                         .shortest_ns = met[0].ns,
                                         .longest_ns = met[0].ns,
                                         .slowest = r->row[met[0].rank].rank };
    uint32_t slowest = met[0].rank;
    for (uint32_t i = 0; i < count; i++) {
        row->ranks += i == 0 || met[i].rank != met[i - 1].rank;
        if (met[i].ns < row->shortest_ns)
            row->shortest_ns = met[i].ns;
        if (met[i].ns > row->longest_ns) {
            row->longest_ns = met[i].ns;
            slowest = met[i].rank;
        }
    }
    row->slowest = r->row[slowest].rank;
    row->skew_ns = row->longest_ns - row->shortest_ns;
    r->row[slowest].slowest += row->skew_ns > 0;
}

static bool steps_compare(const struct rank_unit *unit, uint32_t units, struct arena *arena,
                          struct trace_ranks *r)
{
    size_t all = 0, len = 0;
    for (uint32_t i = 0; i < units; i++)
        all += unit[i].part->steps;
    r->step = arena_array(arena, struct trace_rank_step_row, all);
    struct arena_mark mark = arena_mark(arena);
    struct met *met = arena_array(arena, struct met, all);
    if (r->step == NULL || met == NULL)
        return false;
    for (uint32_t i = 0; i < units; i++)
        for (uint32_t k = 0; k < unit[i].part->steps; k++)
            met[len++] = (struct met){ .name = S(""),
                                       .step = unit[i].part->step[k].number,
                                       .order = k,
                                       .rank = i,
                                       .ns = unit[i].part->step[k].ns };
    if (len > 0)
        qsort(met, len, sizeof *met, by_place);
    for (size_t i = 0, end; i < len; i = end) {
        for (end = i + 1; end < len && met[end].step == met[i].step; end++)
            ;
        add_step(r, met + i, (uint32_t)(end - i));
    }
    arena_release(arena, mark);
    return true;
}

/* Collectives. */

/* Collectives of one name in a step of a rank stand side by side, in the order of time. */
static void number_calls(struct met *met, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool goes_on = i > 0 && met[i].rank == met[i - 1].rank && met[i].step == met[i - 1].step &&
                       str_equal(met[i].name, met[i - 1].name);
        met[i].order = goes_on ? met[i - 1].order + 1 : 0;
    }
}

/* One call on all ranks: each waited as much longer as it was in it than the last that came. */
static void add_call(struct trace_ranks *r, struct trace_rank_collective_row *row,
                     const struct met *met, uint32_t ranks)
{
    int64_t shortest = met[0].ns;
    for (uint32_t i = 0; i < ranks; i++)
        shortest = met[i].ns < shortest ? met[i].ns : shortest;
    row->calls++;
    for (uint32_t i = 0; i < ranks; i++) {
        struct trace_rank_row *rank = &r->row[met[i].rank];
        int64_t waiting = met[i].ns - shortest;
        rank->collective_ns = i64_plus(rank->collective_ns, met[i].ns);
        rank->waiting_ns = i64_plus(rank->waiting_ns, waiting);
        row->ns = i64_plus(row->ns, met[i].ns);
        row->waiting_ns = i64_plus(row->waiting_ns, waiting);
        if (waiting > row->most_waiting_ns)
            row->most_waiting_ns = waiting;
    }
}

static int by_waiting(const void *a, const void *b)
{
    const struct trace_rank_collective_row *x = a, *y = b;
    if (x->waiting_ns != y->waiting_ns)
        return x->waiting_ns > y->waiting_ns ? -1 : 1;
    return str_compare(x->name, y->name);
}

static void match_calls(struct trace_ranks *r, const struct met *met, size_t len)
{
    for (size_t i = 0, end; i < len; i = end) {
        for (end = i + 1; end < len && is_call(&met[end], &met[i]); end++)
            ;
        if (end - i != r->rows) {
            r->unmatched += end - i;
            continue;
        }
        struct trace_rank_collective_row *last =
            r->collectives > 0 ? &r->collective[r->collectives - 1] : NULL;
        if (last == NULL || !str_equal(last->name, met[i].name)) {
            last = &r->collective[r->collectives++];
            *last = (struct trace_rank_collective_row){ .name = met[i].name };
        }
        add_call(r, last, met + i, r->rows);
    }
    if (r->collectives > 0)
        qsort(r->collective, r->collectives, sizeof *r->collective, by_waiting);
}

static bool collectives_compare(const struct rank_unit *unit, uint32_t units, struct arena *arena,
                                struct trace_ranks *r)
{
    size_t all = 0, len = 0;
    for (uint32_t i = 0; i < units; i++)
        all += unit[i].part->collectives;
    r->collective = arena_array(arena, struct trace_rank_collective_row, all);
    struct arena_mark mark = arena_mark(arena);
    struct met *met = arena_array(arena, struct met, all);
    if (r->collective == NULL || met == NULL)
        return false;
    for (uint32_t i = 0; i < units; i++)
        for (uint32_t k = 0; k < unit[i].part->collectives; k++) {
            const struct rank_part_collective *c = &unit[i].part->collective[k];
            met[len++] = (struct met){ c->name, c->step, k, i, c->ns };
        }
    if (len > 0) {
        qsort(met, len, sizeof *met, by_place);
        number_calls(met, len);
        qsort(met, len, sizeof *met, by_call);
        match_calls(r, met, len);
    }
    for (uint32_t i = 0; i < r->rows; i++)
        if (r->row[i].collective_ns > 0)
            r->row[i].waiting =
                (double)r->row[i].waiting_ns / (double)r->row[i].collective_ns;
    arena_release(arena, mark);
    return true;
}

bool trace_ranks_make(const struct rank_unit *unit, uint32_t units, static_text by,
                      struct arena *arena, struct trace_ranks *ret)
{
    *ret = (struct trace_ranks){ .by = by };
    struct rank_unit *sorted = arena_array(arena, struct rank_unit, units);
    if (sorted == NULL)
        return false;
    for (uint32_t i = 0; i < units; i++)
        sorted[i] = unit[i];
    qsort(sorted, units, sizeof *sorted, by_rank);
    return add_rows(sorted, units, arena, ret) && steps_compare(sorted, units, arena, ret) &&
           collectives_compare(sorted, units, arena, ret);
}
