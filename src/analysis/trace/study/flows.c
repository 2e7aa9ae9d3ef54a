/* flows.c - ends of flows by hash, operators by binary search over the changes of the innermost. */
#include "analysis/trace/study/flows.h"

#include <stddef.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/table.h"

/* The ends. */

/* From an operator to what it had a device do.  Of Ascend's two arrows at one event, HostToDevice
 * comes from a call of its runtime, in which no operator lies. */
static bool carries_work(str category)
{
    return str_equal(category, S("ac2g")) || str_equal(category, S("async")) ||
           str_equal(category, S("async_gpu")) || str_equal(category, S("async_npu")) ||
           str_equal(category, S("async_cpu_to_gpu"));
}

bool flow_joins_backward(const struct trace *t, uint32_t row)
{
    str category = trace_text(t, t->flows.category[row]);
    return str_equal(category, S("fwdbwd")) || str_equal(category, S("forward_backward"));
}

static uint64_t hash_start(const struct flows *f, uint32_t row)
{
    return hash_pair(hash_pair((uint64_t)f->id[row], f->id_form[row]), f->category[row]);
}

static bool same_start(const struct flows *f, uint32_t a, uint32_t b)
{
    return f->category[a] == f->category[b] && f->id[a] == f->id[b] &&
           f->id_form[a] == f->id_form[b];
}

static uint64_t hash_finish(uint32_t process, int64_t time)
{
    return hash_pair((uint64_t)time, process);
}

bool flow_start_add(const struct flows *f, struct idtab *index, uint32_t row)
{
    if (!idtab_reserve(index))
        return false;
    uint64_t hash = hash_start(f, row);
    uint32_t at = idtab_first(index, hash);
    for (; index->slot[at].id != 0; at = idtab_next(index, hash, at))
        if (same_start(f, index->slot[at].id - 1, row))
            break;
    if (index->slot[at].id != 0)
        index->slot[at].id = row + 1;
    else
        idtab_put(index, hash, row + 1);
    return true;
}

uint32_t flow_start_find(const struct flows *f, const struct idtab *index, uint32_t row)
{
    uint64_t hash = hash_start(f, row);
    if (index->slot == NULL)
        return NO_ROW;
    for (uint32_t at = idtab_first(index, hash); index->slot[at].id != 0;
         at = idtab_next(index, hash, at))
        if (same_start(f, index->slot[at].id - 1, row))
            return index->slot[at].id - 1;
    return NO_ROW;
}

static uint32_t finish_find(const struct trace *t, const struct idtab *index, uint32_t process,
                            int64_t time)
{
    const struct flows *f = &t->flows;
    uint64_t hash = hash_finish(process, time);
    if (index->slot == NULL)
        return NO_ROW;
    for (uint32_t at = idtab_first(index, hash); index->slot[at].id != 0;
         at = idtab_next(index, hash, at)) {
        uint32_t row = index->slot[at].id - 1;
        if (f->time[row] == time && t->tracks.process[f->track[row]] == process)
            return row;
    }
    return NO_ROW;
}

bool flow_ends_index(const struct trace *t, struct flow_ends *ret)
{
    const struct flows *f = &t->flows;
    for (uint32_t row = 0; row < f->rows.len; row++) {
        if (!carries_work(trace_text(t, f->category[row])))
            continue;
        if (!f->finish[row]) {
            if (!flow_start_add(f, &ret->starts, row))
                return false;
            continue;
        }
        uint32_t process = t->tracks.process[f->track[row]];
        if (finish_find(t, &ret->finishes, process, f->time[row]) != NO_ROW)
            continue;
        if (!idtab_reserve(&ret->finishes))
            return false;
        idtab_put(&ret->finishes, hash_finish(process, f->time[row]), row + 1);
    }
    return true;
}

void flow_ends_free(struct flow_ends *ends)
{
    idtab_free(&ends->starts);
    idtab_free(&ends->finishes);
}

/* Operators by time. */

/* Trees of operators alone: in those of all host events, one that another kind of event overlaps is
 * not around what comes later. */
static bool nest_ops(const struct trace_study *s, struct arena *arena, struct forest *ret)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t *track = arena_array(arena, uint32_t, spans->rows.len);
    if (track == NULL)
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        track[row] = spans->kind[row] == SPAN_OP ? spans->track[row] : NO_ROW;
    return forest_make(s->trace, s->sorted, track, arena, ret);
}

struct changes {
    const struct spans *spans;
    struct op_times *times;
    uint32_t len;
    uint32_t *open; /* operators that run, the innermost last */
    uint32_t depth;
};

static void change_at(struct changes *c, int64_t moment)
{
    uint32_t op = c->depth > 0 ? c->open[c->depth - 1] : NO_ROW;
    c->times->at[c->len++] = (struct op_change){ moment, op };
}

static void end_until(struct changes *c, int64_t moment)
{
    while (c->depth > 0 && span_end(c->spans, c->open[c->depth - 1]) <= moment) {
        int64_t end = span_end(c->spans, c->open[c->depth - 1]);
        c->depth--;
        change_at(c, end);
    }
}

static void add_changes(struct changes *c, const struct forest *f, uint32_t thread)
{
    c->depth = 0;
    for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
        uint32_t row = f->row[i];
        end_until(c, c->spans->start[row]);
        while (c->depth > 0 && c->open[c->depth - 1] != f->parent[row])
            c->depth--;
        c->open[c->depth++] = row;
        change_at(c, c->spans->start[row]);
    }
    end_until(c, INT64_MAX);
}

bool op_times_make(const struct trace_study *s, struct arena *arena, struct op_times *ret)
{
    struct forest f;
    size_t spans = s->trace->spans.rows.len, threads = s->trace->tracks.rows.len;
    /* An operator changes who is the innermost when it begins and when it ends. */
    *ret = (struct op_times){ .first = arena_array(arena, uint32_t, threads + 1) };
    if (ret->first == NULL || !nest_ops(s, arena, &f))
        return false;
    ret->at = arena_array(arena, struct op_change, (size_t)f.first[threads] * 2);
    struct changes c = { .spans = &s->trace->spans,
                         .times = ret,
                         .open = arena_array(arena, uint32_t, spans) };
    if (ret->at == NULL || c.open == NULL)
        return false;
    for (uint32_t thread = 0; thread < threads; thread++) {
        ret->first[thread] = c.len;
        add_changes(&c, &f, thread);
    }
    ret->first[threads] = c.len;
    return true;
}

/* The innermost operator of a thread at an instant. */
static uint32_t op_at(const struct spans *s, const struct op_times *ops, uint32_t thread,
                      int64_t moment)
{
    uint32_t low = ops->first[thread], high = ops->first[thread + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ops->at[middle].moment <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ops->first[thread])
        return NO_ROW;
    /* An empty operator holds its own instant; its end is the change behind it. */
    if (low - 1 > ops->first[thread]) {
        const struct op_change *before = &ops->at[low - 2];
        if (before->moment == moment && before->op != NO_ROW && s->duration[before->op] == 0)
            return before->op;
    }
    return ops->at[low - 1].op;
}

uint32_t owner_by_flow(const struct trace *t, const struct flow_ends *ends,
                       const struct op_times *ops, uint32_t row)
{
    uint32_t process = t->tracks.process[t->spans.track[row]];
    uint32_t finish = finish_find(t, &ends->finishes, process, t->spans.start[row]);
    uint32_t start = finish == NO_ROW ? NO_ROW : flow_start_find(&t->flows, &ends->starts, finish);
    return start == NO_ROW ? NO_ROW
                           : op_at(&t->spans, ops, t->flows.track[start], t->flows.time[start]);
}
