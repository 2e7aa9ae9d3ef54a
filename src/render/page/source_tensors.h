/* source_tensors.h - what the recorded process called the allocations of a device.
 *
 * Texts have a table of their own, which a page that was to be small may go without. */
#ifndef VRS_RENDER_PAGE_SOURCE_TENSORS_H
#define VRS_RENDER_PAGE_SOURCE_TENSORS_H

#include <stdint.h>

#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "model/strings.h"

struct page_tensors {
    uint32_t *of;          /* of each allocation of the device: its name, 0: none */
    uint32_t first, count; /* rows of named: those of name 1, 2, …; `of` is NULL without any */
    uint32_t *name, *path; /* of each name, strings; the first row is none */
    uint32_t *shape, *dtype, *owner, *shared;
    struct strings strings;
};

/* Lives in the study's scratch.  Ends with page_tensors_end, also after a failure. */
enum vrs_status page_tensors_make(const struct study *s, struct page_tensors *ret,
                                  struct vrs_error *err) MUST_CHECK;
void page_tensors_end(struct page_tensors *tensors);

#endif
