/* source.h - a device as pictures of it have it: allocations in the order of their births.
 *
 * Those older than the recording come first.  State p is the recording after its first p events;
 * figures of an allocation are those of docs/view-format.md, table `alloc`. */
#ifndef VRS_RENDER_PAGE_SOURCE_H
#define VRS_RENDER_PAGE_SOURCE_H

#include <stdint.h>

#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "render/page/source_marks.h"
#include "render/page/source_names.h"
#include "render/page/source_ranges.h"
#include "render/page/source_tensors.h"

struct page_source {
    const struct proven_study *proven;
    const struct study *s; /* its study */
    struct page_names names;
    uint32_t *order; /* of allocations: older ones first, then by birth */
    uint32_t *pool;  /* of each allocation, in `order` */
    struct page_ranges ranges;
    struct page_marks marks;
    struct page_tensors tensors;
    uint32_t *context; /* of each of the recording's: a string of the names; NULL: no texts */
    uint32_t *events;  /* rows of events that no allocation tells of */
    uint32_t event_count;
    uint32_t *ooms; /* those of them that ran out of memory */
    uint32_t oom_count;
};

/* Lives in the study's scratch.  Ends with page_source_end; a failed call needs none. */
enum vrs_status page_source_make(const struct proven_study *proven, struct page_source *ret,
                                 struct vrs_error *err) MUST_CHECK;
void page_source_end(struct page_source *source);

/* Figures of an allocation; `source` is a struct page_source. */
uint64_t page_alloc_born(const void *source, uint32_t row);
uint64_t page_alloc_until(const void *source, uint32_t row);
uint64_t page_alloc_waits(const void *source, uint32_t row);
uint64_t page_alloc_bytes(const void *source, uint32_t row);
uint64_t page_alloc_pad(const void *source, uint32_t row);
uint64_t page_alloc_source(const void *source, uint32_t row);
uint64_t page_alloc_lane(const void *source, uint32_t row);
uint64_t page_alloc_stack(const void *source, uint32_t row);
uint64_t page_alloc_free_stack(const void *source, uint32_t row);
uint64_t page_alloc_category(const void *source, uint32_t row);
uint64_t page_alloc_sure(const void *source, uint32_t row);
uint64_t page_alloc_rule(const void *source, uint32_t row);
uint64_t page_alloc_phase(const void *source, uint32_t row);
uint64_t page_alloc_stream(const void *source, uint32_t row);
uint64_t page_alloc_pool(const void *source, uint32_t row);
uint64_t page_alloc_flags(const void *source, uint32_t row);
uint64_t page_alloc_context(const void *source, uint32_t row); /* where there are texts */
uint64_t page_alloc_tensor(const void *source, uint32_t row);  /* where there are names */

/* Where an address lies among all that were ever mapped, in units of 512 bytes; UINT32_MAX: never.
 */
uint64_t page_lane_of(const struct page_source *source, uint64_t address);

/* The events that were asked for: those `from` a moment (-1: the start) `to` another one, where
 * NULL is all of that side.  VRS_USAGE where the device has no such event, or the first is behind
 * the last. */
enum vrs_status page_events_between(const struct study *s, const struct moment *from,
                                    const struct moment *to, int64_t *ret_first, int64_t *ret_last,
                                    struct vrs_error *err) MUST_CHECK;

/* The row of events of `events` or `ooms`. */
uint32_t page_event_row(const struct page_source *source, const uint32_t *events, uint32_t row);

#endif
