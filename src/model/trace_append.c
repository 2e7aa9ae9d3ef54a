/* trace_append.c - texts, processes and tracks by a map of their rows, then the columns. */
#include "model/trace_append.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/strings.h"

/* The rows of `from` as rows of `to`. */
struct maps {
    uint32_t *text, *track, *stack;
};

static bool map_texts(struct strings *to, const struct strings *from, uint32_t *ret)
{
    for (uint32_t i = 0; i < from->rows.len; i++) {
        string_id id;
        if (!strings_intern(to, strings_text(from, (string_id){ i }), &id))
            return false;
        ret[i] = id.n;
    }
    return true;
}

static struct trace_id map_id(const struct maps *m, int64_t value, uint8_t form)
{
    return (struct trace_id){ form == ID_TEXT ? m->text[value] : value, form };
}

/* What `from` says last of a process stands. */
static bool append_processes(struct trace *to, const struct trace *from, const struct maps *m)
{
    const struct processes *p = &from->processes;
    for (uint32_t i = 0; i < p->rows.len; i++) {
        uint32_t row;
        if (!trace_process(to, map_id(m, p->pid[i], p->pid_form[i]), &row))
            return false;
        if (p->name[i] != 0)
            to->processes.name[row] = m->text[p->name[i]];
        if (p->labels[i] != 0)
            to->processes.labels[row] = m->text[p->labels[i]];
    }
    return true;
}

static bool append_tracks(struct trace *to, const struct trace *from, const struct maps *m)
{
    const struct tracks *t = &from->tracks;
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (!trace_track(to, map_id(m, t->pid[i], t->pid_form[i]),
                         map_id(m, t->tid[i], t->tid_form[i]), &m->track[i]))
            return false;
    return true;
}

static bool append_phases(struct trace *to, const struct trace *from, const struct maps *m)
{
    struct phases *p = &to->phases;
    for (uint32_t i = 0; i < from->phases.rows.len; i++) {
        uint32_t text = m->text[from->phases.text[i]], row = 0;
        while (row < p->rows.len && p->text[row] != text)
            row++;
        if (row == p->rows.len) {
            if (!table_reserve(p, &phases_kind, 1))
                return false;
            p->text[p->rows.len] = text;
            p->count[p->rows.len++] = 0;
        }
        p->count[row] += from->phases.count[i];
    }
    return true;
}

/* The columns as they are, which those that hold ids and rows are then made of. */
static bool append_rows(void *to, const void *from, const struct table_kind *kind)
{
    struct table *rows = to;
    const struct table *more = from;
    if (more->len == 0)
        return true;
    if (!table_reserve(to, kind, more->len))
        return false;
    for (uint32_t c = 0; c < kind->columns; c++) {
        const struct column *column = &kind->column[c];
        size_t width = column_width(column->type);
        char *at = *(void **)(void *)((char *)to + column->offset);
        const void *added = *(void *const *)(const void *)((const char *)from + column->offset);
        memcpy(at + rows->len * width, added, more->len * width);
    }
    rows->len += more->len;
    return true;
}

static bool append_spans(struct trace *to, const struct trace *from, const struct maps *m)
{
    struct spans *s = &to->spans;
    uint32_t first = s->rows.len;
    if (!append_rows(s, &from->spans, &spans_kind))
        return false;
    for (uint32_t row = first; row < s->rows.len; row++) {
        s->index[row] += (uint32_t)to->events;
        s->name[row] = m->text[s->name[row]];
        s->category[row] = m->text[s->category[row]];
        s->track[row] = m->track[s->track[row]];
        s->shapes[row] = m->text[s->shapes[row]];
        s->external[row] = map_id(m, s->external[row], s->external_form[row]).value;
        s->correlation[row] = map_id(m, s->correlation[row], s->correlation_form[row]).value;
    }
    return true;
}

/* Before the spans. */
static bool append_stacks(struct trace *to, const struct trace *from, const struct maps *m)
{
    struct span_stacks *s = &to->stacks;
    uint32_t row = s->rows.len;
    if (!append_rows(s, &from->stacks, &span_stacks_kind))
        return false;
    for (; row < s->rows.len; row++) {
        s->span[row] += to->spans.rows.len;
        s->text[row] = m->stack[s->text[row]];
    }
    return true;
}

static bool append_others(struct trace *to, const struct trace *from, const struct maps *m)
{
    struct flows *f = &to->flows;
    struct memory_events *e = &to->memory;
    uint32_t flow = f->rows.len, event = e->rows.len;
    if (!append_rows(f, &from->flows, &flows_kind) ||
        !append_rows(e, &from->memory, &memory_events_kind))
        return false;
    for (; flow < f->rows.len; flow++) {
        f->category[flow] = m->text[f->category[flow]];
        f->track[flow] = m->track[f->track[flow]];
        f->id[flow] = map_id(m, f->id[flow], f->id_form[flow]).value;
    }
    for (; event < e->rows.len; event++) {
        e->index[event] += (uint32_t)to->events;
        e->track[event] = m->track[e->track[event]];
    }
    return true;
}

static void add_counts(struct trace *to, const struct trace *from)
{
    struct trace_header *h = &to->header;
    const struct trace_header *more = &from->header;
    h->times_integer += more->times_integer;
    h->times_other += more->times_other;
    h->times_missing += more->times_missing;
    h->out_of_memory += more->out_of_memory;
    h->has_shapes = h->has_shapes || more->has_shapes;
    for (int kind = 0; kind < TRACE_DAMAGES; kind++) {
        if (to->damage[kind].count == 0)
            to->damage[kind].first_offset = from->damage[kind].first_offset;
        to->damage[kind].count += from->damage[kind].count;
    }
    to->events += from->events;
    to->skipped_bytes += from->skipped_bytes;
}

static bool append(struct trace *to, const struct trace *from, const struct maps *m)
{
    return map_texts(&to->strings, &from->strings, m->text) &&
           map_texts(&to->stacks.texts, &from->stacks.texts, m->stack) &&
           append_processes(to, from, m) && append_tracks(to, from, m) &&
           append_phases(to, from, m) && append_stacks(to, from, m) &&
           append_spans(to, from, m) && append_others(to, from, m);
}

bool trace_append(struct trace *to, const struct trace *from)
{
    void *text = NULL, *track = NULL, *stack = NULL;
    /* Which stacks are left out hangs on all before them. */
    bool ok = from->events <= to->spans.rows.max - to->events &&
              from->header.stacks_left_out == 0 &&
              vec_resize(&text, (size_t)from->strings.rows.len + 1, sizeof(uint32_t)) &&
              vec_resize(&track, (size_t)from->tracks.rows.len + 1, sizeof(uint32_t)) &&
              vec_resize(&stack, (size_t)from->stacks.texts.rows.len + 1, sizeof(uint32_t)) &&
              append(to, from, &(struct maps){ text, track, stack });
    if (ok)
        add_counts(to, from);
    vec_resize(&text, 0, 0);
    vec_resize(&track, 0, 0);
    vec_resize(&stack, 0, 0);
    return ok;
}
