/* moment.h - moments: parses the words of --at, and finds the event that each means. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_MOMENT_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"

enum moment_kind {
    AT_PEAK,
    AT_RESERVED_PEAK, /* which no word of moment_parse means */
    AT_START,
    AT_END,
    AT_EVENT,
    AT_OOM,
    AT_SECONDS,
    AT_STEP,
    AT_PHASE
};

struct moment {
    enum moment_kind kind;
    int64_t event;  /* AT_EVENT */
    uint64_t nth;   /* AT_OOM: from 1; 0 is the last.  AT_STEP: from 1 */
    double seconds; /* AT_SECONDS: after the first event */
    uint8_t phase;  /* AT_PHASE: enum phase */
};

/* "N | start | end | peak | oom[:k] | step:k | phase:NAME | 12.5s"; VRS_USAGE names what is
 * accepted. */
enum vrs_status moment_parse(str text, struct moment *ret, struct vrs_error *err) MUST_CHECK;

/* Whether steps or phases must be known to find it. */
bool moment_needs_study(struct moment moment);

/* The event a moment that needs no study means on a device (-1: the start); VRS_USAGE when the
 * device has none such. */
enum vrs_status moment_find(const struct recording *r, uint32_t device, struct moment moment,
                            int64_t *ret, struct vrs_error *err) MUST_CHECK;

/* The same for any moment. */
struct study;
enum vrs_status moment_in_study(const struct study *s, struct moment moment, int64_t *ret,
                                struct vrs_error *err) MUST_CHECK;

/* The event of a moment that begins, or is the last of, what is shown: a step has a first and a
 * last one. */
enum vrs_status moment_bound(const struct study *s, struct moment moment, bool last, int64_t *ret,
                             struct vrs_error *err) MUST_CHECK;

#endif
