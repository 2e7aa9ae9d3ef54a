/* window.h - narrows a page that would be too large to the allocations of some events.
 *
 * It is then a page of the states `first` to `last` of a device: all allocations that are alive in
 * one of them, whole, and none of the others.  States keep their numbers.  Of time it has every
 * event in them, outside of them only when the states of the cover came; the cover stays that of
 * the whole recording.  The figures to be found again are those of states in it. */
#ifndef VRS_RENDER_PAGE_WINDOW_H
#define VRS_RENDER_PAGE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "render/page/page.h"

/* A page of fewer states would not show what led to the peak. */
enum { PAGE_WINDOW_LEAST = 64 };

struct page_window {
    uint32_t first, last; /* states */
};

/* So many states around the requested peak, at least one; of a device with fewer, all. */
struct page_window page_window_around(const struct page_device *device, uint32_t states);

/* Leaves in the tables of a device, before they are packed, what this window of it needs; whatever
 * window it had before. */
enum vrs_status page_window_take(struct page_device *device, struct page_window window,
                                 struct vrs_error *err) MUST_CHECK;

/* Whether the device's window is less than all of its states. */
bool page_is_windowed(const struct page_device *device);

#endif
