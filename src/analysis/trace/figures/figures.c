/* figures.c - counts of all that is there, beside the tables of the other analyses. */
#include "analysis/trace/figures/figures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/study/flows.h"
#include "analysis/trace/study/names.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/radix_sort.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

/* The file. */

static int by_name(const void *a, const void *b)
{
    const struct count_row *x = a, *y = b;
    return str_compare(x->name, y->name);
}

static bool count_file(const struct trace_study *s, struct arena *arena, struct figures *ret)
{
    const struct trace *t = s->trace;
    const struct trace_header *h = &t->header;
    ret->file = (struct file_figures){
        .is_array = h->is_array,
        .flags = h->flags,
        .base_ns = h->base_ns,
        .events = t->events,
        .times_integer = h->times_integer,
        .times_other = h->times_other,
        .times_missing = h->times_missing,
        .out_of_memory = h->out_of_memory,
        .devices_listed = t->devices.rows.len,
        .phase = arena_array(arena, struct count_row, t->phases.rows.len),
        .phases = t->phases.rows.len,
    };
    if (ret->file.phase == NULL)
        return false;
    for (uint32_t i = 0; i < t->phases.rows.len; i++) {
        bool is_none = t->phases.text[i] == 0;
        ret->file.phase[i].name = is_none ? S("None") : trace_text(t, t->phases.text[i]);
        ret->file.phase[i].count = t->phases.count[i];
    }
    qsort(ret->file.phase, ret->file.phases, sizeof *ret->file.phase, by_name);
    return true;
}

static void count_links(const struct trace_study *s, struct figures *ret)
{
    const struct links *l = &s->links;
    ret->has_range = s->has_range;
    ret->first_ns = s->first_ns;
    ret->last_ns = s->last_ns;
    ret->host = (struct tree_figures){ s->host.used, s->host.overlaps, s->host.max_depth };
    ret->link = (struct link_figures){ .with_launch = l->with_launch,
                                       .before_window = l->before_window,
                                       .before_window_ns = l->before_window_ns,
                                       .agree = l->agree,
                                       .differ = l->differ,
                                       .most_of_a_launch = l->most_of_a_launch };
    memcpy(ret->link.events, l->events, sizeof ret->link.events);
    memcpy(ret->link.ns, l->ns, sizeof ret->link.ns);
}

/* Kinds and categories. */

static bool count_kinds(const struct trace_study *s, struct arena *arena, struct figures *ret)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t strings = s->trace->strings.rows.len;
    uint64_t *count = arena_array(arena, uint64_t, strings);
    if (count == NULL)
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        ret->kinds[spans->kind[row]]++;
        if (spans->kind[row] == SPAN_OTHER && count[spans->category[row]]++ == 0)
            ret->others++;
    }
    ret->other = arena_array(arena, struct count_row, ret->others);
    if (ret->other == NULL)
        return false;
    uint32_t at = 0;
    for (uint32_t id = 0; id < strings; id++)
        if (count[id] > 0)
            ret->other[at++] = (struct count_row){
                id == 0 ? S("(none)") : trace_text(s->trace, id), count[id]
            };
    qsort(ret->other, ret->others, sizeof *ret->other, by_name);
    return true;
}

/* The call tree. */

/* A path is its parent's number and a name; numbers begin with 1. */
struct path {
    uint32_t parent, name;
    uint32_t thread; /* of a root, else 0 */
};

struct paths {
    struct idtab index;
    struct path *at;
    uint32_t len;
};

static bool path_of(struct paths *p, struct path wanted, uint32_t *ret)
{
    uint64_t hash = hash_pair(hash_pair(wanted.parent, wanted.name), wanted.thread);
    if (!idtab_reserve(&p->index))
        return false;
    for (uint32_t at = idtab_first(&p->index, hash); p->index.slot[at].id != 0;
         at = idtab_next(&p->index, hash, at)) {
        const struct path *there = &p->at[p->index.slot[at].id];
        if (there->parent == wanted.parent && there->name == wanted.name &&
            there->thread == wanted.thread) {
            *ret = p->index.slot[at].id;
            return true;
        }
    }
    *ret = ++p->len;
    p->at[*ret] = wanted;
    idtab_put(&p->index, hash, *ret);
    return true;
}

