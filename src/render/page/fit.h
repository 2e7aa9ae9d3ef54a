/* fit.h - how much of the recordings a page holds: as much as its size allows.
 *
 * First it goes without columns that few need, then it holds the events around the peak only
 * (window.h), then it goes without more columns.  Bytes, lives, stacks and categories of
 * allocations are never left out.  The page says what it lacks (fit_sentences.h).
 *
 * The window is chosen by samples (fit_window.h) before it is packed.  Where that is too large
 * after all, it is corrected once. */
#ifndef VRS_RENDER_PAGE_FIT_H
#define VRS_RENDER_PAGE_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "render/page/page.h"

struct page_limits {
    uint64_t most_bytes; /* 0: any number */
    bool may_be_larger;  /* where no page is so small */
    bool asked;          /* the devices have the windows that were asked for, and keep them */
    uint32_t threads;    /* to pack on; 0: one for each processor */
    void (*note)(void *arg, const char *text); /* told what the page lacks; or NULL */
    void *note_arg;
};

/* Packs what is queued for the page, or as much of it as it can hold.  VRS_USAGE where nothing is
 * small enough; the message names the least. */
enum vrs_status page_fit(struct page *page, const struct page_limits *limits,
                         struct vrs_error *err) MUST_CHECK;

#endif
