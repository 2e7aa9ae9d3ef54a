/* column.h - columns of the page: numbers, packed so that a browser unpacks them quickly.
 *
 * docs/view-format.md is the contract.  A column is differences (where that is smaller), then its
 * bytes, as planes or number after number, without the highest ones where they are all zero, then
 * one zlib stream; a column with one value has no bytes.  Columns are queued, packed together, and
 * at last placed in blocks, one after the other in the order of the queue. */
#ifndef VRS_RENDER_PAGE_COLUMN_H
#define VRS_RENDER_PAGE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/vec.h"

enum { PAGE_COLUMNS_MOST = 20 };

enum page_type { PAGE_U8, PAGE_U16, PAGE_U32, PAGE_U64, PAGE_TYPES };
extern const char *const page_type_names[PAGE_TYPES];

enum page_change {
    PAGE_AS_IT_IS,
    PAGE_DELTA,  /* the difference to the row before, modulo the width */
    PAGE_ZIGZAG, /* the same as a signed number, its sign in the lowest bit */
};

/* What a page may go without, the least needed first; some of it is needed less than events. */
enum page_spare {
    PAGE_NEEDED,
    PAGE_SPARE_FREES,
    PAGE_SPARE_RULES,
    PAGE_SPARES_BEFORE_EVENTS,
    PAGE_SPARE_BLOCKS = PAGE_SPARES_BEFORE_EVENTS,
    PAGE_SPARE_TIMES,
    PAGE_SPARE_TENSORS,
    PAGE_SPARE_ADDRESSES,
    PAGE_SPARES
};

/* A column to be packed: `value` gives the number of each row, within the type. */
struct page_column {
    const char *name;
    enum page_type type;
    enum page_change change;
    const char *unit; /* NULL: none */
    uint64_t (*value)(const void *from, uint32_t row);
    enum page_spare spare;
};

/* What the head says of it. */
struct page_packed {
    const struct page_column *column;
    uint32_t rows;
    bool constant; /* all rows are `max`, and there are no bytes */
    bool left_out; /* the page does without: there are no bytes either */
    uint64_t max;
    uint32_t block; /* where the bytes stand */
    uint64_t at, len;
    uint32_t planes;  /* bytes of each number that are not left out */
    bool shuffled;    /* as planes; else number after number */
    uint64_t clipped; /* numbers above PAGE_NUMBER_MOST */
};

struct page_table {
    uint32_t rows;
    /* Rows at its ends that are 0, but for so many that hold a number. */
    uint32_t idle_before, idle_behind, idle_numbers;
    struct page_packed column[PAGE_COLUMNS_MOST];
    uint32_t columns;
};

/* JavaScript counts exactly up to here; larger numbers are packed as this, and counted. */
#define PAGE_NUMBER_MOST (((uint64_t)1 << 53) - 1)

enum page_where { PAGE_COVER_BLOCK, PAGE_NEW_BLOCK, PAGE_LAST_BLOCK };

/* Whether the rows of a column depend on which states the page holds. */
enum page_share { PAGE_FIXED = 1, PAGE_WINDOWED = 2, PAGE_ALL = PAGE_FIXED | PAGE_WINDOWED };

/* A column in the queue. */
struct page_work {
    const struct page_column *column;
    const void *from;
    const uint8_t *bytes; /* as they are, `len` of them; NULL: a number for each row of the table */
    uint32_t len;
    struct page_table *table;
    uint32_t place; /* of the table's columns */
    enum page_where where;
    enum page_share share;
    bool unwanted; /* left out, unless it has no bytes anyhow */
    bool done;
    struct buf packed;
    uint64_t whole; /* bytes that it was packed to last: none where it was left out by then */
};

struct page_block {
    uint64_t len;
    uint64_t whole; /* with what was left out since it was packed: by it a block is full */
};

struct page_chunks {
    VEC(struct page_work) work;
    VEC(struct page_block) block; /* the first is the cover */
    enum page_where where;        /* of what is queued next */
    enum page_share share;
};

/* What is queued next stands in the cover and is PAGE_FIXED. */
void page_chunks_init(struct page_chunks *chunks);
void page_chunks_free(struct page_chunks *chunks);

/* One more column of a table: a number of `from` for each row that the table has when it is packed,
 * or `len` bytes as they are.  All of that, and the table, until it is packed for the last time.
 * False when out of memory. */
bool page_queue(struct page_chunks *chunks, struct page_table *table,
                const struct page_column *column, const void *from);
bool page_queue_bytes(struct page_chunks *chunks, struct page_table *table,
                      const struct page_column *column, const uint8_t *bytes, uint32_t len);

/* Packs on so many threads (0: one for each processor) what is queued of a share: what is fixed
 * once, what is windowed again and again. */
enum vrs_status page_pack(struct page_chunks *chunks, enum page_share share, uint32_t threads,
                          struct vrs_error *err) MUST_CHECK;

/* The page is to do without it. */
void page_leave_out(struct page_work *work);

/* How many bytes a column of numbers would be packed to: of a table with few rows exactly so many,
 * else about as many, going by a few runs of its busy rows. */
enum vrs_status page_sample(const struct page_work *work, uint64_t *ret,
                            struct vrs_error *err) MUST_CHECK;

/* As numbers of their whole width. */
uint64_t page_unpacked(const struct page_work *work);

/* Says of each column where it stands.  Again after more was packed or left out. */
enum vrs_status page_place(struct page_chunks *chunks, struct vrs_error *err) MUST_CHECK;

/* The bytes of a block from `at` on, `most` of them if it has as many; returns how many. */
size_t page_block_read(const struct page_chunks *chunks, uint32_t block, uint64_t at, char *to,
                       size_t most);

#endif
