/* links.c - device work to the host code that it is owed to, by the rungs of a ladder. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

const char *const rung_names[RUNGS] = {
    [RUNG_EXTERNAL_ID] = "external_id",
    [RUNG_LAUNCH_NESTING] = "launch_nesting",
    [RUNG_FLOW] = "flow",
    [RUNG_NONE] = "none",
};

/* Spans by a number of theirs: the first in the file of each. */
struct lookup {
    struct idtab index; /* rows plus 1 */
    const int64_t *value;
    const uint8_t *form;
};

static uint64_t hash_id(int64_t value, uint8_t form)
{
    return hash_pair((uint64_t)value, form);
}

static uint32_t lookup_find(const struct lookup *l, int64_t value, uint8_t form)
{
    if (form == ID_NONE || l->index.slot == NULL)
        return NO_ROW;
    uint64_t hash = hash_id(value, form);
    for (uint32_t at = idtab_first(&l->index, hash); l->index.slot[at].id != 0;
         at = idtab_next(&l->index, hash, at)) {
        uint32_t row = l->index.slot[at].id - 1;
        if (l->value[row] == value && l->form[row] == form)
            return row;
    }
    return NO_ROW;
}

static bool lookup_add(struct lookup *l, uint32_t row)
{
    if (l->form[row] == ID_NONE || lookup_find(l, l->value[row], l->form[row]) != NO_ROW)
        return true;
    if (!idtab_reserve(&l->index))
        return false;
    idtab_put(&l->index, hash_id(l->value[row], l->form[row]), row + 1);
    return true;
}

/* The operator or range of the same external id, which 0 is none of. */
static uint32_t owner_by_id(const struct spans *s, const struct lookup *by_external, uint32_t row)
{
    bool is_none = s->external_form[row] == ID_NUMBER && s->external[row] == 0;
    return is_none ? NO_ROW : lookup_find(by_external, s->external[row], s->external_form[row]);
}

/* The ends of flows. */

struct flow_lookup {
    struct idtab starts;   /* by category and id: the last in the file */
    struct idtab finishes; /* by process and time: the first */
};

/* From an operator to what it had a device do.  Of Ascend's two arrows at one event, HostToDevice
 * comes from a call of its runtime, in which no operator lies. */
static bool carries_work(str category)
{
    return str_equal(category, S("ac2g")) || str_equal(category, S("async")) ||
           str_equal(category, S("async_gpu")) || str_equal(category, S("async_npu")) ||
           str_equal(category, S("async_cpu_to_gpu"));
}

