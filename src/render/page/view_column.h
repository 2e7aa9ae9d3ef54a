/* view_column.h - columns of the page: numbers, packed so that a browser unpacks them quickly.
 *
 * docs/view-format.md is the contract.  A column is differences (where that is smaller), then its
 * bytes, as planes or number after number, without the highest ones where they are all zero, then
 * one zlib stream; a column with one value has no bytes.  Packed columns stand in blocks, one after
 * the other.  Columns are queued, and then packed together. */
#ifndef VRS_RENDER_PAGE_VIEW_COLUMN_H
#define VRS_RENDER_PAGE_VIEW_COLUMN_H

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
    uint32_t planes; /* bytes of each number that are not left out */
    bool shuffled;   /* as planes; else number after number */
};

/* JavaScript counts exactly up to here; larger numbers are packed as this, and counted. */
#define VIEW_NUMBER_MOST (((uint64_t)1 << 53) - 1)

enum view_where { VIEW_COVER_BLOCK, VIEW_NEW_BLOCK, VIEW_LAST_BLOCK };

/* A column that waits to be packed. */
struct view_work {
    const struct view_column *column;
    const void *from;
    const uint8_t *bytes; /* as they are; NULL: numbers of `from` */
    uint32_t rows;
    enum view_where where;
    struct view_packed *ret;
    struct buf packed;
    uint64_t clipped;
    enum vrs_status status;
};

struct view_blocks {
    VEC(struct buf) block; /* the first is the cover */
    VEC(struct view_work) work;
    enum view_where where; /* of what is queued next */
    uint64_t clipped;      /* numbers above VIEW_NUMBER_MOST */
};

/* What is queued next stands in the cover.  False when out of memory; then to be freed as well. */
bool view_blocks_init(struct view_blocks *blocks);
void view_blocks_free(struct view_blocks *blocks);

/* `rows` values of `from`, or bytes as they are; both, and `ret`, until all are packed.  False when
 * out of memory. */
bool view_queue(struct view_blocks *blocks, const struct view_column *column, const void *from,
                uint32_t rows, struct view_packed *ret);
bool view_queue_bytes(struct view_blocks *blocks, const struct view_column *column,
                      const uint8_t *bytes, uint32_t len, struct view_packed *ret);

/* Packs one, which stands in `packed` of it then. */
enum vrs_status view_pack(struct view_work *work) MUST_CHECK;

/* Packs what is queued on so many threads (0: one for each processor), in its order. */
enum vrs_status view_pack_all(struct view_blocks *blocks, uint32_t threads,
                              struct vrs_error *err) MUST_CHECK;

#endif
