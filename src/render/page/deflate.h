/* deflate.h - compresses a column into one zlib stream, in the layout that is shortest. */
#ifndef VRS_RENDER_PAGE_DEFLATE_H
#define VRS_RENDER_PAGE_DEFLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"

/* Numbers of `rows` rows as byte planes, lowest first, one after the other. */
struct page_planes {
    const uint8_t *at;
    uint32_t rows, count;     /* 1 to 8 */
    uint32_t busy_from, busy; /* the rows in which there is something, which are all, or some */
    bool idle;                /* in others of the column there is nothing */
};

/* Appends the stream to `to`: plane after plane, or, where a sample says that it is shorter, number
 * after number with its `count` lowest bytes.  `ret` says whether it is planes. */
enum vrs_status page_deflate(const struct page_planes *planes, struct buf *to, bool *ret,
                             struct vrs_error *err) MUST_CHECK;

/* About how many bytes the stream of `rows` rows has, going by `count` runs of as many rows each,
 * all over the column.  What the first run begins with is new; of each run the first half is there
 * to be found again, and the second tells what more rows add.  All are packed as the run in the
 * middle is shortest. */
enum { PAGE_RUN = 1 << 16 };
enum vrs_status page_deflate_sample(const struct page_planes *runs, uint32_t count, uint32_t rows,
                                    uint64_t *ret, struct vrs_error *err) MUST_CHECK;

#endif