static uint64_t hash_start(const struct flows *f, uint32_t row)
{
    return hash_pair(hash_id(f->id[row], f->id_form[row]), f->category[row]);
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

static bool start_add(const struct flows *f, struct idtab *index, uint32_t row)
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

static uint32_t start_find(const struct flows *f, const struct idtab *index, uint32_t finish)
{
    uint64_t hash = hash_start(f, finish);
    if (index->slot == NULL)
        return NO_ROW;
    for (uint32_t at = idtab_first(index, hash); index->slot[at].id != 0;
         at = idtab_next(index, hash, at))
        if (same_start(f, index->slot[at].id - 1, finish))
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

static bool flows_index(const struct trace *t, struct flow_lookup *l)
{
    const struct flows *f = &t->flows;
    for (uint32_t row = 0; row < f->rows.len; row++) {
        if (!carries_work(trace_text(t, f->category[row])))
            continue;
        if (!f->finish[row]) {
            if (!start_add(f, &l->starts, row))
                return false;
            continue;
        }
        uint32_t process = t->tracks.process[f->track[row]];
        if (finish_find(t, &l->finishes, process, f->time[row]) != NO_ROW)
            continue;
        if (!idtab_reserve(&l->finishes))
            return false;
        idtab_put(&l->finishes, hash_finish(process, f->time[row]), row + 1);
    }
    return true;
}

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

/* The innermost operator of a host thread that holds an instant; an empty one holds its own. */
static uint32_t innermost_op(const struct spans *spans, const struct forest *f, uint32_t thread,
                             int64_t time)
{
    uint32_t low = f->first[thread], high = f->first[thread + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (spans->start[f->row[middle]] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == f->first[thread])
        return NO_ROW;
    for (uint32_t row = f->row[low - 1]; row != NO_ROW; row = f->parent[row]) {
        bool is_instant = spans->duration[row] == 0 && spans->start[row] == time;
        if (time < span_end(spans, row) || is_instant)
            return row;
    }
    return NO_ROW;
}

/* One device event. */

static uint32_t range_around(const struct trace_study *s, uint32_t row)
{
    const struct spans *spans = &s->trace->spans;
    while (row != NO_ROW && !span_is_range(spans->kind[row]))
        row = s->host.parent[row];
    return row;
}

static uint32_t owner_by_flow(const struct trace_study *s, const struct flow_lookup *l,
                              const struct forest *ops, uint32_t row)
{
    const struct trace *t = s->trace;
    uint32_t process = t->tracks.process[t->spans.track[row]];
    uint32_t finish = finish_find(t, &l->finishes, process, t->spans.start[row]);
    uint32_t start = finish == NO_ROW ? NO_ROW : start_find(&t->flows, &l->starts, finish);
    return start == NO_ROW
               ? NO_ROW
               : innermost_op(&t->spans, ops, t->flows.track[start], t->flows.time[start]);
}

static void count_link(struct trace_study *s, uint32_t row, uint32_t owner, enum rung rung)
{
    struct links *l = &s->links;
    l->owner[row] = owner;
    l->rung[row] = (uint8_t)rung;
    l->events[rung]++;
    l->ns[rung] = i64_plus(l->ns[rung], s->trace->spans.duration[row]);
}

/* By its id or its launch; false where neither tells. */
static bool link_one(struct trace_study *s, const struct lookup *by_external, uint32_t row)
{
    struct links *l = &s->links;
    uint32_t by_id = owner_by_id(&s->trace->spans, by_external, row);
    uint32_t by_nesting = range_around(s, l->launch[row]);
    bool id_first = by_id != NO_ROW && (l->ids_agree || by_nesting == NO_ROW);
    if (id_first)
        count_link(s, row, by_id, RUNG_EXTERNAL_ID);
    else if (by_nesting != NO_ROW)
        count_link(s, row, by_nesting, RUNG_LAUNCH_NESTING);
    return id_first || by_nesting != NO_ROW;
}

/* The `rest` that link_one left, by the flows that end at them. */
static bool link_rest(struct trace_study *s, const struct flow_lookup *flows, uint64_t rest,
                      struct arena *arena)
{
    const struct spans *spans = &s->trace->spans;
    struct arena_mark mark = arena_mark(arena);
    struct forest ops;
    if (rest > 0 && flows->finishes.used > 0 && !nest_ops(s, arena, &ops))
        return false;
    for (uint32_t row = 0; row < spans->rows.len && rest > 0; row++) {
        if (!span_is_work(spans->kind[row]) || s->links.owner[row] != NO_ROW)
            continue;
        uint32_t owner =
            flows->finishes.used > 0 ? owner_by_flow(s, flows, &ops, row) : NO_ROW;
        count_link(s, row, owner, owner != NO_ROW ? RUNG_FLOW : RUNG_NONE);
        rest--;
    }
    arena_release(arena, mark);
    return true;
}

/* All of them. */

struct lookups {
    struct lookup external, correlation;
    struct flow_lookup flows;
};

static bool index_hosts(const struct trace *t, struct lookups *l)
{
    const struct spans *s = &t->spans;
    l->external = (struct lookup){ .value = s->external, .form = s->external_form };
    l->correlation = (struct lookup){ .value = s->correlation, .form = s->correlation_form };
    for (uint32_t row = 0; row < s->rows.len; row++) {
        if (span_is_range(s->kind[row]) && !lookup_add(&l->external, row))
            return false;
        if (span_is_call(s->kind[row]) && !lookup_add(&l->correlation, row))
            return false;
    }
    return true;
}

/* Calls of the runtime run on the thread of the operator whose external id they have. */
static void find_homes(struct trace_study *s, const struct lookup *by_external)
{
    const struct spans *spans = &s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint8_t kind = spans->kind[row];
        uint32_t at = row;
        if (span_is_call(kind)) {
            uint32_t op = owner_by_id(spans, by_external, row);
            at = op != NO_ROW ? op : row;
        }
        s->home[row] = span_is_range(kind) || span_is_call(kind) ? spans->track[at] : NO_ROW;
    }
}

/* A correlation among those of 64 bits: one beyond, which is a text, is below or above them all. */
static int64_t correlation_of(const struct trace *t, uint32_t row)
{
    const struct spans *s = &t->spans;
    if (s->correlation_form[row] == ID_NUMBER)
        return s->correlation[row];
    return str_starts(trace_text(t, (uint32_t)s->correlation[row]), S("-")) ? INT64_MIN : INT64_MAX;
}

/* The smallest correlation of the host; INT64_MIN where there is none. */
static int64_t least_correlation(const struct trace *t)
{
    const struct spans *s = &t->spans;
    int64_t least = INT64_MAX;
    bool found = false;
    for (uint32_t row = 0; row < s->rows.len; row++) {
        if (!span_is_call(s->kind[row]) || s->correlation_form[row] == ID_NONE)
            continue;
        int64_t correlation = correlation_of(t, row);
        found = true;
        if (correlation < least)
            least = correlation;
    }
    return found ? least : INT64_MIN;
}

static void find_launches(struct trace_study *s, const struct lookup *by_correlation)
{
    const struct spans *spans = &s->trace->spans;
    int64_t least = least_correlation(s->trace);
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        s->links.launch[row] = NO_ROW;
        if (!span_is_work(spans->kind[row]))
            continue;
        uint32_t launch =
            lookup_find(by_correlation, spans->correlation[row], spans->correlation_form[row]);
        s->links.launch[row] = launch;
        s->links.with_launch += launch != NO_ROW;
        if (launch == NO_ROW && spans->correlation_form[row] == ID_NUMBER &&
            spans->correlation[row] < least) {
            s->links.before_window++;
            s->links.before_window_ns = i64_plus(s->links.before_window_ns, spans->duration[row]);
        }
    }
}

/* Whether external ids and nesting tell the same, where both tell. */
static void compare_ids(struct trace_study *s, const struct lookup *by_external)
{
    enum { TRUSTED_PERCENT = 95, WHOLE = 100 };
    const struct spans *spans = &s->trace->spans;
    struct links *l = &s->links;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        if (!span_is_work(spans->kind[row]))
            continue;
        uint32_t by_id = owner_by_id(spans, by_external, row);
        uint32_t by_nesting = range_around(s, l->launch[row]);
        if (by_id == NO_ROW || by_nesting == NO_ROW)
            continue;
        l->agree += by_id == by_nesting;
        l->differ += by_id != by_nesting;
    }
    l->ids_agree = l->agree * WHOLE >= (l->agree + l->differ) * TRUSTED_PERCENT;
}

