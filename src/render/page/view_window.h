/* view_window.h - a page that would be too large holds the allocations of some events only.
 *
 * It is then a page of the states `first` to `last` of a device: all allocations that are alive in
 * one of them, whole, and none of the others.  States keep their numbers.  Of time it has every
 * event in them, outside of them only when the states of the cover came; the cover stays that of
 * the whole recording.  The figures to be found again are those of states in it. */
#ifndef VRS_RENDER_PAGE_VIEW_WINDOW_H
#define VRS_RENDER_PAGE_VIEW_WINDOW_H

#include "render/page/view_fit.h"

/* A page of fewer states would not show what led to the peak. */
enum { VIEW_WINDOW_LEAST = 64 };

struct view_window {
    uint32_t first, last; /* states */
};

/* So many states around the requested peak, at least one; of a device with fewer, all. */
struct view_window view_window_around(const struct view_device *device, uint32_t states);

/* Leaves in the page what this window of a device needs.  It lies within the one that the device
 * has; `threads` as for view_pack_all.  Fails for want of memory; the page is then good for nothing
 * but to be freed. */
enum vrs_status view_window_take(struct view_parts *parts, struct view_device *device,
                                 struct view_window window, uint32_t threads,
                                 struct vrs_error *err) MUST_CHECK;

/* Bytes, before they are base64, of what a smaller window of a device would have less of. */
uint64_t view_window_bytes(const struct view_device *device);

/* Whether the device's window is less than all of its states. */
bool view_is_windowed(const struct view_device *device);

#endif
