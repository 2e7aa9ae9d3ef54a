/* diff.h - one comparison on its way. */
#ifndef VRS_API_SNAPSHOT_DIFF_H
#define VRS_API_SNAPSHOT_DIFF_H

#include "api/result.h"

/* The caller's words, read. */
struct diff_options_read {
    bool has_moment[2];
    struct moment moment[2];
    enum diff_weight weight;
    enum diff_per per;
    enum site_key key;
};

/* What is asked of two devices, and may yet be changed by what they are. */
struct diff_pair {
    const struct study *side[2];
    struct diff_options options;
    struct arena *keep;
};

/* Adds a reason, a static id with a sentence, which is copied. */
enum vrs_status diff_reason(struct arena *keep, struct diff_device *d, enum answer_status status,
                            const char *id, str text, struct vrs_error *err) MUST_CHECK;

/* What two recordings do not have in common, as reasons; where it cannot be compared at all, with
 * a status that says so.  May set options.per. */
enum vrs_status diff_reasons(struct diff_pair *pair, const struct diff_options_read *read,
                             struct diff_device *d, struct vrs_error *err) MUST_CHECK;

/* Whether the reasons leave something to be compared. */
bool diff_can_be(const struct diff_device *d);

#endif
