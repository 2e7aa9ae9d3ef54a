/* story.c - asks each analysis what belongs on the page, in the order of their needs. */
#include "api/snapshot/story.h"

#include "analysis/snapshot/cache/parts.h"

enum vrs_status story_make(struct study *s, const struct story **ret, struct vrs_error *err)
{
    struct story *story = arena_take(s->keep, sizeof *story);
    if (story == NULL)
        return vrs_no_memory(err);
    TRY(parts_categories(s, &story->categories, err));
    TRY(parts_fragments(s, &story->fragments, err));
    if (s->traced) {
        TRY(parts_growth(s, &story->leaks, err));
        TRY(parts_oom(s, NULL, 0, &story->oom, err));
        story->has_oom = s->curves.oom_events > 0 && story->oom.basis != OOM_NOTHING;
        TRY(parts_advise(s, &story->oom, 0, &story->advise, err));
        story->has_advice = true;
    }
    *ret = story;
    return VRS_OK;
}
