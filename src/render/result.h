/* result.h - what the renderers are given: answers, free of the recording they came from.
 *
 * Everything lives in one arena, which belongs to whoever made the answer.  Text is as in the
 * file; renderers escape it. */
#ifndef VRS_RENDER_RESULT_H
#define VRS_RENDER_RESULT_H

#include "analysis/curves.h"
#include "analysis/peak.h"
#include "analysis/trust.h"

struct file_facts {
    str path;
    str entry; /* ptr NULL: the file is one recording */
    struct origin origin;
    uint64_t events;      /* of all devices */
    uint64_t wrong_types; /* values of a wrong type, taken as absent */
};

/* Many stacks, each frame's text once. */
struct stack_texts {
    str *frame;
    uint32_t frames;
    uint32_t *first; /* of stack i in `line`; stacks + 1 of them */
    uint32_t *line;  /* rows of `frame`, innermost first */
    uint32_t stacks;
};

struct device_name {
    uint32_t number;
    bool host; /* pinned memory of the host, never to be added to a GPU's */
};

/* One out-of-memory event. */
struct oom_fact {
    int64_t event;
    uint64_t asked_bytes; /* as the allocator rounded it; UINT64_MAX: not known, as below */
    uint64_t device_free_bytes;
    int64_t requested_bytes, reserved_bytes; /* there */
    uint64_t after_us;                       /* since the first event */
};

struct report_row {
    str name;
    uint64_t bytes, count;
    double share_ratio;
};

struct report_device {
    struct device_name name;
    uint64_t events, segments, blocks, stacks, allocations;
    struct curves curves;
    int64_t adjust_bytes;
    uint64_t pending_bytes; /* UINT64_MAX: not known */
    uint64_t orphan_frees, double_allocs;
    struct trust trust;

    /* For the picture: see curves_draw. */
    uint32_t spans;
    int64_t *requested, *reserved;
    uint64_t duration_us, peak_after_us; /* UINT64_MAX: not known */

    uint64_t live_bytes, live_count; /* at the peak */
    uint64_t old_bytes;              /* of them, older than the recording */
    bool traced;                     /* else rows are of the final state */
    struct report_row *row; /* who held the peak, largest first; the largest of them */
    uint32_t rows, all_rows;
    str hidden_culprit; /* not empty: rows are owners, because this line held `hidden_share` */
    double hidden_share;

    struct oom_fact *oom; /* the last of them */
    uint32_t ooms;
};

struct report {
    struct file_facts file;
    struct report_device *device;
    uint32_t devices;
};

enum answer_status { ANSWER_OK, ANSWER_PARTIAL, ANSWER_NOT_APPLICABLE, ANSWER_STATUSES };

struct answer_reason {
    const char *id; /* static */
    str text;
};

struct peak_device {
    struct device_name name;
    enum answer_status status;
    struct answer_reason *reason;
    uint32_t reasons;
    struct trust trust;
    bool bound;          /* the file is cut: bytes before what is known may be missing */
    struct peak peak;    /* unless not applicable */
    uint32_t *row_stack; /* of each row, in the answer's stacks */
    uint64_t after_us;   /* of the moment, since the first event; UINT64_MAX: not known */
    int64_t reserved_bytes;
    bool at_peak, has_trace;
};

struct peak_answer {
    struct file_facts file;
    struct peak_device *device;
    uint32_t devices;
    struct stack_texts stacks;
};

enum result_kind { RESULT_REPORT, RESULT_PEAK };

/* Answers of one kind for several files. */
struct answer_set {
    enum result_kind kind;
    union {
        struct report *report;
        struct peak_answer *peak;
    };
    uint32_t count;
};

#endif