static bool paths_count(const struct trace_study *s, const struct forest *f, struct paths *p,
                        uint32_t *path, struct call_tree *ret)
{
    for (uint32_t thread = 0; thread < f->threads; thread++) {
        for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
            uint32_t row = f->row[i], parent = f->parent[row];
            struct path wanted = { .parent = parent == NO_ROW ? 0 : path[parent],
                                   .name = s->trace->spans.name[row],
                                   .thread = parent == NO_ROW ? thread + 1 : 0 };
            if (!path_of(p, wanted, &path[row]))
                return false;
            ret->roots += parent == NO_ROW;
        }
    }
    ret->paths = p->len;
    return true;
}

static bool count_calls(const struct trace_study *s, struct arena *arena, struct call_tree *ret)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t rows = spans->rows.len;
    struct arena_mark mark = arena_mark(arena);
    struct forest f;
    struct paths p = { .at = arena_array(arena, struct path, (size_t)rows + 1) };
    uint32_t *track = arena_array(arena, uint32_t, rows);
    uint32_t *path = arena_array(arena, uint32_t, rows);
    if (p.at == NULL || track == NULL || path == NULL)
        return false;
    for (uint32_t row = 0; row < rows; row++) {
        uint8_t kind = spans->kind[row];
        bool is_call = kind == SPAN_OP || kind == SPAN_PYTHON || span_is_call(kind);
        track[row] = is_call ? spans->track[row] : NO_ROW;
        ret->module_frames += kind == SPAN_PYTHON &&
                              (s->names.traits[spans->name[row]] & NAME_MODULE) != 0;
    }
    bool ok = forest_make(s->trace, s->sorted, track, arena, &f) &&
              paths_count(s, &f, &p, path, ret);
    if (ok) {
        ret->threads = f.used;
        ret->overlaps = f.overlaps;
        ret->max_depth = f.max_depth;
    }
    idtab_free(&p.index);
    arena_release(arena, mark);
    return ok;
}

/* Steps. */

/* Device work by the moment of its launch, and the sums of durations before each. */
struct launched {
    int64_t *moment, *ns;
    uint32_t len;
};

static bool launched_make(const struct trace_study *s, struct arena *arena, struct launched *ret)
{
    const struct spans *spans = &s->trace->spans;
    size_t rows = spans->rows.len;
    struct radix_row *row = arena_array(arena, struct radix_row, rows);
    struct radix_room room;
    ret->moment = arena_array(arena, int64_t, rows);
    ret->ns = arena_array(arena, int64_t, rows + 1);
    ret->len = 0;
    if (row == NULL || ret->moment == NULL || ret->ns == NULL ||
        !radix_room_make(&room, (uint32_t)rows, arena))
        return false;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t launch = s->links.launch[i];
        if (launch != NO_ROW)
            row[ret->len++] =
                (struct radix_row){ .key = radix_key_i64(spans->start[launch]), .id = i };
    }
    row = radix_sort(row, ret->len, &room);
    for (uint32_t i = 0; i < ret->len; i++) {
        ret->moment[i] = spans->start[s->links.launch[row[i].id]];
        ret->ns[i + 1] = i64_plus(ret->ns[i], spans->duration[row[i].id]);
    }
    return true;
}

