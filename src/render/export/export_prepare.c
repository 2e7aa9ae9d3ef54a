/* export_prepare.c - columns of an export that are found before its rows are written. */
#include "render/export/export_prepare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/named.h"
#include "model/recording.h"

enum vrs_status export_keep_categories(const struct study *s, struct arena *keep,
                                       struct export_categories *ret, struct vrs_error *err)
{
    const struct categories *from = &s->categories;
    if (s->traced && !s->phases.known)
        return VRS_OK;
    /* Copied: a study lives in scratch, which is released before rows are written. */
    struct export_categories kept = {
        .of = arena_array(keep, uint8_t, from->count),
        .confidence = arena_array(keep, uint8_t, from->count),
        .rule = arena_array(keep, uint16_t, from->count),
        .undecided = arena_array(keep, bool, from->count),
    };
    kept.rule_names = category_rule_names(from, keep);
    if (kept.of == NULL || kept.confidence == NULL || kept.rule == NULL || kept.undecided == NULL ||
        kept.rule_names == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->count; i++) {
        kept.of[i] = from->of[i];
        kept.confidence[i] = from->confidence[i];
        kept.rule[i] = from->rule[i];
        kept.undecided[i] = from->undecided[i];
    }
    *ret = kept;
    return VRS_OK;
}

enum vrs_status export_keep_spans(const struct study *s, struct arena *keep,
                                  struct export_device *ret, struct vrs_error *err)
{
    const struct phases *p = &s->phases;
    uint32_t phases = p->known ? p->intervals : 0;
    struct export_spans *of_steps = &ret->step_spans, *of_phases = &ret->phase_spans;
    of_steps->at = arena_array(keep, struct export_span, s->steps.count);
    of_phases->at = arena_array(keep, struct export_span, phases);
    if (of_steps->at == NULL || of_phases->at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->steps.count; i++) {
        const struct step_boundary *b = &s->steps.boundary[i];
        of_steps->at[of_steps->count++] = (struct export_span){ .first_event = b->event,
                                                                .last_event = b->end_event,
                                                                .step = i + 1 };
    }
    for (uint32_t i = 0; i < phases; i++)
        if (p->interval[i].phase != PHASE_OTHER)
            of_phases->at[of_phases->count++] =
                (struct export_span){ .first_event = p->interval[i].first_event,
                                      .last_event = p->interval[i].last_event,
                                      .phase = p->interval[i].phase };
    return VRS_OK;
}

static void mark_stacks(const uint32_t *stack, uint32_t rows, uint8_t *used)
{
    for (uint32_t i = 0; i < rows; i++)
        used[stack[i]] = 1;
}

enum vrs_status export_find_stacks(struct arena *keep, struct exporting *e, struct vrs_error *err)
{
    const struct recording *r = e->r;
    uint32_t stacks = r->code.stacks.rows.len;
    uint8_t *used = arena_array(keep, uint8_t, stacks);
    if (used == NULL)
        return vrs_no_memory(err);
    mark_stacks(r->events.stack, r->events.rows.len, used);
    mark_stacks(r->blocks.stack, r->blocks.rows.len, used);
    mark_stacks(r->segments.stack, r->segments.rows.len, used);
    for (uint32_t i = 1; i < stacks; i++)
        e->used_count += used[i];
    e->used = arena_array(keep, uint32_t, e->used_count);
    if (e->used == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 1, at = 0; i < stacks; i++)
        if (used[i])
            e->used[at++] = i;
    return VRS_OK;
}

enum vrs_status export_find_names(struct arena *keep, struct exporting *e, struct vrs_error *err)
{
    const struct recording *r = e->r;
    uint32_t holding = named_holding(r);
    if (holding == 0)
        return VRS_OK;
    e->name_of_block = arena_array(keep, uint32_t, r->blocks.rows.len);
    if (e->name_of_block == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < holding; i++) {
        uint32_t block = r->allocations.block[r->named.allocation[i]];
        if (block != NO_ROW)
            e->name_of_block[block] = i + 1;
    }
    return VRS_OK;
}
