/* check_values.h - the value of each limit's figure, with its bounds and who made it. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CHECK_CHECK_VALUES_H
#define VRS_ANALYSIS_SNAPSHOT_CHECK_CHECK_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"

/* Who stands behind a value: the allocations alive at its event, each with a weight. */
enum check_weight {
    WEIGHT_NONE,
    WEIGHT_BYTES,
    WEIGHT_BLOCK,
    WEIGHT_SLACK,    /* block less requested bytes */
    WEIGHT_PENDING,  /* blocks whose free was requested and is not completed */
    WEIGHT_CATEGORY, /* requested bytes of the limit's category */
    WEIGHT_SITE,     /* requested bytes of stacks that the limit's expression matches */
    WEIGHT_FINAL     /* requested bytes of the final blocks, which a cut trace does not lead to */
};

struct check_value {
    bool known;
    bool unmatched;       /* its expression matches no site of the recording */
    bool open;            /* no upper bound is known */
    int64_t lower, upper; /* equal where the value is exact */
    int64_t whole;        /* of a ratio */
    bool has_estimate;    /* between them, where the best guess is */
    int64_t estimate;
    enum check_measure measure;
    enum check_source source;
    int64_t event; /* as printed; or CHECK_NO_EVENT */
    int64_t at;    /* the event of the live set that `weight` is of */
    enum check_weight weight;
    static_text reason;          /* why it is not known, or not exactly; or what to know of it */
    static_text text;            /* its sentence */
    stack_id stack[CHECK_SITES]; /* who stands behind it, where no weight can tell */
    uint64_t stack_bytes[CHECK_SITES];
    uint32_t stacks;
};

enum vrs_status check_value_of(struct parts *parts, const struct proven_study *proven,
                               const struct limit *limit, const struct budget *budget,
                               struct check_value *ret, struct vrs_error *err) MUST_CHECK;

/* Where the device's part of a cut file is not whole: what is known is then a lower bound. */
void check_value_leave_open(const struct study *s, struct check_value *v);

/* The largest culprits behind a value, at most CHECK_SITES of them; in s->keep. */
enum vrs_status check_sites_find(const struct proven_study *proven, const struct limit *limit,
                                 const struct check_value *value, str user_root,
                                 struct check_row *row, struct vrs_error *err) MUST_CHECK;

/* From where on allocation `i` of the device waits to be freed; where it never does, its end. */
int64_t check_waits_from(const struct study *s, uint32_t i);

/* Of each stack, whether its culprit or owner matches a limit's expression; in s->scratch. */
enum vrs_status check_matches_find(const struct study *s, const struct limit *limit, uint8_t **ret,
                                   struct vrs_error *err) MUST_CHECK;

/* A site as rows show it. */
enum vrs_status check_site_of(const struct study *s, stack_id stack, uint64_t bytes, str user_root,
                              struct check_site *ret, struct vrs_error *err) MUST_CHECK;

#endif
