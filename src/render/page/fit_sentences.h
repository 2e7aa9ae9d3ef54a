/* fit_sentences.h - what a person is told of a page that had to be kept small. */
#ifndef VRS_RENDER_PAGE_FIT_SENTENCES_H
#define VRS_RENDER_PAGE_FIT_SENTENCES_H

#include <stdint.h>

#include "base/fail.h"
#include "render/page/column.h"
#include "render/page/fit.h"
#include "render/page/page.h"

/* What a page can do without, the least needed first. */
extern const char *const page_spare_words[PAGE_SPARES];

/* Tells `note` in one line what the page lacks, which has so many bytes. */
enum vrs_status fit_say_left_out(const struct page *page, const struct page_limits *limits,
                                 uint64_t bytes, struct vrs_error *err) MUST_CHECK;

/* Fails: no page is smaller than so many bytes. */
enum vrs_status fit_refuse(uint64_t bytes, struct vrs_error *err) MUST_CHECK;

#endif
