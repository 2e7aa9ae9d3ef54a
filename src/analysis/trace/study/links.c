/* links.c - device work to the host code that it is owed to, by the rungs of a ladder. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/study/flows.h"
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

/* Spans by a number of theirs: the first in the file of each.  Numbers that lie close together, as
 * those that a profiler counts up do, have a place each; the others, and texts, are hashed. */
struct lookup {
    struct idtab index; /* rows plus 1 */
    uint32_t *dense;    /* of each number from `least` on: row plus 1; NULL */
    int64_t least;
    uint64_t numbers;
    const int64_t *value;
    const uint8_t *form;
};

/* Numbers that are close together, by the least and the greatest of `count`. */
static bool lookup_make_dense(struct lookup *l, int64_t least, int64_t most, uint32_t count,
                              struct arena *arena)
{
    enum { SPARSE = 4 };
    uint64_t numbers = (uint64_t)most - (uint64_t)least;
    if (count == 0 || numbers >= (uint64_t)count * SPARSE)
        return true;
    l->least = least;
    l->numbers = numbers + 1;
    l->dense = arena_array(arena, uint32_t, (size_t)l->numbers);
    return l->dense != NULL;
}

/* The place of a number, or NULL. */
static uint32_t *lookup_place(const struct lookup *l, int64_t value, uint8_t form)
{
    uint64_t at = (uint64_t)value - (uint64_t)l->least;
    return l->dense != NULL && form == ID_NUMBER && at < l->numbers ? &l->dense[at] : NULL;
}

/* The spans of some kinds, none of which is in it yet. */
static bool lookup_expect(struct lookup *l, const struct spans *s, bool (*is_one)(uint8_t kind),
                          struct arena *arena)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    uint32_t count = 0;
    for (uint32_t row = 0; row < s->rows.len; row++) {
        if (l->form[row] != ID_NUMBER || !is_one(s->kind[row]))
            continue;
        least = l->value[row] < least ? l->value[row] : least;
        most = l->value[row] > most ? l->value[row] : most;
        count++;
    }
    return lookup_make_dense(l, least, most, count, arena);
}

static uint64_t hash_id(int64_t value, uint8_t form)
{
    return hash_pair((uint64_t)value, form);
}

