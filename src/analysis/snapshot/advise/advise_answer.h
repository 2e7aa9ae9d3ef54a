/* advise_answer.h - all that is asked of a device at once about what to change. */
#ifndef VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_ANSWER_H
#define VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/waste.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/study/proven_study.h"
#include "base/fail.h"
#include "base/field.h"

struct advise_question {
    uint64_t capacity_bytes; /* of the card, as the user knows it; 0: not known */
    bool waste;              /* is asked for, too */
    bool explain_silent;
};

struct advise_answer {
    struct advise advise;
    struct waste waste; /* where has_waste */
    uint32_t leaks;     /* sites that grow without end */
    bool has_waste;
    bool explain_silent;
};

/* Of a struct advise_answer, the result of a device. */
extern const struct row_type advise_answer_row_type;

/* Of a device with a trace; in the study's `keep`. */
enum vrs_status advise_answer_make(struct parts *parts, const struct proven_study *proven,
                                   const struct advise_question *q, struct advise_answer **ret,
                                   struct vrs_error *err) MUST_CHECK;

#endif
