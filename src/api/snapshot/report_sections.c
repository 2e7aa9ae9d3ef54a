/* report_sections.c - asks each analysis for its section of a report, in the order of need. */
#include "api/snapshot/report_sections.h"

#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"

enum vrs_status section_make(struct parts *parts, const struct proven_study *proven,
                             const struct report_sections **ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct report_sections *sections = arena_take(s->keep, sizeof *sections);
    if (sections == NULL)
        return vrs_no_memory(err);
    TRY(parts_categories(parts, s, &sections->categories, err));
    TRY(parts_fragments(parts, proven, &sections->fragments, err));
    if (s->traced) {
        TRY(parts_leaks(parts, s, &sections->leaks, err));
        TRY(oom_compute(parts, proven, NULL, 0, &sections->oom, err));
        sections->has_oom = s->curves.oom_events > 0 && sections->oom.basis != OOM_NOTHING;
    }
    TRY(advise_compute(parts, proven, s->traced ? &sections->oom : NULL, 0, &sections->advise,
                       err));
    sections->has_advice = true;
    *ret = sections;
    return VRS_OK;
}