/* How many were launched before a moment. */
static uint32_t launched_before(const struct launched *l, int64_t moment)
{
    uint32_t low = 0, high = l->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->moment[middle] < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* By start, of equal ones as in the file: `sorted` has the longer first. */
struct step_order {
    int64_t start;
    uint32_t row;
};

static int by_start(const void *a, const void *b)
{
    const struct step_order *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_step(const struct trace_study *s, uint32_t row)
{
    const struct spans *spans = &s->trace->spans;
    return span_is_range(spans->kind[row]) &&
           (s->names.traits[spans->name[row]] & NAME_STEP) != 0;
}

static bool steps_make(const struct trace_study *s, struct arena *arena, struct figures *ret)
{
    const struct spans *spans = &s->trace->spans;
    struct launched launched;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        ret->steps += is_step(s, row);
    ret->step = arena_array(arena, struct step_row, ret->steps);
    struct arena_mark mark = arena_mark(arena);
    struct step_order *order = arena_array(arena, struct step_order, ret->steps);
    if (ret->step == NULL || order == NULL || !launched_make(s, arena, &launched))
        return false;
    uint32_t steps = 0;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        if (is_step(s, row))
            order[steps++] = (struct step_order){ spans->start[row], row };
    qsort(order, steps, sizeof *order, by_start);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t row = order[i].row;
        uint32_t from = launched_before(&launched, spans->start[row]);
        uint32_t to = launched_before(&launched, span_end(spans, row));
        ret->step[i] = (struct step_row){ .name = trace_text(s->trace, spans->name[row]),
                                          .start_ns = spans->start[row],
                                          .ns = spans->duration[row],
                                          .events = to - from,
                                          .device_ns = i64_minus(launched.ns[to], launched.ns[from]) };
    }
    arena_release(arena, mark);
    return true;
}

static void count_pairs(const struct trace *t, struct figures *ret)
{
    for (uint32_t row = 0; row < t->flows.rows.len; row++) {
        if (!flow_joins_backward(t, row))
            continue;
        ret->pairs_finished += t->flows.finish[row];
        ret->pairs_started += !t->flows.finish[row];
    }
}

bool figures_are_of_torch(const struct figures *f)
{
    for (uint32_t k = 0; k < SPAN_KINDS; k++)
        if (k != SPAN_OTHER && k != SPAN_WINDOW && f->kinds[k] > 0)
            return true;
    return false;
}

/* Rows and texts of the trace and of scratch, both of which go before the figures. */

static bool keep_rows(struct arena *arena, void **rows, size_t bytes)
{
    void *kept = arena_take(arena, bytes);
    if (kept == NULL)
        return false;
    if (bytes > 0)
        memcpy(kept, *rows, bytes);
    *rows = kept;
    return true;
}

static bool keep_text(struct arena *arena, str *text)
{
    *text = arena_copy(arena, *text);
    return text->ptr != NULL;
}

/* Rows with a text each. */
#define KEEP(arena, row, rows, member)                                                             \
    do {                                                                                           \
        if (!keep_rows((arena), (void **)&(row), (rows) * sizeof *(row)))                          \
            return false;                                                                          \
        for (uint32_t i_ = 0; i_ < (rows); i_++)                                                   \
            if (!keep_text((arena), &(row)[i_].member))                                            \
                return false;                                                                      \
    } while (0)

static bool tables_keep(struct arena *arena, struct tables *t)
{
    KEEP(arena, t->op, t->ops, name);
    KEEP(arena, t->kernel, t->kernels, name);
    KEEP(arena, t->call, t->calls, name);
    KEEP(arena, t->range, t->ranges, name);
    KEEP(arena, t->copy, t->copies, kind);
    return true;
}

static bool devices_keep(struct arena *arena, struct busy *busy)
{
    KEEP(arena, busy->device, busy->devices, pid.text);
    return true;
}

static bool counts_keep(struct arena *arena, struct figures *f)
{
    KEEP(arena, f->file.phase, f->file.phases, name);
    KEEP(arena, f->other, f->others, name);
    KEEP(arena, f->step, f->steps, name);
    return true;
}

/* The parts. */

static bool counts_make(const struct trace_study *s, struct arena *scratch, struct figures *f)
{
    count_pairs(s->trace, f);
    count_links(s, f);
    return count_file(s, scratch, f) && count_kinds(s, scratch, f) && steps_make(s, scratch, f) &&
           launch_delay_find(s, scratch, &f->delay);
}

static enum vrs_status part_make(const struct trace_study *s, enum figures_part part,
                                 struct arena *scratch, struct arena *arena, struct figures *f,
                                 struct vrs_error *err)
{
    bool ok = true;
    if (part == FIGURES_CALLS) {
        ok = count_calls(s, scratch, &f->calls);
    } else if (part == FIGURES_MEMORY) {
        TRY(memory_make(s, scratch, &f->memory, err));
        ok = keep_rows(arena, (void **)&f->memory.row, f->memory.rows * sizeof *f->memory.row);
    } else if (part == FIGURES_TABLES) {
        TRY(tables_make(s, scratch, &f->tables, err));
        ok = tables_keep(arena, &f->tables);
    } else if (part == FIGURES_BUSY) {
        TRY(busy_make(s, scratch, &f->busy, err));
        ok = devices_keep(arena, &f->busy);
    } else {
        ok = counts_make(s, scratch, f) && counts_keep(arena, f);
    }
    return ok ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status figures_part_make(const struct trace_study *s, enum figures_part part,
                                  struct arena *arena, struct figures *ret, struct vrs_error *err)
{
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = part_make(s, part, &scratch, arena, ret, err);
    arena_free(&scratch);
    return status;
}
