/* deflate.h - compresses a column into one zlib stream, in the layout that is shortest. */
#ifndef VRS_RENDER_PAGE_DEFLATE_H
#define VRS_RENDER_PAGE_DEFLATE_H

#include "base/buf.h"
#include "base/fail.h"

/* Numbers of `rows` rows as byte planes, lowest first, one after the other. */
struct page_planes {
    const uint8_t *at;
    uint32_t rows, count; /* 1 to 8 */
};

/* Appends the stream to `to`: plane after plane, or, where a sample says that it is shorter, number
 * after number with its `count` lowest bytes.  `ret` says whether it is planes. */
enum vrs_status page_deflate(const struct page_planes *planes, struct buf *to, bool *ret,
                             struct vrs_error *err) MUST_CHECK;

#endif
