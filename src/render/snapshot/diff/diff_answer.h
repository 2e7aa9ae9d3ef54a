/* diff_answer.h - the answer of diff, which is about two files: a document of its own. */
#ifndef VRS_RENDER_SNAPSHOT_DIFF_DIFF_ANSWER_H
#define VRS_RENDER_SNAPSHOT_DIFF_DIFF_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/field.h"
#include "model/file_facts.h"
#include "render/answer/answer.h"

/* A device of A beside one of B. */
struct diff_device {
    struct device_name name[2]; /* of a side that has no such device the other's */
    bool there[2];
    enum answer_status status;
    struct answer_reason *reason;
    uint32_t reasons;
    struct trust trust[2];     /* where both are there */
    const struct diff *result; /* NULL: the reasons say why they are not compared */
};

struct diff_answer {
    struct file_facts file[2]; /* A and B */
    struct diff_device *device;
    uint32_t devices;
    struct stack_texts stacks; /* of both, A's first; their rows are the numbers in a result */
    bool judged;               /* a limit was set */
};

extern const struct row_type diff_document;

#endif
