/* column.h - columns of the page: numbers, packed so that a browser unpacks them quickly.
 *
 * docs/view-format.md is the contract.  A column is differences (where that is smaller), then its
 * bytes, as planes or number after number, without the highest ones where they are all zero, then
 * one zlib stream; a column with one value has no bytes.  Packed columns stand in blocks, one after
 * the other.  Columns are queued, and then packed together. */
#ifndef VRS_RENDER_PAGE_COLUMN_H
#define VRS_RENDER_PAGE_COLUMN_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/vec.h"

enum page_type { PAGE_U8, PAGE_U16, PAGE_U32, PAGE_U64, PAGE_TYPES };
extern const char *const page_type_names[PAGE_TYPES];

enum page_change {
    PAGE_AS_IT_IS,
    PAGE_DELTA,  /* the difference to the row before, modulo the width */
    PAGE_ZIGZAG, /* the same as a signed number, its sign in the lowest bit */
};

/* A column to be packed: `value` gives the number of each row, within the type. */
struct page_column {
    const char *name;
    enum page_type type;
    enum page_change change;
    const char *unit; /* NULL: none */
    uint64_t (*value)(const void *from, uint32_t row);
};

/* What the head says of it. */
struct page_packed {
    const struct page_column *column;
    uint32_t rows;
    bool constant; /* all rows are `max`, and there are no bytes */
    uint64_t max;
    uint32_t block; /* where the bytes stand */
    uint64_t at, len;
    uint32_t planes; /* bytes of each number that are not left out */
    bool shuffled;   /* as planes; else number after number */
};

/* JavaScript counts exactly up to here; larger numbers are packed as this, and counted. */
#define PAGE_NUMBER_MOST (((uint64_t)1 << 53) - 1)

enum page_where { PAGE_COVER_BLOCK, PAGE_NEW_BLOCK, PAGE_LAST_BLOCK };

/* A column that waits to be packed. */
struct page_work {
    const struct page_column *column;
    const void *from;
    const uint8_t *bytes; /* as they are; NULL: numbers of `from` */
    uint32_t rows;
    enum page_where where;
    struct page_packed *ret;
    struct buf packed;
    uint64_t clipped;
};

struct page_chunks {
    VEC(struct buf) block; /* the first is the cover */
    VEC(struct page_work) work;
    enum page_where where; /* of what is queued next */
    uint64_t clipped;      /* numbers above PAGE_NUMBER_MOST */
};

/* What is queued next stands in the cover.  False when out of memory; then to be freed as well. */
bool page_chunks_init(struct page_chunks *blocks);
void page_chunks_free(struct page_chunks *blocks);

/* `rows` values of `from`, or bytes as they are; both, and `ret`, until all are packed.  False when
 * out of memory. */
bool page_queue(struct page_chunks *blocks, const struct page_column *column, const void *from,
                uint32_t rows, struct page_packed *ret);
bool page_queue_bytes(struct page_chunks *blocks, const struct page_column *column,
                      const uint8_t *bytes, uint32_t len, struct page_packed *ret);

/* Packs one, which stands in `packed` of it then. */
enum vrs_status page_pack(struct page_work *work) MUST_CHECK;

/* Packs what is queued on so many threads (0: one for each processor), in its order. */
enum vrs_status page_pack_all(struct page_chunks *blocks, uint32_t threads,
                              struct vrs_error *err) MUST_CHECK;

#endif
