/* ranks_fields.c - the members of units side by side. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/ranks/alignment.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "base/field.h"
#include "base/str.h"
#include "base/table.h"

static const struct field sum_fields[] = {
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct category_sum, category),
      FIELD_NAMES(category_names) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct category_sum, bytes), .least = 1 },
};
static const struct row_type sum_row_type =
    LINE_ROW_TYPE("category_sum", struct category_sum, sum_fields);

static bool never(const void *row, const void *above)
{
    (void)row;
    (void)above;
    return false;
}

/* A report lists no stacks. */
static const struct field shown_fields[] = {
    { "culprit", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct summary_shown, culprit) },
    { "owner", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct summary_shown, owner) },
    { "stack", NULL, UNIT_NONE, FIELD_STACK, .when = never },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct summary_shown, bytes) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct summary_shown, count),
      .least = 1 },
};
static const struct row_type shown_row_type =
    LINE_ROW_TYPE("unit_site", struct summary_shown, shown_fields);

static bool knows_slope(const void *row, const void *above)
{
    const struct device_summary *summary = row;
    (void)above;
    return summary->slope_known;
}

static bool is_categorised(const void *row, const void *above)
{
    const struct device_summary *summary = row;
    (void)above;
    return summary->categorised;
}

static const struct field summary_fields[] = {
    { "peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct device_summary, peak_bytes) },
    { "peak_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct device_summary, peak_event),
      .least = -1, .bounded = true },
    { "peak_phase", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct device_summary, peak_phase) },
    { "reserved_peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct device_summary, reserved_peak_bytes) },
    { "stranded_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct device_summary, stranded_bytes), .null = NULL_ALL_ONES },
    { "steps", NULL, UNIT_COUNT, FIELD_SIGNED, FIELD_AT(struct device_summary, steps),
      .null = NULL_NEGATIVE },
    { "slope_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct device_summary, slope_bytes),
      .when = knows_slope },
    { "by_category", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct device_summary, sum, sums),
      .row = &sum_row_type, .line = true, .when = is_categorised },
    { "sites", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct device_summary, shown, showns),
      .row = &shown_row_type, .line = true },
    { "after_peer_oom_event", NULL, UNIT_EVENT, FIELD_SIGNED,
      FIELD_AT(struct device_summary, after_peer_oom_event), .null = NULL_NEGATIVE },
};
const struct row_type summary_row_type =
    ROW_TYPE("device_summary", struct device_summary, summary_fields);

static void make_grade(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    const struct rank_unit *unit = row;
    (void)above;
    (void)limit;
    ret->text = (str){ &unit->grade, 1 };
}

static const struct field unit_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct rank_unit, path) },
    { "device", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct rank_unit, device) },
    { "rank", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct rank_unit, rank), .bounded = true },
    { "grade", NULL, UNIT_NONE, FIELD_TEXT, .make = make_grade },
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, FIELD_AT(struct rank_unit, summary), .pointer = true,
      .row = &summary_row_type },
};
static const struct row_type unit_row_type = ROW_TYPE("unit", struct rank_unit, unit_fields);

static const struct field pair_row_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct pair_row, name) },
    { "worst_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct pair_row, worst_bytes) },
    { "reference_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct pair_row, reference_bytes) },
    { "worst_count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct pair_row, worst_count) },
    { "reference_count", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct pair_row, reference_count) },
};
static const struct row_type pair_row_row_type =
    LINE_ROW_TYPE("pair_row", struct pair_row, pair_row_fields);

static const struct field pair_fields[] = {
    { "worst", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct rank_pair, worst) },
    { "reference", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct rank_pair, reference) },
    { "code_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct rank_pair, code_ratio),
      .decimals = 6, .bounded = true },
    { "size_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct rank_pair, size_ratio),
      .decimals = 6, .bounded = true },
    { "count_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct rank_pair, count_ratio),
      .decimals = 6, .bounded = true },
    { "verdict", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct rank_pair, verdict) },
    { "rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct rank_pair, row, rows),
      .row = &pair_row_row_type },
};
static const struct row_type pair_row_type = ROW_TYPE("rank_pair", struct rank_pair, pair_fields);

static const struct field difference_fields[] = {
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct rank_difference, category),
      FIELD_NAMES(category_names) },
    { "least", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct rank_difference, least) },
    { "least_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct rank_difference, least_bytes), .least = 1 },
    { "most", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct rank_difference, most) },
    { "most_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct rank_difference, most_bytes),
      .least = 1 },
};
static const struct row_type difference_row_type =
    LINE_ROW_TYPE("rank_difference", struct rank_difference, difference_fields);

