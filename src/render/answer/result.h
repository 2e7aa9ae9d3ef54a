/* result.h - what the renderers are given: answers, free of the recording they came from.
 *
 * Everything lives in one arena, which belongs to whoever made the answer.  Text is as in the
 * file; renderers escape it. */
#ifndef VRS_RENDER_ANSWER_RESULT_H
#define VRS_RENDER_ANSWER_RESULT_H

#include "analysis/snapshot/advise/advise.h"
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

#endif
