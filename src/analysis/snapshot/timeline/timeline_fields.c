/* timeline_fields.c - the members of how the memory of a device moved. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/local_peaks.h"
#include "analysis/snapshot/study/site_fields.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "base/field.h"

static const struct field point_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct time_point, event), .least = -1,
      .bounded = true },
    { "bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct time_point, bytes) },
};
static const struct row_type point_row_type = {
    .name = "point",
    .field = point_fields,
    .fields = sizeof point_fields / sizeof *point_fields,
    .size = sizeof(struct time_point),
    .tuple = true,
};

static const struct field curve_fields[] = {
    { "exact", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct time_curve, exact) },
    { "bound_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct time_curve, bound_bytes),
      .null = NULL_ALL_ONES },
    { "points", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct time_curve, point, points),
      .row = &point_row_type, .line = true },
};
static const struct row_type curve_row_type =
    LINE_ROW_TYPE("time_curve", struct time_curve, curve_fields);

#define CURVE_OF(curve_name)                                                                       \
    NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct timeline, curve[curve_name]), .row = &curve_row_type
static const struct field curves_fields[] = {
    { "requested", CURVE_OF(TIME_REQUESTED) }, { "active", CURVE_OF(TIME_ACTIVE) },
    { "allocated", CURVE_OF(TIME_ALLOCATED) }, { "pending", CURVE_OF(TIME_PENDING) },
    { "reserved", CURVE_OF(TIME_RESERVED) },   { "idle", CURVE_OF(TIME_IDLE) },
};
static const struct row_type curves_row_type =
    ROW_TYPE("time_curves", struct timeline, curves_fields);

static const struct field peak_fields[] = {
    { "curve", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct time_peak, curve),
      FIELD_NAMES(time_curve_names) },
    { "bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct time_peak, bytes) },
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct time_peak, event), .least = -1,
      .bounded = true },
    { "last_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct time_peak, last_event),
      .least = -1, .bounded = true },
    { "ties", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct time_peak, ties), .least = 1 },
    { "time_us", NULL, UNIT_US, FIELD_UNSIGNED, FIELD_AT(struct time_peak, time_us),
      .null = NULL_ALL_ONES },
};
static const struct row_type peak_row_type =
    LINE_ROW_TYPE("time_peak", struct time_peak, peak_fields);

static const struct field local_fields[] = {
    { "bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct local_peak, bytes) },
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct local_peak, event), .least = -1,
      .bounded = true },
    { "first_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct local_peak, first_event),
      .least = -1, .bounded = true },
    { "last_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct local_peak, last_event),
      .least = -1, .bounded = true },
};
static const struct row_type local_row_type =
    LINE_ROW_TYPE("local_peak", struct local_peak, local_fields);

static bool gap_is_known(const void *row, const void *above)
{
    const struct time_gap *gap = row;
    (void)above;
    return gap->known;
}

#define KNOWN_GAP(member)                                                                          \
    UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct time_gap, member), .null = NULL_ALL_ONES,          \
                                                                   .when = gap_is_known
static const struct field gap_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct time_gap, event), .least = -1,
      .bounded = true },
    { "reserved_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct time_gap, reserved_bytes) },
    { "requested_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct time_gap, requested_bytes) },
    { "slack_bytes", NULL, KNOWN_GAP(slack_bytes) },
    { "returnable_bytes", NULL, KNOWN_GAP(returnable_bytes) },
    { "stranded_bytes", NULL, KNOWN_GAP(stranded_bytes) },
    { "held_for_graph_bytes", NULL, KNOWN_GAP(held_for_graph_bytes) },
    { "pending_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct time_gap, pending_bytes),
      .null = NULL_ALL_ONES },
};
static const struct row_type gap_row_type = LINE_ROW_TYPE("time_gap", struct time_gap, gap_fields);

static const struct field burst_fields[] = {
    { "first_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct time_burst, first_event) },
    { "last_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct time_burst, last_event) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct time_burst, bytes) },
    { "cause", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct time_burst, cause),
      FIELD_NAMES(burst_cause_names) },
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct time_burst, site),
      .row = &site_without_stack_row_type },
};
static const struct row_type burst_row_type =
    LINE_ROW_TYPE("time_burst", struct time_burst, burst_fields);

static const char *const class_names[] = { "large", "small" };
static const struct field group_fields[] = {
    { "pool", NULL, UNIT_NUMBER, FIELD_VALUES, FIELD_ARRAY(struct time_group, pool),
      .of = FIELD_UNSIGNED, .line = true },
    { "stream", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct time_group, stream) },
    { "class", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct time_group, group.small),
      FIELD_NAMES(class_names) },
    { "peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct time_group, peak_bytes) },
    { "peak_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct time_group, peak_event),
      .least = -1, .bounded = true },
    { "reserved_peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct time_group, reserved_peak_bytes) },
    { "reserved_peak_event", NULL, UNIT_EVENT, FIELD_SIGNED,
      FIELD_AT(struct time_group, reserved_peak_event), .least = -1, .bounded = true },
    { "at_peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct time_group, at_peak_bytes) },
};
static const struct row_type group_row_type =
    LINE_ROW_TYPE("time_group", struct time_group, group_fields);

static const struct field timeline_fields[] = {
    { "curves", NULL, UNIT_NONE, FIELD_ROW, .row = &curves_row_type },
    { "peaks", NULL, UNIT_NONE, FIELD_ROWS, FIELD_ARRAY(struct timeline, peak),
      .row = &peak_row_type },
    { "local_peaks", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct timeline, local, locals),
      .row = &local_row_type },
    { "gap", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct timeline, gap), .row = &gap_row_type },
    { "bursts", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct timeline, burst, bursts),
      .row = &burst_row_type },
    { "groups", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct timeline, group, groups),
      .row = &group_row_type },
};
const struct row_type timeline_row_type = ROW_TYPE("timeline", struct timeline, timeline_fields);
