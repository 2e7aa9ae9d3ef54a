/* category_table.h - the categories of what is alive at one moment, added up. */
#ifndef VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_CATEGORY_TABLE_H
#define VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_CATEGORY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/field.h"

struct category_rule_sum {
    enum category category;
    const char *rule;
    uint64_t bytes, count;
};

struct category_row {
    enum category category;
    uint64_t bytes, count;
    uint64_t sure_bytes[CONFIDENCES]; /* by confidence */
    struct category_rule_sum *rule;   /* larger bytes first */
    uint32_t rules;
    struct site_ref largest; /* of its largest, then earliest, allocation */
};

/* Everything in it lives in the study's `keep`. */
struct category_table {
    int64_t at_event;
    uint64_t total_bytes, count; /* of the live set */
    int64_t adjust_bytes; /* the requested curve less them: 0 unless a file contradicts itself */
    struct category_row *row; /* those that hold something; larger bytes first */
    uint32_t rows;
    /* The split: what is older than the recording, whatever the moment. */
    uint32_t copies; /* 0: none, and the next four are 0 */
    uint64_t parameter_bytes, gradient_bytes, optimizer_state_bytes, parameter_copy_bytes;
    double state_factor_ratio; /* state for each byte of parameters, at the moment; < 0: unknown */
    struct size_count *multiset;
    uint32_t multiset_sizes;
    struct category_rule_sum *remainder; /* of what is older and in no copy */
    uint32_t remainders;
    struct training_need training_need; /* where has_training_need */
    bool has_training_need;
};

struct category_table_options {
    int64_t at_event;
    const struct training_need *training_need; /* NULL: there is none */
};

/* Of a struct category_row, and of a struct category_table, the result of a device. */
extern const struct row_type category_row_type, category_table_row_type;

enum vrs_status category_table_compute(const struct study *s,
                                       const struct category_table_options *options,
                                       struct category_table *ret,
                                       struct vrs_error *err) MUST_CHECK;

#endif
