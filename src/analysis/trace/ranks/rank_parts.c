/* rank_parts.c - what each host process of a trace did, and the device work that it launched. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/busy/intervals.h"
#include "analysis/trace/ranks/trace_ranks.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

/* A part that is being made. */
struct making {
    struct rank_part *part;
    uint32_t thread; /* that has most steps; NO_ROW */
    uint32_t thread_steps, work;
    int64_t *first, *end; /* of each step */
    bool talks; /* has a collective; else nobody asks for these */
    struct intervals communication, others;
};

struct parting {
    const struct trace_study *s;
    struct arena *arena, *scratch;
    uint32_t *part_of; /* of each process, or NO_ROW */
    struct making *making;
    uint32_t parts;
};

/* Whose it is. */

static uint32_t process_of(const struct parting *p, uint32_t row)
{
    const struct trace *t = p->s->trace;
    return t->tracks.process[t->spans.track[row]];
}

static uint32_t part_of_work(const struct parting *p, uint32_t row)
{
    uint32_t by = links_code(&p->s->links, row);
    if (p->parts == 1)
        return 0;
    return by == NO_ROW ? NO_ROW : p->part_of[process_of(p, by)];
}

static bool find_parts(struct parting *p)
{
    const struct trace *t = p->s->trace;
    uint32_t processes = t->processes.rows.len;
    p->part_of = arena_array(p->scratch, uint32_t, processes);
    if (p->part_of == NULL)
        return false;
    for (uint32_t i = 0; i < processes; i++)
        p->part_of[i] = NO_ROW;
    for (uint32_t row = 0; row < t->spans.rows.len; row++)
        if (span_is_range(t->spans.kind[row]) && p->part_of[process_of(p, row)] == NO_ROW)
            p->part_of[process_of(p, row)] = p->parts++;
    p->parts += p->parts == 0;
    p->making = arena_array(p->scratch, struct making, p->parts);
    return p->making != NULL;
}

static bool name_process(struct parting *p, uint32_t process, str *ret)
{
    const struct processes *of = &p->s->trace->processes;
    struct trace_id pid = { of->pid[process], of->pid_form[process] };
    return trace_id_copy(p->s->trace, pid, p->arena, ret);
}

/* Steps. */

static bool is_step(const struct parting *p, uint32_t row)
{
    const struct spans *spans = &p->s->trace->spans;
    return span_is_range(spans->kind[row]) &&
           (p->s->names.traits[spans->name[row]] & NAME_STEP) != 0;
}

static bool find_threads(struct parting *p)
{
    const struct trace *t = p->s->trace;
    uint32_t *count = arena_array(p->scratch, uint32_t, t->tracks.rows.len);
    if (count == NULL)
        return false;
    for (uint32_t row = 0; row < t->spans.rows.len; row++)
        if (is_step(p, row))
            count[t->spans.track[row]]++;
    for (uint32_t i = 0; i < p->parts; i++)
        p->making[i].thread = NO_ROW;
    for (uint32_t track = 0; track < t->tracks.rows.len; track++) {
        uint32_t part = p->part_of[t->tracks.process[track]];
        if (part == NO_ROW || count[track] <= p->making[part].thread_steps)
            continue;
        p->making[part].thread = track;
        p->making[part].thread_steps = count[track];
    }
    return true;
}

static bool add_steps(struct parting *p)
{
    const struct spans *spans = &p->s->trace->spans;
    for (uint32_t i = 0; i < p->parts; i++) {
        struct making *m = &p->making[i];
        m->part->step = arena_array(p->arena, struct rank_part_step, m->thread_steps);
        m->first = arena_array(p->scratch, int64_t, m->thread_steps);
        m->end = arena_array(p->scratch, int64_t, m->thread_steps);
        if (m->part->step == NULL || m->first == NULL || m->end == NULL)
            return false;
    }
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = p->s->sorted[i];
        uint32_t part = is_step(p, row) ? p->part_of[process_of(p, row)] : NO_ROW;
        if (part == NO_ROW || spans->track[row] != p->making[part].thread)
            continue;
        struct making *m = &p->making[part];
        uint32_t at = m->part->steps++;
        m->part->step[at] = (struct rank_part_step){
            .number = name_step_number(trace_text(p->s->trace, spans->name[row])),
            .ns = span_end(spans, row)
        };
        m->first[at] = spans->start[row];
        m->end[at] = span_end(spans, row);
    }
    return true;
}

/* The step that holds a moment, or NO_ROW. */
static uint32_t step_at(const struct making *m, int64_t moment)
{
    uint32_t low = 0, high = m->part->steps;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->first[middle] <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && moment < m->end[low - 1] ? low - 1 : NO_ROW;
}

