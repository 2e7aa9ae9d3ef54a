/* view.h - a recording as a page: what the page is made of, and how it is written.
 *
 * docs/view-format.md is the contract with viewer/.  The columns of a device are packed while its
 * study lives; what the head says of them is kept until the page is written. */
#ifndef VRS_RENDER_PAGE_VIEW_H
#define VRS_RENDER_PAGE_VIEW_H

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/study/study.h"
#include "render/answer/result.h"
#include "render/page/view_column.h"
#include "render/write/json.h"
#include "render/write/out.h"

enum { VIEW_COLUMNS_MOST = 20, VIEW_CHECKS = 20, VIEW_COVER = 2048 };

enum view_table_name {
    VIEW_ALLOC,
    VIEW_TIME,
    VIEW_RANGE,
    VIEW_EVENT,
    VIEW_OOM,
    VIEW_MARK,
    VIEW_STACK,
    VIEW_FRAME,
    VIEW_STRING,
    VIEW_ADJUST,
    VIEW_COVER_TABLE,
    VIEW_TABLES
};
extern const char *const view_table_names[VIEW_TABLES];

struct view_table {
    uint32_t rows;
    struct view_packed column[VIEW_COLUMNS_MOST];
    uint32_t columns;
};

/* What the page has to find again: the figures of one state. */
struct view_check {
    uint32_t state;
    int64_t requested_bytes;
    uint64_t live;
    int64_t reserved_bytes;
    bool reserved_known; /* not in a cut file whose start is not known */
};

struct view_device {
    struct device_name name;
    uint32_t states;
    uint32_t first_state, last_state; /* whose allocations the page has: render/view_window.h */
    uint32_t peak_state;              /* of the requested peak, the earliest */
    uint32_t allocations;             /* of the whole recording */
    int64_t adjust_bytes;    /* what the live set lacks to the requested curve, in state 0 */
    uint64_t base_us;        /* of the first event; UNKNOWN_U64: no times */
    uint64_t capacity_bytes; /* the least that the card has; UNKNOWN_U64: nothing tells */
    const uint64_t *stream;  /* handles */
    const uint64_t (*pool)[2];
    uint32_t streams, pools;
    const char *const *rule;
    uint32_t rules;
    struct view_check check[VIEW_CHECKS];
    uint32_t checks;
    bool traced;
    bool start_known;               /* of the reserved curve */
    uint64_t clipped;               /* sizes that JavaScript cannot count */
    uint32_t peak_step;             /* that of the requested peak, from 1; 0: none */
    const uint32_t *stack_row;      /* of each row of table stack: that of the recording */
    const struct fragments *at_oom; /* after the last failure; NULL: none, or not known */
    struct view_table table[VIEW_TABLES];
};

struct view_file {
    const struct answer_set *report; /* of one file */
    struct view_device *device;
    uint32_t devices;
};

/* Two devices of the page, and of each of their stacks which place it is in both: with the other at
 * the peaks, and over all of the recordings. */
enum view_pair_table {
    VIEW_PAIR_A, /* of each stack of the first: matches, plus 1 */
    VIEW_PAIR_B,
    VIEW_PAIR_PEAK, /* of each match: how it was found */
    VIEW_PAIR_EVER,
    VIEW_PAIR_TABLES
};

struct view_pair {
    struct {
        uint32_t file, device; /* places in the head */
        uint32_t peak_state;
    } side[2];
    enum diff_keyless keyless;
    enum diff_stage first; /* as in struct diff_pairing */
    struct view_table table[VIEW_PAIR_TABLES];
};

/* What a page may go without, the least needed first; some of it is needed less than events. */
enum view_spare {
    VIEW_SPARE_FREES,
    VIEW_SPARE_RULES,
    VIEW_SPARES_BEFORE_EVENTS,
    VIEW_SPARE_BLOCKS = VIEW_SPARES_BEFORE_EVENTS,
    VIEW_SPARE_TIMES,
    VIEW_SPARE_ADDRESSES,
    VIEW_SPARES
};

struct viewing {
    const struct view_file *file;
    uint32_t files;
    const struct view_pair *pair;
    uint32_t pairs;
    const struct ranks *ranks; /* of all devices that hold memory; NULL: of fewer than two */
    const struct view_blocks *blocks;
    const char *tool;                 /* version */
    const char *editor, *editor_path; /* as the options say, or NULL */
    bool left_out[VIEW_SPARES];
};

/* Packs the tables of a proven study: its cover, a block of what the first picture needs, then the
 * rest.  `ret` has its name and lists already. */
enum vrs_status view_tables(struct study *s, struct view_blocks *blocks, struct view_device *ret,
                            struct vrs_error *err) MUST_CHECK;

/* Queues the curves of the whole recording in few columns, which stand in the study's scratch,
 * finds what they tell of the card, and the figures that the page must find again. */
enum vrs_status view_cover(const struct study *s, struct view_blocks *blocks,
                           struct view_device *ret, struct vrs_error *err) MUST_CHECK;

/* Finds `adjust_bytes`, and queues what it is in other states, where the file contradicts itself.
 */
enum vrs_status view_adjust(const struct study *s, struct view_blocks *blocks,
                            struct view_device *ret, struct vrs_error *err) MUST_CHECK;

/* Packs what the page needs to sum up a difference; `a` and `b` are in the page already. */
enum vrs_status view_pair_pack(const struct view_device *a, const struct view_device *b,
                               const struct diff_pairing *peak, const struct diff_pairing *ever,
                               struct view_blocks *blocks, struct view_pair *ret,
                               struct vrs_error *err) MUST_CHECK;

/* The members "diff" and "ranks" of the head, each behind a comma. */
void view_many_head(struct buf *to, const struct viewing *viewing);

/* The member "oom" of a device: why its last request failed, and what lay free then. */
void view_put_oom(struct json *j, const struct view_device *device, const struct story *story);

/* Tables as the head has them, under the names of `names`. */
void view_put_tables(struct json *j, const struct view_table *table, const char *const *names,
                     uint32_t tables);

/* The JSON of the page's head, with nothing that could end a script element. */
void view_head(struct buf *to, const struct viewing *viewing);

/* The whole page.  Failures are those of `out`. */
void view_page(struct out *out, const struct viewing *viewing);

/* How large it is, without writing its blocks. */
enum vrs_status view_page_bytes(const struct viewing *viewing, uint64_t *ret,
                                struct vrs_error *err) MUST_CHECK;

#endif
