/* fit_window.h - how many states the windows of a page may have, found by samples of its columns.
 *
 * A window is chosen before it is packed.  Bytes grow with states nearly as a line does: what two
 * windows are sampled to tells which one to try next. */
#ifndef VRS_RENDER_PAGE_FIT_WINDOW_H
#define VRS_RENDER_PAGE_FIT_WINDOW_H

#include <stdint.h>

#include "base/fail.h"
#include "render/page/page.h"

/* A page whose windows have at most so many states. */
struct fit_size {
    uint32_t states;
    uint64_t bytes; /* of the page, as far as samples tell */
};

/* How many states the page has of the device that it has most of. */
uint32_t fit_window_states(const struct page *page);

/* Gives each device so many states around its peak. */
enum vrs_status fit_window_take(const struct page *page, uint32_t states,
                                struct vrs_error *err) MUST_CHECK;

/* How large the page would be with the windows that its devices have now, without the columns that
 * go before events do.  What does not depend on windows is packed. */
enum vrs_status fit_window_sample(const struct page *page, uint32_t threads, uint64_t *ret,
                                  struct vrs_error *err) MUST_CHECK;

/* The most states whose page is no larger than `most`, as far as samples tell; that of `large` is
 * known to be larger.  Where none is, PAGE_WINDOW_LEAST states and no bytes. */
enum vrs_status fit_window_choose(const struct page *page, uint32_t threads, struct fit_size large,
                                  uint64_t most, struct fit_size *ret,
                                  struct vrs_error *err) MUST_CHECK;

/* The number of states that has so many bytes on the line through two sizes; between two bounds,
 * which lie apart. */
uint32_t fit_window_on_line(struct fit_size a, struct fit_size b, uint64_t bytes, uint32_t above,
                            uint32_t below);

#endif
