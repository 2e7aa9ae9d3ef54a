/* page.h - a recording as a page: what the page is made of, and how it is written.
 *
 * docs/view-format.md is the contract with viewer/.  The columns of all devices are queued while
 * their studies live, which is until the page is written: only when everything is known that stands
 * in it, it is known how much of the recordings it can hold (fit.h), and that is packed. */
#ifndef VRS_RENDER_PAGE_PAGE_H
#define VRS_RENDER_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "render/answer/answer.h"
#include "render/page/column.h"
#include "render/page/lines.h"
#include "render/page/source.h"
#include "render/write/json.h"
#include "render/write/out.h"

enum { PAGE_CHECKS = 20, PAGE_COVER = 2048 };

/* Of time; others are smaller. */
#define PAGE_STEP_UNKNOWN UINT32_MAX

enum page_table_name {
    PAGE_ALLOC,
    PAGE_TIME,
    PAGE_RANGE,
    PAGE_EVENT,
    PAGE_OOM,
    PAGE_MARK,
    PAGE_STACK,
    PAGE_FRAME,
    PAGE_STRING,
    PAGE_TENSOR,
    PAGE_TENSOR_STRING,
    PAGE_ADJUST,
    PAGE_COVER_TABLE,
    PAGE_TABLES
};
extern const char *const page_table_names[PAGE_TABLES];

/* What the page has to find again: the figures of one state. */
struct page_check {
    uint32_t state;
    int64_t requested_bytes;
    uint64_t live;
    int64_t reserved_bytes;
    bool reserved_known; /* not in a cut file whose start is not known */
};

/* A span of the cover: the state in it with the most requested bytes, the earliest. */
struct page_span {
    uint32_t state;
    int64_t requested, reserved;
};

/* What the tables of a device are filled from, in its study's scratch. */
struct page_draft {
    struct page_source source;    /* its allocations are those that the page holds */
    uint32_t *order, *pool;       /* of the source, for all allocations */
    uint32_t *held, *held_pool;   /* room for some of them; NULL: not yet */
    uint32_t *step_room;          /* room for the next; NULL: not yet */
    const uint32_t *step;         /* of time, joined outside a window; NULL: as it was recorded */
    const struct page_span *span; /* of the cover */
    uint32_t spans;
    struct page_check check[PAGE_CHECKS]; /* of all states */
    uint32_t checks;
};

struct page_device {
    struct device_name name;
    struct page_draft *draft;
    uint32_t states;
    uint32_t first_state, last_state; /* whose allocations the page has: window.h */
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
    struct page_check check[PAGE_CHECKS];
    uint32_t checks;
    bool traced;
    bool compared;                  /* with another device of the page */
    bool start_known;               /* of the reserved curve */
    uint32_t peak_step;             /* that of the requested peak, from 1; 0: none */
    const uint32_t *stack_row;      /* of each row of table stack: that of the recording */
    const struct fragments *at_oom; /* after the last failure; NULL: none, or not known */
    struct page_table table[PAGE_TABLES];
};

struct page_file {
    const struct answer_set *report; /* of one file */
    struct page_device *device;
    uint32_t devices;
};

/* Two devices of the page, and of each of their stacks which place it is in both: with the other at
 * the peaks, and over all of the recordings. */
enum page_pair_table {
    PAGE_PAIR_A, /* of each stack of the first: matches, plus 1 */
    PAGE_PAIR_B,
    PAGE_PAIR_PEAK, /* of each match: how it was found */
    PAGE_PAIR_EVER,
    PAGE_PAIR_TABLES
};

struct page_pair {
    struct {
        uint32_t file, device; /* places in the head */
        uint32_t peak_state;
    } side[2];
    enum diff_keyless keyless;
    enum diff_stage first; /* as in struct diff_pairing */
    struct page_table table[PAGE_PAIR_TABLES];
};

struct page {
    struct page_file *file;
    uint32_t files;
    struct page_pair *pair;
    uint32_t pairs;
    const struct ranks *ranks; /* of all devices that hold memory; NULL: of fewer than two */
    struct page_chunks *chunks;
    const char *tool;                 /* version */
    const char *editor, *editor_path; /* as the options say, or NULL */
    struct page_lines lines;          /* with their texts */
    struct report_set unread;         /* its files that could not be read, and nothing else */
    bool left_out[PAGE_SPARES];
};

/* The devices of all files, one after the other; NULL behind the last. */
struct page_device *page_device_at(const struct page *page, uint32_t i);

/* Queues the tables of a study: its cover, a block of what the first picture needs, then the rest.
 * `ret` has its name and lists already.  Ends with page_tables_end. */
enum vrs_status page_tables(const struct proven_study *proven, struct page_chunks *chunks,
                            struct page_device *ret, struct vrs_error *err) MUST_CHECK;
void page_tables_end(struct page_device *device);

/* Queues the curves of the whole recording in few columns, finds what they tell of the card, and
 * the figures that the page must find again. */
enum vrs_status page_cover(const struct study *s, struct page_chunks *chunks,
                           struct page_device *ret, struct vrs_error *err) MUST_CHECK;

/* Counts the live allocations of each check; these are in the order of their states. */
void page_count_live(const struct study *s, struct page_check *check, uint32_t checks);
void page_sort_checks(struct page_check *check, uint32_t checks);

/* Finds `adjust_bytes`, and queues what it is in other states, where the file contradicts itself.
 */
enum vrs_status page_adjust(const struct study *s, struct page_chunks *chunks,
                            struct page_device *ret, struct vrs_error *err) MUST_CHECK;

/* Packs what the page needs to sum up a difference; `a` and `b` are in the page already. */
enum vrs_status page_pair_pack(const struct page_device *a, const struct page_device *b,
                               const struct diff_pairing *peak, const struct diff_pairing *ever,
                               struct page_chunks *chunks, uint32_t threads, struct page_pair *ret,
                               struct vrs_error *err) MUST_CHECK;

/* The members "diff", "ranks" and "unread" of the head, each behind a comma. */
void page_many_head(struct buf *to, const struct page *page);

/* The member "answer" of a device: the first sentences of its report. */
void page_put_answer(struct json *j, const struct report_device *report);

/* The line that what is wrong is about, which lives as long as the report; "": nothing is wrong, or
 * not for a line. */
enum vrs_status page_wrong_line(const struct report_device *report, str *ret,
                                struct vrs_error *err) MUST_CHECK;

/* The member "oom" of a device: why its last request failed, and what lay free then. */
void page_put_oom(struct json *j, const struct page_device *device,
                  const struct report_sections *sections);

/* The member "leaks" of a device: the rows that `vramscope leaks` shows, and its words. */
void page_put_leaks(struct json *j, const struct report_sections *sections);

/* Tables as the head has them, under the names of `names`. */
void page_put_tables(struct json *j, const struct page_table *table, const char *const *names,
                     uint32_t tables);

/* JSON with nothing that could end a script element. */
void page_put_harmless(struct buf *to, str json);

/* The JSON of the page's head, made harmless. */
void page_head(struct buf *to, const struct page *page);

/* The whole page.  Failures are those of `out`. */
void page_write(struct out *out, const struct page *page);

/* How large it is with the columns as they are placed, without writing them. */
enum vrs_status page_bytes(const struct page *page, uint64_t *ret,
                           struct vrs_error *err) MUST_CHECK;

#endif
