/* unpack.h - columns that are packed already, once more as numbers.
 *
 * They are columns of this process, never of a file: all that can fail is memory. */
#ifndef VRS_RENDER_PAGE_UNPACK_H
#define VRS_RENDER_PAGE_UNPACK_H

#include "base/arena.h"
#include "render/page/column.h"

/* `ret` has the number of each of `column->rows` rows, in `arena`. */
enum vrs_status page_unpack(const struct page_packed *column, const struct page_chunks *blocks,
                            struct arena *arena, uint64_t **ret, struct vrs_error *err) MUST_CHECK;

/* Packs `rows` other numbers, within the type, as the same column: `ret` is what the head says of
 * it then, its bytes are appended to `to` and stand in no block yet. */
enum vrs_status page_repack(const struct page_packed *column, const uint64_t *numbers,
                            uint32_t rows, struct page_packed *ret, struct buf *to,
                            struct vrs_error *err) MUST_CHECK;

#endif
