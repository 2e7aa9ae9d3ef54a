/* queue_fields.c - the members of launches and queues, as JSON and columns have them. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/queue/queue.h"
#include "base/field.h"

static bool has_delays(const void *row, const void *above)
{
    (void)above;
    return ((const struct launch_delay *)row)->count > 0;
}

static const struct field delay_fields[] = {
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct launch_delay, count) },
    { "negative", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct launch_delay, negative) },
    { "mean_ns", NULL, UNIT_NS, FIELD_REAL, FIELD_AT(struct launch_delay, mean_ns),
      .when = has_delays },
    { "least_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct launch_delay, least_ns),
      .when = has_delays },
    { "median_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct launch_delay, median_ns),
      .when = has_delays },
    { "p95_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct launch_delay, p95_ns),
      .when = has_delays },
    { "most_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct launch_delay, most_ns),
      .when = has_delays },
};
static const struct row_type delay_row_type =
    LINE_ROW_TYPE("launch_delay", struct launch_delay, delay_fields);

static const struct field queue_fields[] = {
    { "device", "device", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_queue_row, device) },
    { "stream", "stream", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_queue_row, stream) },
    { "work", "work", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_queue_row, work) },
    { "ns", "time", UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_queue_row, ns) },
    { "mean_depth", NULL, UNIT_COUNT, FIELD_REAL, FIELD_AT(struct trace_queue_row, mean),
      .decimals = 3, .null = NULL_NEGATIVE },
    { "median_depth", "median", UNIT_COUNT, FIELD_SIGNED, FIELD_AT(struct trace_queue_row, median),
      .null = NULL_NEGATIVE },
    { "most_depth", "most", UNIT_COUNT, FIELD_SIGNED, FIELD_AT(struct trace_queue_row, most) },
    { "empty_ratio", "empty", UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_queue_row, empty_ratio),
      .decimals = 6, .null = NULL_NEGATIVE },
    { "full_ratio", "full", UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_queue_row, full_ratio),
      .decimals = 6, .null = NULL_NEGATIVE },
    { "below_zero", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_queue_row, below_zero) },
};
const struct row_type trace_queue_row_type =
    LINE_ROW_TYPE("queue", struct trace_queue_row, queue_fields);

static const struct field launches_fields[] = {
    { "calls", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_launches, calls) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_launches, ns) },
    { "delay", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_launches, delay),
      .row = &delay_row_type },
    { "queues", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_launches, queue, queues),
      .row = &trace_queue_row_type, .limited = true },
};
const struct row_type trace_launches_row_type =
    ROW_TYPE("launches", struct trace_launches, launches_fields);