/* As steps.c has it: from the begin of a step, or the end of the one before, to the end of it and
 * of its work; `ns` is that end so far. */
static void spread_steps(struct making *m)
{
    int64_t before = INT64_MIN;
    for (uint32_t i = 0; i < m->part->steps; i++) {
        struct rank_part_step *step = &m->part->step[i];
        int64_t first = m->first[i] > before ? m->first[i] : before, last = step->ns;
        step->ns = last > first ? last - first : 0;
        before = last;
    }
}

/* Device work. */

static bool is_collective(const struct parting *p, uint32_t row)
{
    const struct spans *spans = &p->s->trace->spans;
    return spans->kind[row] == SPAN_KERNEL &&
           (p->s->names.traits[spans->name[row]] & NAME_COMMUNICATES) != 0;
}

static bool make_room(struct parting *p)
{
    const struct spans *spans = &p->s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t part = span_is_work(spans->kind[row]) ? part_of_work(p, row) : NO_ROW;
        if (part == NO_ROW)
            continue;
        p->making[part].work++;
        p->making[part].part->collectives += is_collective(p, row);
    }
    for (uint32_t i = 0; i < p->parts; i++) {
        struct making *m = &p->making[i];
        m->part->collective =
            arena_array(p->arena, struct rank_part_collective, m->part->collectives);
        m->talks = m->part->collectives > 0;
        m->communication.at = arena_array(p->scratch, struct interval, m->part->collectives);
        m->others.at = arena_array(p->scratch, struct interval, m->talks ? m->work : 0);
        if (m->part->collective == NULL || m->communication.at == NULL || m->others.at == NULL)
            return false;
        m->part->collectives = 0;
    }
    return true;
}

static bool add_collective(struct parting *p, struct making *m, uint32_t row, uint32_t step)
{
    const struct spans *spans = &p->s->trace->spans;
    struct rank_part_collective *c = &m->part->collective[m->part->collectives++];
    *c = (struct rank_part_collective){
        .name = arena_copy(p->arena, trace_text(p->s->trace, spans->name[row])),
        .step = step == NO_ROW ? -1 : m->part->step[step].number,
        .ns = spans->duration[row],
    };
    return c->name.ptr != NULL;
}

static bool add_work(struct parting *p)
{
    const struct spans *spans = &p->s->trace->spans;
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = p->s->sorted[i], host = links_host(&p->s->links, row);
        uint32_t part = span_is_work(spans->kind[row]) ? part_of_work(p, row) : NO_ROW;
        if (part == NO_ROW)
            continue;
        struct making *m = &p->making[part];
        uint32_t step = host == NO_ROW ? NO_ROW : step_at(m, spans->start[host]);
        int64_t start = spans->start[row], end = span_end(spans, row);
        if (step != NO_ROW && end > m->part->step[step].ns)
            m->part->step[step].ns = end;
        if (m->talks)
            intervals_add(is_collective(p, row) ? &m->communication : &m->others, start, end);
        if (is_collective(p, row) && !add_collective(p, m, row, step))
            return false;
    }
    return true;
}

static bool parts_fill(struct parting *p, struct rank_parts *ret)
{
    if (!find_parts(p))
        return false;
    ret->part = arena_array(p->arena, struct rank_part, p->parts);
    ret->parts = p->parts;
    if (ret->part == NULL)
        return false;
    for (uint32_t i = 0; i < p->parts; i++) {
        ret->part[i] = (struct rank_part){ .process = { NULL, 0 } };
        p->making[i].part = &ret->part[i];
    }
    for (uint32_t i = 0; i < p->s->trace->processes.rows.len; i++)
        if (p->part_of[i] != NO_ROW && !name_process(p, i, &ret->part[p->part_of[i]].process))
            return false;
    if (!find_threads(p) || !add_steps(p) || !make_room(p) || !add_work(p))
        return false;
    for (uint32_t i = 0; i < p->parts; i++) {
        struct making *m = &p->making[i];
        spread_steps(m);
        m->part->communication_ns = intervals_measure(&m->communication);
        m->part->exposed_communication_ns =
            m->part->communication_ns - intervals_common(&m->communication, &m->others);
    }
    return true;
}

bool rank_parts_make(const struct trace_study *s, struct arena *arena, struct rank_parts *ret)
{
    struct arena scratch;
    struct parting p = { .s = s, .arena = arena, .scratch = &scratch };
    arena_init(&scratch, SIZE_MAX / 2);
    bool ok = parts_fill(&p, ret);
    arena_free(&scratch);
    return ok;
}