/* How many device events one correlation has at most. */
static bool count_of_a_launch(struct trace_study *s, struct arena *arena)
{
    const struct spans *spans = &s->trace->spans;
    struct lookup first = { .value = spans->correlation, .form = spans->correlation_form };
    struct arena_mark mark = arena_mark(arena);
    uint32_t *count = arena_array(arena, uint32_t, spans->rows.len);
    bool ok = count != NULL;
    for (uint32_t row = 0; row < spans->rows.len && ok; row++) {
        if (!span_is_work(spans->kind[row]) || spans->correlation_form[row] == ID_NONE)
            continue;
        ok = lookup_add(&first, row);
        uint32_t of = lookup_find(&first, spans->correlation[row], spans->correlation_form[row]);
        if (ok && ++count[of] > s->links.most_of_a_launch)
            s->links.most_of_a_launch = count[of];
    }
    idtab_free(&first.index);
    arena_release(arena, mark);
    return ok;
}

static bool link_all(struct trace_study *s, struct arena *arena, struct lookups *l)
{
    const struct spans *spans = &s->trace->spans;
    if (!index_hosts(s->trace, l) || !flows_index(s->trace, &l->flows))
        return false;
    find_homes(s, &l->external);
    if (!forest_make(s->trace, s->sorted, s->home, arena, &s->host))
        return false;
    find_launches(s, &l->correlation);
    compare_ids(s, &l->external);
    uint64_t rest = 0;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        s->links.owner[row] = NO_ROW;
        s->links.rung[row] = RUNG_NONE;
        rest += span_is_work(spans->kind[row]) && !link_one(s, &l->external, row);
    }
    return link_rest(s, &l->flows, rest, arena) && count_of_a_launch(s, arena);
}

bool links_make(struct trace_study *s, struct arena *arena)
{
    uint32_t spans = s->trace->spans.rows.len;
    struct lookups l = { .flows = { .starts.slot = NULL } };
    s->home = arena_array(arena, uint32_t, spans);
    s->links.launch = arena_array(arena, uint32_t, spans);
    s->links.owner = arena_array(arena, uint32_t, spans);
    s->links.rung = arena_array(arena, uint8_t, spans);
    bool ok = s->home != NULL && s->links.launch != NULL && s->links.owner != NULL &&
              s->links.rung != NULL && link_all(s, arena, &l);
    idtab_free(&l.external.index);
    idtab_free(&l.correlation.index);
    idtab_free(&l.flows.starts);
    idtab_free(&l.flows.finishes);
    return ok;
}
