/* result.h - what the renderers are given: answers, free of the recording they came from.
 *
 * Everything lives in one arena, which belongs to whoever made the answer.  Text is as in the
 * file; renderers escape it. */
#ifndef VRS_RENDER_ANSWER_RESULT_H
#define VRS_RENDER_ANSWER_RESULT_H

#include "allocator/whatif/whatif.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/waste.h"
#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/figures.h"
#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/report/trust_page.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "analysis/snapshot/trust/trust.h"
#include "render/answer/answer.h"

/* One what-if: a replay of its own. */
struct replay_row {
    str question; /* "same", "expandable_segments:True", "--drop train.py:12", … */
    struct whatif_answer answer;
    uint64_t reserved_ascending_bytes; /* peak with ascending addresses; answer's where not asked */
    uint64_t capacity_bytes;           /* UNKNOWN_U64: none was set */
    bool has_smallest;
    struct capacity_answer smallest;
    str oom_culprit; /* of the request that ran out; empty: none, or unknown */
};

struct replay_device {
    struct device_name name;
    enum answer_status status; /* ANSWER_REFUSED: no what-if is given, the reasons say why */
    struct answer_reason *reason;
    uint32_t reasons;
    struct trust trust;
    uint64_t events;
    struct agreement agreement;
    struct identities identities; /* where has_identities */
    bool has_identities;
    uint64_t recorded_peak_bytes; /* reserved, as recorded */
    struct replay_row *row;       /* what was asked; the first is "same", and only where asked */
    uint32_t rows;
};

struct replay_answer {
    struct file_facts file;
    struct replay_device *device;
    uint32_t devices;
    bool asked; /* a what-if was asked for, not agreement alone */
};

/* A device of A beside one of B. */
struct diff_device {
    struct device_name name[2];
    bool there[2]; /* else that side has no such device, and no name and trust */
    enum answer_status status;
    struct answer_reason *reason;
    uint32_t reasons;
    struct trust trust[2];
    bool compared; /* else the reasons say why there is no `diff` */
    struct diff diff;
    uint32_t *row_stack[2];  /* of each row, in the answer's stacks of that side; NO_ROW: none */
    bool at_peak[2], traced; /* traced: both are */
    bool exceeded;           /* the limit that was set */
};

struct diff_answer {
    struct file_facts file[2]; /* A and B */
    struct diff_device *device;
    uint32_t devices;
    struct stack_texts stacks[2];
    bool judged;          /* a limit was set, by one of these */
    bool limit_is_ratio;  /* of A's total */
    uint64_t limit_bytes; /* or millionths */
};

/* The result of advise. */
struct advise_answer {
    struct advise advise;
    struct waste waste;
    uint32_t leaks; /* sites that grow without end */
    bool has_waste; /* it was asked for */
    bool explain_silent;
};

#endif
