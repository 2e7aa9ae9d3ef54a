/* source_marks.h - spans of a device's states with names: steps, phases, annotations. */
#ifndef VRS_RENDER_PAGE_SOURCE_MARKS_H
#define VRS_RENDER_PAGE_SOURCE_MARKS_H

#include <stdint.h>

#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "render/page/source_names.h"

enum page_mark_kind { PAGE_STEP, PAGE_PHASE, PAGE_ANNOTATION, PAGE_UNENDED_STEP };

struct page_mark {
    uint8_t kind, depth;  /* of annotations: how many it lies in, at most 255 */
    uint32_t first, last; /* states */
    uint32_t name;        /* string of the names; 0: none */
};

struct page_marks {
    struct page_mark *at;
    uint32_t count;
};

/* Steps, then phases, then annotations, each in the order of their first states.  Rows live in the
 * study's scratch. */
enum vrs_status page_marks_make(const struct study *s, struct page_names *names,
                                struct page_marks *ret, struct vrs_error *err) MUST_CHECK;

#endif
