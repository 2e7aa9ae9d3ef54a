/* sections.c - asks each analysis what belongs on the page, in the order of their needs. */
#include "api/snapshot/report_sections.h"

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/oom/oom.h"

enum vrs_status section_make(struct study *s, const struct report_sections **ret,
                             struct vrs_error *err)
{
    struct report_sections *sections = arena_take(s->keep, sizeof *sections);
    if (sections == NULL)
        return vrs_no_memory(err);
    TRY(parts_categories(s, &sections->categories, err));
    TRY(parts_fragments(s, &sections->fragments, err));
    if (s->traced) {
        TRY(parts_growth(s, &sections->leaks, err));
        TRY(oom_compute(s, NULL, 0, &sections->oom, err));
        sections->has_oom = s->curves.oom_events > 0 && sections->oom.basis != OOM_NOTHING;
        TRY(advise_compute(s, &sections->oom, 0, &sections->advise, err));
        sections->has_advice = true;
    }
    *ret = sections;
    return VRS_OK;
}