static const struct field group_fields[] = {
    { "parameter_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct rank_group, parameter_bytes), .null = NULL_ALL_ONES, .least = 1 },
    { "units", NULL, UNIT_NUMBER, FIELD_VALUES, FIELD_LIST(struct rank_group, unit, units),
      .of = FIELD_UNSIGNED, .line = true },
    { "differences", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_PLACES(struct rank_group, difference, differences), .row = &difference_row_type,
      .line = true },
};
static const struct row_type group_row_type =
    LINE_ROW_TYPE("rank_group", struct rank_group, group_fields);

static bool is_annotation(const void *row, const void *above)
{
    const struct alignment *alignment = above;
    (void)row;
    return alignment->by == ALIGNED_ANNOTATION;
}

static bool has_number(const void *row, const void *above)
{
    const struct alignment *alignment = above;
    (void)row;
    return alignment->by != ALIGNED_CLOCK;
}

static void make_number(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    const struct aligned_moment *moment = row;
    (void)above;
    (void)limit;
    ret->number = (uint64_t)moment->nth + 1;
}

static const struct field moment_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct aligned_moment, name),
      .when = is_annotation },
    { "number", NULL, UNIT_NUMBER, FIELD_UNSIGNED, .make = make_number, .when = has_number,
      .least = 1 },
    { "worst", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct aligned_moment, worst) },
    { "worst_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct aligned_moment, worst_bytes) },
    { "median_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct aligned_moment, median_bytes) },
    { "skew_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct aligned_moment, skew_ratio),
      .decimals = 6, .null = NULL_NEGATIVE },
};
static const struct row_type moment_row_type =
    LINE_ROW_TYPE("aligned_moment", struct aligned_moment, moment_fields);

static bool is_by_clock(const void *row, const void *above)
{
    const struct alignment *alignment = row;
    (void)above;
    return alignment->by == ALIGNED_CLOCK;
}

static bool has_straggler_moments(const void *row, const void *above)
{
    const struct ranks *ranks = above;
    (void)row;
    return ranks->straggler_aligned;
}

static void make_straggler_moments(const void *row, const void *above, uint32_t limit,
                                   struct field_value *ret)
{
    const struct ranks *ranks = above;
    (void)row;
    (void)limit;
    ret->number = ranks->straggler_moments;
}

static const char *const aligned_names[] = {
    [ALIGNED_STEP] = "step",
    [ALIGNED_ANNOTATION] = "annotation",
    [ALIGNED_CLOCK] = "wall_clock",
};

static const struct field alignment_fields[] = {
    { "by", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct alignment, by),
      FIELD_NAMES(aligned_names) },
    { "units", NULL, UNIT_NUMBER, FIELD_VALUES, FIELD_LIST(struct alignment, unit, units),
      .of = FIELD_UNSIGNED, .line = true },
    { "start_us", NULL, UNIT_US, FIELD_UNSIGNED, FIELD_AT(struct alignment, from_us),
      .null = NULL_ALL_ONES, .when = is_by_clock },
    { "end_us", NULL, UNIT_US, FIELD_UNSIGNED, FIELD_AT(struct alignment, to_us),
      .null = NULL_ALL_ONES, .when = is_by_clock },
    { "exact", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct alignment, exact) },
    { "straggler_count", NULL, UNIT_COUNT, FIELD_UNSIGNED, .make = make_straggler_moments,
      .when = has_straggler_moments },
    { "moments", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct alignment, moment, moments),
      .row = &moment_row_type },
};
static const struct row_type alignment_row_type =
    ROW_TYPE("alignment", struct alignment, alignment_fields);

static bool has_straggler(const void *row, const void *above)
{
    const struct ranks *ranks = row;
    (void)above;
    return ranks->straggler != NO_ROW;
}

static bool has_pair(const void *row, const void *above)
{
    const struct ranks *ranks = row;
    (void)above;
    return ranks->has_pair;
}

static bool is_aligned(const void *row, const void *above)
{
    const struct ranks *ranks = row;
    (void)above;
    return ranks->alignment.by != ALIGNED_NOT;
}

static const struct field ranks_fields[] = {
    { "units", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct ranks, unit, units),
      .row = &unit_row_type },
    { "skew_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct ranks, skew_ratio), .decimals = 6,
      .null = NULL_NEGATIVE },
    { "outliers", NULL, UNIT_NUMBER, FIELD_VALUES, FIELD_LIST(struct ranks, outlier, outliers),
      .of = FIELD_UNSIGNED, .line = true },
    { "straggler", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct ranks, straggler),
      .null = NULL_ALL_ONES },
    { "straggler_saving_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct ranks, straggler_saving_bytes), .when = has_straggler, .bounded = true },
    { "pair", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct ranks, pair), .row = &pair_row_type,
      .when = has_pair },
    { "groups", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct ranks, group, groups),
      .row = &group_row_type },
    { "alignment", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct ranks, alignment),
      .row = &alignment_row_type, .when = is_aligned },
};
const struct row_type ranks_row_type = ROW_TYPE("ranks", struct ranks, ranks_fields);