static uint32_t lookup_find(const struct lookup *l, int64_t value, uint8_t form)
{
    const uint32_t *place = lookup_place(l, value, form);
    if (place != NULL)
        return *place == 0 ? NO_ROW : *place - 1;
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
    uint32_t *place = lookup_place(l, l->value[row], l->form[row]);
    if (place != NULL) {
        *place = row + 1;
        return true;
    }
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

/* One device event. */

static void count_link(struct trace_study *s, uint32_t row, uint32_t owner, enum rung rung)
{
    struct links *l = &s->links;
    l->owner[row] = owner;
    l->rung[row] = (uint8_t)rung;
    l->events[rung]++;
    l->ns[rung] = i64_plus(l->ns[rung], s->trace->spans.duration[row]);
}

/* By its id or its launch, whose range stands as the owner; false where neither tells. */
static bool link_one(struct trace_study *s, const struct lookup *by_external, uint32_t row)
{
    struct links *l = &s->links;
    uint32_t by_id = owner_by_id(&s->trace->spans, by_external, row);
    uint32_t by_nesting = l->owner[row];
    bool id_first = by_id != NO_ROW && (l->ids_agree || by_nesting == NO_ROW);
    if (id_first)
        count_link(s, row, by_id, RUNG_EXTERNAL_ID);
    else if (by_nesting != NO_ROW)
        count_link(s, row, by_nesting, RUNG_LAUNCH_NESTING);
    return id_first || by_nesting != NO_ROW;
}

/* The `rest` that link_one left, by the flows that end at them. */
static bool link_rest(struct trace_study *s, const struct flow_ends *flows, uint64_t rest,
                      struct arena *arena)
{
    const struct spans *spans = &s->trace->spans;
    struct arena_mark mark = arena_mark(arena);
    bool has_flows = flows->finishes.used > 0;
    struct op_times ops;
    if (rest > 0 && has_flows && !op_times_make(s, arena, &ops))
        return false;
    for (uint32_t row = 0; row < spans->rows.len && rest > 0; row++) {
        if (!span_is_work(spans->kind[row]) || s->links.owner[row] != NO_ROW)
            continue;
        uint32_t owner = has_flows ? owner_by_flow(s->trace, flows, &ops, row) : NO_ROW;
        count_link(s, row, owner, owner != NO_ROW ? RUNG_FLOW : RUNG_NONE);
        rest--;
    }
    arena_release(arena, mark);
    return true;
}

/* All of them. */

struct links_index {
    struct arena arena; /* of the lookups */
    struct lookup external, correlation;
    struct flow_ends flows;
};

static bool is_range(uint8_t kind)
{
    return span_is_range(kind);
}

static bool is_call(uint8_t kind)
{
    return span_is_call(kind);
}

static bool is_work(uint8_t kind)
{
    return span_is_work(kind);
}

static bool index_hosts(const struct trace *t, struct links_index *l)
{
    const struct spans *s = &t->spans;
    l->external = (struct lookup){ .value = s->external, .form = s->external_form };
    l->correlation = (struct lookup){ .value = s->correlation, .form = s->correlation_form };
    if (!lookup_expect(&l->external, s, is_range, &l->arena) ||
        !lookup_expect(&l->correlation, s, is_call, &l->arena))
        return false;
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

/* The owner of each device event by its launch alone: the range around that. */
static bool find_ranges(struct trace_study *s, struct arena *arena)
{
    const struct spans *spans = &s->trace->spans;
    const struct forest *f = &s->host;
    struct arena_mark mark = arena_mark(arena);
    uint32_t *range = arena_array(arena, uint32_t, spans->rows.len); /* of host events */
    if (range == NULL)
        return false;
    /* Parents stand before their children. */
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row];
        bool is_range = span_is_range(spans->kind[row]);
        range[row] = is_range ? row : parent != NO_ROW ? range[parent] : NO_ROW;
    }
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t launch = s->links.launch[row];
        s->links.owner[row] = launch != NO_ROW ? range[launch] : NO_ROW;
    }
    arena_release(arena, mark);
    return true;
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
        uint32_t by_nesting = l->owner[row];
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
    bool ok = count != NULL && lookup_expect(&first, spans, is_work, arena);
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

/* What needs no more than the ids. */
static bool index_all(struct trace_study *s, struct links_index *index)
{
    if (!index_hosts(s->trace, index) || !flow_ends_index(s->trace, &index->flows))
        return false;
    find_homes(s, &index->external);
    find_launches(s, &index->correlation);
    return count_of_a_launch(s, &index->arena);
}

bool links_index_make(struct trace_study *s, struct arena *arena, struct links_index **ret)
{
    uint32_t spans = s->trace->spans.rows.len;
    *ret = arena_take(arena, sizeof **ret);
    if (*ret != NULL)
        arena_init(&(*ret)->arena, SIZE_MAX / 2);
    s->home = arena_array(arena, uint32_t, spans);
    s->links.launch = arena_array(arena, uint32_t, spans);
    s->links.owner = arena_array(arena, uint32_t, spans);
    s->links.rung = arena_array(arena, uint8_t, spans);
    return *ret != NULL && s->home != NULL && s->links.launch != NULL && s->links.owner != NULL &&
           s->links.rung != NULL && index_all(s, *ret);
}

void links_index_free(struct links_index *index)
{
    if (index == NULL)
        return;
    idtab_free(&index->external.index);
    idtab_free(&index->correlation.index);
    flow_ends_free(&index->flows);
    arena_free(&index->arena);
}

bool links_make(struct trace_study *s, const struct links_index *index, struct arena *arena)
{
    const struct spans *spans = &s->trace->spans;
    if (!forest_make(s->trace, s->sorted, s->home, arena, &s->host) || !find_ranges(s, arena))
        return false;
    compare_ids(s, &index->external);
    uint64_t rest = 0;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        s->links.rung[row] = RUNG_NONE;
        rest += span_is_work(spans->kind[row]) && !link_one(s, &index->external, row);
    }
    return link_rest(s, &index->flows, rest, arena);
}
