/* view_marks.h - spans of a device's states with names: steps, phases, annotations. */
#ifndef VRS_RENDER_PAGE_VIEW_MARKS_H
#define VRS_RENDER_PAGE_VIEW_MARKS_H

#include "render/page/view_names.h"

enum view_mark_kind { VIEW_STEP, VIEW_PHASE, VIEW_ANNOTATION };

struct view_mark {
    uint8_t kind, depth;  /* of annotations: how many it lies in, at most 255 */
    uint32_t first, last; /* states */
    uint32_t name;        /* string of the names; 0: none */
};

struct view_marks {
    struct view_mark *at;
    uint32_t count;
};

/* Steps, then phases, then annotations, each in the order of their first states.  Rows live in the
 * study's scratch. */
enum vrs_status view_marks_make(const struct study *s, struct view_names *names,
                                struct view_marks *ret, struct vrs_error *err) MUST_CHECK;

#endif
