/* source_marks.c - turns steps, phases and annotations into spans of states. */
#include "render/page/source_marks.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/steps/mark_events.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* An annotation within more others is not shown. */
enum { NESTED_MOST = 64 };

struct marking {
    const struct study *s;
    struct page_names *names;
    struct page_marks *to;
    struct vrs_error *err;
};

static void add_steps(struct marking *m)
{
    const struct steps *steps = &m->s->steps;
    uint32_t all = steps->count + (steps->unended ? 1 : 0);
    for (uint32_t i = 0; steps->source != STEPS_NONE && i < all; i++) {
        m->to->at[m->to->count++] = (struct page_mark){
            .kind = i < steps->count ? PAGE_STEP : PAGE_UNENDED_STEP,
            .first = steps->boundary[i].event + 1,
            .last = steps->boundary[i].end_event + 1,
        };
    }
}

static enum vrs_status add_phases(struct marking *m)
{
    const struct phases *p = &m->s->phases;
    for (uint32_t i = 0; p->known && i < p->intervals; i++) {
        uint32_t end = i + 1 < p->intervals ? p->interval[i + 1].first_event : m->s->events;
        struct page_mark *to = &m->to->at[m->to->count++];
        *to = (struct page_mark){
            .kind = PAGE_PHASE,
            .depth = 1,
            .first = p->interval[i].first_event + 1,
            .last = end,
        };
        TRY(page_names_text(m->names, str_from(phase_names[p->interval[i].phase]), &to->name,
                            m->err));
    }
    return VRS_OK;
}

/* The states from the first event at or after the start to the last before the end; what is not
 * ended lasts.  An annotation without an event in it is left out. */
static enum vrs_status add_annotations(struct marking *m)
{
    const struct recording *r = m->s->r;
    struct mark_events at;
    uint32_t open[NESTED_MOST], depth = 0;
    TRY(mark_events_make(r, m->s->device, m->s->scratch, &at, m->err));
    struct page_mark *first = &m->to->at[m->to->count];
    uint32_t count = 0;
    for (uint32_t i = 0; i < at.count; i++) {
        uint32_t row = at.order[i], event = at.event[row], name;
        if (event == NO_ROW)
            continue;
        TRY(page_names_bounded(m->names,
                               strings_text(&r->code.strings, (string_id){ r->marks.name[row] }),
                               &name, m->err));
        if (r->marks.stage[row] == STAGE_START) {
            if (depth < NESTED_MOST)
                open[depth] = count;
            else
                continue;
            first[count++] = (struct page_mark){ PAGE_ANNOTATION, (uint8_t)depth++, event + 1,
                                                 m->s->events, name };
            continue;
        }
        uint32_t inner = depth;
        while (inner > 0 && first[open[inner - 1]].name != name)
            inner--;
        if (inner == 0)
            continue;
        first[open[inner - 1]].last = event;
        depth = inner - 1;
    }
    for (uint32_t i = 0; i < count; i++)
        if (first[i].last >= first[i].first)
            m->to->at[m->to->count++] = first[i];
    return VRS_OK;
}

enum vrs_status page_marks_make(const struct study *s, struct page_names *names,
                                struct page_marks *ret, struct vrs_error *err)
{
    struct marking m = { s, names, ret, err };
    size_t most = (size_t)s->steps.count + 1 + s->phases.intervals + s->r->marks.rows.len;
    *ret = (struct page_marks){ arena_array(s->scratch, struct page_mark, most), 0 };
    if (ret->at == NULL)
        return vrs_no_memory(err);
    add_steps(&m);
    TRY(add_phases(&m));
    return add_annotations(&m);
}
