/* view_unpack.h - columns that are packed already, once more as numbers. */
#ifndef VRS_RENDER_VIEW_UNPACK_H
#define VRS_RENDER_VIEW_UNPACK_H

#include "base/arena.h"
#include "render/view_column.h"

/* The number of each row, in `arena`. */
enum vrs_status view_unpack(const struct view_packed *column, const struct view_blocks *blocks,
                            struct arena *arena, uint64_t **ret, struct vrs_error *err) MUST_CHECK;

/* Packs other numbers in their place: `ret` is the column as it then is, its bytes are appended to
 * `to` and stand nowhere yet. */
enum vrs_status view_repack(const struct view_packed *column, const uint64_t *numbers,
                            uint32_t rows, struct view_packed *ret, struct buf *to,
                            struct vrs_error *err) MUST_CHECK;

#endif
