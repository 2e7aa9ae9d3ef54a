/* view_column.h - columns of the page: numbers, packed so that a browser unpacks them quickly.
 *
 * docs/view-format.md is the contract.  A column is differences (where that is smaller), then byte
 * planes, lowest first, without those that are all zero, then one zlib stream; a column with one
 * value has no bytes.  Packed columns stand in blocks, one after the other. */
#ifndef VRS_RENDER_VIEW_COLUMN_H
#define VRS_RENDER_VIEW_COLUMN_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/vec.h"

enum view_type { VIEW_U8, VIEW_U16, VIEW_U32, VIEW_U64, VIEW_TYPES };
extern const char *const view_type_names[VIEW_TYPES];

enum view_change {
    VIEW_AS_IT_IS,
    VIEW_DELTA,  /* the difference to the row before, modulo the width */
    VIEW_ZIGZAG, /* the same as a signed number, its sign in the lowest bit */
};

/* A column to be packed: `value` gives the number of each row, within the type. */
struct view_column {
    const char *name;
    enum view_type type;
    enum view_change change;
    const char *unit; /* NULL: none */
    uint64_t (*value)(const void *from, uint32_t row);
};

/* What the head says of it. */
struct view_packed {
    const struct view_column *column;
    uint32_t rows;
    bool constant; /* all rows are `max`, and there are no bytes */
    uint64_t max;
    uint32_t block; /* where the bytes stand */
    uint64_t at, len;
    uint32_t planes;
};

/* JavaScript counts exactly up to here; larger numbers are packed as this, and counted. */
#define VIEW_NUMBER_MOST (((uint64_t)1 << 53) - 1)

struct view_blocks {
    VEC(struct buf) block;
    uint32_t at;      /* the one that is filled */
    uint64_t clipped; /* numbers above VIEW_NUMBER_MOST */
};

/* With a first block, the cover.  False when out of memory; then to be freed as well. */
bool view_blocks_init(struct view_blocks *blocks);
void view_blocks_free(struct view_blocks *blocks);

/* What is packed from here on stands in a new block, or in the cover. */
bool view_blocks_next(struct view_blocks *blocks);
void view_blocks_cover(struct view_blocks *blocks);

/* Packs `rows` values of `from` behind what the block holds. */
enum vrs_status view_pack(struct view_blocks *blocks, const struct view_column *column,
                          const void *from, uint32_t rows, struct view_packed *ret,
                          struct vrs_error *err) MUST_CHECK;

/* The same of bytes as they are. */
enum vrs_status view_pack_bytes(struct view_blocks *blocks, const struct view_column *column,
                                const void *bytes, uint32_t len, struct view_packed *ret,
                                struct vrs_error *err) MUST_CHECK;

#endif
