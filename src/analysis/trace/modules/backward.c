/* backward.c - follows the arrows `fwdbwd` from one thread to the other, or numbers of nodes. */
#include "analysis/trace/modules/backward.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/study/flows.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

/* Of several beginnings of one id the last in the file counts. */
static bool starts_index(const struct trace *t, struct idtab *starts)
{
    const struct flows *f = &t->flows;
    for (uint32_t row = 0; row < f->rows.len; row++)
        if (f->finish[row] == 0 && flow_joins_backward(t, row) && !flow_start_add(f, starts, row))
            return false;
    return true;
}

/* The operators of each thread: the innermost of those that begin at one moment. */
struct beginnings {
    const struct spans *s;
    const struct forest *f;
    uint32_t *op; /* of each place of the forest: the last operator up to it of the same begin */
};

static bool beginnings_make(const struct spans *s, const struct forest *f, struct arena *arena,
                            struct beginnings *ret)
{
    *ret = (struct beginnings){ s, f, arena_array(arena, uint32_t, f->first[f->threads]) };
    if (ret->op == NULL)
        return false;
    for (uint32_t thread = 0; thread < f->threads; thread++) {
        for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
            uint32_t row = f->row[i];
            bool again = i > f->first[thread] && s->start[f->row[i - 1]] == s->start[row];
            ret->op[i] = s->kind[row] == SPAN_OP ? row : again ? ret->op[i - 1] : NO_ROW;
        }
    }
    return true;
}

static uint32_t op_beginning_at(const struct beginnings *b, uint32_t thread, int64_t moment)
{
    uint32_t low = b->f->first[thread], high = b->f->first[thread + 1], first = low;
    while (low < high) { /* behind the last that begins at the moment or before */
        uint32_t middle = low + (high - low) / 2;
        if (b->s->start[b->f->row[middle]] <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == first || b->s->start[b->f->row[low - 1]] != moment)
        return NO_ROW;
    return b->op[low - 1];
}

/* autograd::engine::evaluate_function around it, where it is there. */
static uint32_t wrapper_of(const struct trace *t, const struct forest *f, uint32_t op)
{
    uint32_t parent = f->parent[op];
    bool is_wrapped =
        parent != NO_ROW && str_starts(trace_text(t, t->spans.name[parent]),
                                       S("autograd::engine::evaluate_function: "));
    return is_wrapped ? parent : op;
}

static void follow_all(const struct trace *t, const struct idtab *starts,
                       const struct beginnings *b, uint32_t *forward)
{
    const struct flows *f = &t->flows;
    for (uint32_t i = 0; i < f->rows.len; i++) {
        if (f->finish[i] == 0 || !flow_joins_backward(t, i))
            continue;
        uint32_t start = flow_start_find(f, starts, i);
        if (start == NO_ROW)
            continue;
        uint32_t from = op_beginning_at(b, f->track[start], f->time[start]);
        uint32_t to = op_beginning_at(b, f->track[i], f->time[i]);
        if (from == NO_ROW || to == NO_ROW || from == to)
            continue;
        to = wrapper_of(t, b->f, to);
        if (forward[to] == NO_ROW)
            forward[to] = from;
    }
}

/* By numbers.  Each thread counts its nodes, so a number that operators of two threads have tells
 * nothing; of those of one thread the last is the node's, since what makes no node has the number
 * of the next that does. */

struct by_number {
    struct idtab index; /* rows plus 1 of operators of the forward pass, by their number */
    bool *is_shared;    /* of each span in it: its number is one of another thread, too */
};

static bool is_numbered(const struct spans *s, uint32_t row, bool of_backward)
{
    return s->kind[row] == SPAN_OP && s->sequence[row] != TRACE_NO_SEQUENCE &&
           (s->forward_thread[row] != 0) == of_backward;
}

/* The slot of a number, or the free one where it would be. */
static uint32_t slot_of(const struct spans *s, const struct idtab *index, uint32_t sequence)
{
    uint64_t hash = hash_u64(sequence);
    uint32_t at = idtab_first(index, hash);
    while (index->slot[at].id != 0 && s->sequence[index->slot[at].id - 1] != sequence)
        at = idtab_next(index, hash, at);
    return at;
}

static bool numbers_index(const struct spans *s, struct by_number *n)
{
    for (uint32_t row = 0; row < s->rows.len; row++) {
        if (!is_numbered(s, row, false))
            continue;
        if (!idtab_reserve(&n->index))
            return false;
        uint32_t at = slot_of(s, &n->index, s->sequence[row]), there = n->index.slot[at].id;
        if (there == 0) {
            idtab_put(&n->index, hash_u64(s->sequence[row]), row + 1);
        } else if (s->track[there - 1] != s->track[row]) {
            n->is_shared[there - 1] = true;
        } else if (s->start[row] >= s->start[there - 1]) {
            n->is_shared[row] = n->is_shared[there - 1];
            n->index.slot[at].id = row + 1;
        }
    }
    return true;
}

static bool follow_numbers(const struct trace *t, const struct forest *f, struct arena *arena,
                           uint32_t *forward)
{
    const struct spans *s = &t->spans;
    struct arena_mark mark = arena_mark(arena);
    struct by_number n = { .is_shared = arena_array(arena, bool, s->rows.len) };
    bool ok = n.is_shared != NULL && numbers_index(s, &n);
    for (uint32_t row = 0; row < s->rows.len && ok && n.index.slot != NULL; row++) {
        if (!is_numbered(s, row, true))
            continue;
        uint32_t from = n.index.slot[slot_of(s, &n.index, s->sequence[row])].id;
        if (from == 0 || n.is_shared[from - 1] || s->start[from - 1] >= s->start[row])
            continue;
        uint32_t to = wrapper_of(t, f, row);
        if (forward[to] == NO_ROW)
            forward[to] = from - 1;
    }
    idtab_free(&n.index);
    arena_release(arena, mark);
    return ok;
}

bool backward_find(const struct trace_study *s, const struct forest *f, struct arena *arena,
                   uint32_t **ret)
{
    struct idtab starts = { .slot = NULL };
    struct beginnings b;
    uint32_t spans = s->trace->spans.rows.len;
    uint32_t *forward = arena_array(arena, uint32_t, spans);
    if (forward == NULL)
        return false;
    for (uint32_t i = 0; i < spans; i++)
        forward[i] = NO_ROW;
    bool ok = starts_index(s->trace, &starts) && beginnings_make(&s->trace->spans, f, arena, &b);
    if (ok && starts.used > 0)
        follow_all(s->trace, &starts, &b, forward);
    else if (ok)
        ok = follow_numbers(s->trace, f, arena, forward);
    idtab_free(&starts);
    *ret = forward;
    return ok;
}

/* Parents stand before their children. */
void backward_spread(const struct forest *f, uint32_t *forward)
{
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row];
        if (forward[row] == NO_ROW && parent != NO_ROW)
            forward[row] = forward[parent];
    }
}
