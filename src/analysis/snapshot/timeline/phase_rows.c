/* phase_rows.c - one walk over events, phase intervals and steps together. */
#include "analysis/snapshot/timeline/phase_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

enum vrs_status step_rows_make(const struct study *s, struct step_rows *ret, struct vrs_error *err)
{
    const struct steps *from = &s->steps;
    struct step_rows rows = { .steps = *from };
    rows.steps.boundary = arena_array(s->keep, struct step_boundary, from->count);
    rows.inner = arena_array(s->keep, struct inner_row, from->inners);
    rows.steps.pass = arena_array(s->keep, struct step_pass, from->passes);
    if (rows.steps.boundary == NULL || rows.inner == NULL || rows.steps.pass == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->passes; i++)
        rows.steps.pass[i] = from->pass[i];
    rows.steps.inner = NULL; /* `inner` has them, with their places */
    rows.steps.inners = 0;
    for (uint32_t i = 0; i < from->count; i++)
        rows.steps.boundary[i] = from->boundary[i];
    for (; rows.inners < from->inners; rows.inners++) {
        struct inner_row *row = &rows.inner[rows.inners];
        row->loop = from->inner[rows.inners];
        TRY(study_site(s, row->loop.stack, &row->site, err));
    }
    *ret = rows;
    return VRS_OK;
}

struct walk {
    const struct study *s;
    struct phase_rows *rows;
    uint32_t interval;      /* that the event lies in or behind; NO_ROW: before the first */
    uint32_t last_interval; /* of the last row, as below */
    int64_t last_step;
    uint64_t live, freed; /* freed since the last alloc of the last row */
};

/* The complete step an event lies in, from 0; each part between two has a negative number. */
static int64_t part_at(const struct steps *s, uint32_t event)
{
    int64_t step = steps_at(s, event);
    bool begun = step >= 0 && step < s->count;
    return begun && event <= s->boundary[step].end_event ? step : -2 - step;
}

static bool in_pass(const struct steps *s, uint32_t event)
{
    uint32_t at;
    SORTED_FIND(at, s->passes, s->pass[at].first_event <= event);
    return at != 0 && event <= s->pass[at - 1].last_event;
}

static void begin_row(struct walk *w, uint32_t event, int64_t step, stack_id stack)
{
    const struct phases *p = &w->s->phases;
    bool inside = step >= 0;
    enum step_kind outside = in_pass(&w->s->steps, event) ? STEP_PASS : STEP_KINDS;
    w->rows->row[w->rows->rows++] = (struct phase_row){
        .step = inside ? (uint32_t)step + 1 : 0,
        .kind = (uint8_t)(inside ? w->s->steps.kind : outside),
        .phase = p->interval[w->interval].phase,
        .first_event = event,
        .entry_bytes = (int64_t)w->live,
        .peak_bytes = INT64_MIN,
        .first_stack = stack,
    };
    w->last_interval = w->interval;
    w->last_step = step;
    w->freed = 0;
}

static void take_alloc(struct walk *w, uint32_t event, uint64_t bytes, stack_id stack)
{
    struct phase_rows *rows = w->rows;
    int64_t step = part_at(&w->s->steps, event);
    if (rows->rows == 0 || w->interval != w->last_interval || step != w->last_step)
        begin_row(w, event, step, stack);
    struct phase_row *row = &rows->row[rows->rows - 1];
    row->allocs++;
    row->alloc_bytes += bytes;
    row->freed_bytes += w->freed;
    w->freed = 0;
    w->live += bytes;
    row->last_event = event;
    row->exit_bytes = (int64_t)w->live;
    if (row->exit_bytes > row->peak_bytes) {
        row->peak_bytes = row->exit_bytes;
        row->peak_event = event;
    }
    if (row->allocs == 1 || bytes > row->largest_bytes) {
        row->largest_bytes = bytes;
        row->largest.stack = stack;
    }
}

static void take_event(struct walk *w, uint32_t event)
{
    const struct recording *r = w->s->r;
    const struct phases *p = &w->s->phases;
    uint32_t row = r->devices.first_event[w->s->device] + event;
    uint64_t change = requested_change(r, row);
    while (w->interval + 1 < p->intervals && p->interval[w->interval + 1].first_event <= event)
        w->interval++;
    bool inside = w->interval != NO_ROW && event <= p->interval[w->interval].last_event;
    if (r->events.action[row] == ACTION_ALLOC && inside) {
        take_alloc(w, event, change, (stack_id){ r->events.stack[row] });
        return;
    }
    w->live += change;
    if (r->events.action[row] != ACTION_ALLOC)
        w->freed -= change;
}

/* A wrapping difference, read as signed. */
static int64_t less(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static enum vrs_status finish(const struct study *s, struct phase_rows *rows, struct vrs_error *err)
{
    int64_t peak = rows->requested.peak_event;
    for (uint32_t i = 0; i < rows->rows; i++) {
        struct phase_row *row = &rows->row[i];
        if (row->step != 0)
            row->contribution_bytes =
                less(row->peak_bytes, s->steps.boundary[row->step - 1].live_bytes);
        if ((int64_t)row->first_event <= peak) {
            rows->peak_row = i;
            rows->peak_phase = (enum phase)row->phase;
        }
        study_show(s, row->first_stack);
        TRY(study_site(s, row->largest.stack, &row->largest, err));
    }
    return VRS_OK;
}

enum vrs_status phase_rows_compute(const struct study *s, struct phase_rows *ret,
                                   struct vrs_error *err)
{
    const struct phases *p = &s->phases;
    struct phase_rows rows = {
        .peak_row = NO_ROW,
        .peak_phase = PHASES,
        .requested = s->curves.of[CURVE_REQUESTED],
        .by_stack = p->by_stack,
        .by_annotation = p->by_annotation,
        .annotation_agrees = p->annotation_agrees,
    };
    TRY(step_rows_make(s, &rows.steps, err));
    /* Each begin and end of a step may cut one interval in two. */
    size_t most = (size_t)p->intervals + (size_t)s->steps.count * 2 + 1;
    rows.row = arena_array(s->keep, struct phase_row, most);
    if (rows.row == NULL)
        return vrs_no_memory(err);
    struct walk w = { .s = s, .rows = &rows, .interval = NO_ROW };
    w.live = (uint64_t)rows.requested.start_bytes;
    for (uint32_t i = 0; i < s->events; i++)
        take_event(&w, i);
    TRY(finish(s, &rows, err));
    *ret = rows;
    return VRS_OK;
}
