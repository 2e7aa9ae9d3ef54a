/* peak_moment.c - finds the moment, groups what was alive then, and says what curves tell of it. */
#include "analysis/snapshot/breakdown/peak_moment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"

bool peak_needs_study(const struct recording *r, uint32_t device, const struct peak_question *q)
{
    return q->categories || q->by == BY_CATEGORY || moment_needs_study(q->moment) ||
           (peak_splits(q->by) && live_lacks_stacks(r, device));
}

static bool keep_text(struct arena *keep, str *text)
{
    if (text->ptr == NULL)
        return true;
    *text = arena_copy(keep, *text);
    return text->ptr != NULL;
}

/* Rows as peak_compute made them point into naming and rules, which end before the answer. */
static enum vrs_status keep_rows(const struct study *s, struct peak *peak, struct vrs_error *err)
{
    for (uint32_t i = 0; i < peak->rows; i++) {
        struct peak_row *row = &peak->row[i];
        if (!keep_text(s->keep, &row->name) || !keep_text(s->keep, &row->culprit) ||
            !keep_text(s->keep, &row->owner) || !keep_text(s->keep, &row->category) ||
            !keep_text(s->keep, &row->confidence) || !keep_text(s->keep, &row->rule))
            return vrs_no_memory(err);
        for (uint32_t k = 0; k < row->owners; k++)
            if (!keep_text(s->keep, &row->owner_rows[k].name))
                return vrs_no_memory(err);
        study_show(s, row->stack);
    }
    return VRS_OK;
}

enum vrs_status peak_moment_find(const struct proven_study *proven, const struct peak_question *q,
                                 struct peak_moment *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct curve *requested = &s->curves.of[CURVE_REQUESTED];
    struct peak_options options = { .by = q->by,
                                    .key = q->key,
                                    .sizes = &proven->proof->block_sizes };
    struct peak_moment found = { .has_trace = s->events > 0 };
    TRY(moment_in_study(s, q->moment, &options.at_event, err));
    if (!s->bare)
        options.categories = &s->categories;
    TRY(peak_compute(s->r, s->device, &options, s->naming, s->keep, &found.peak, err));
    TRY(keep_rows(s, &found.peak, err));
    found.bound = !requested->start_known;
    found.inexact = !found.bound && !requested->exact;
    found.at_peak = options.at_event == requested->peak_event;
    found.after_us = micros_after_first(s->r, s->device, options.at_event);
    found.reserved_bytes = curve_at(s->r, s->device, CURVE_RESERVED, options.at_event);
    found.blocks = proven_blocks_at(proven, options.at_event);
    found.blocks_exact =
        found.blocks.active != UNKNOWN_U64 && proven->curves.of[CURVE_ACTIVE].exact;
    *ret = found;
    return VRS_OK;
}
