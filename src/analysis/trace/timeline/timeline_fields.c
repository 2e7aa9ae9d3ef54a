/* timeline_fields.c - the members of what a memory timeline says, as JSON and CSV have them. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/timeline/timeline.h"
#include "base/field.h"
#include "model/memory_timeline.h"
#include "model/trace.h"

static const char *const form_names[TIMELINE_FORMS] = {
    [TIMELINE_NONE] = NULL,
    [TIMELINE_STATES] = "states",
    [TIMELINE_EVENTS] = "events",
};

static bool has_peak_time(const void *row, const void *above)
{
    (void)above;
    return ((const struct timeline_row *)row)->peak_ns != TRACE_UNKNOWN;
}

static bool has_states(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_timeline *)row)->states > 0;
}

static bool has_bins(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_timeline *)row)->has_bins;
}

/* States do not tell what was done. */
static bool has_events(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_timeline *)row)->form == TIMELINE_EVENTS;
}

#define BYTES_FIELDS                                                                               \
    { "at_peak_bytes", "at the peak", UNIT_BYTES, FIELD_SIGNED,                                    \
      FIELD_AT(struct timeline_row, at_peak) },                                                    \
        { "at_peak_ratio", "share", UNIT_RATIO, FIELD_REAL,                                        \
          FIELD_AT(struct timeline_row, at_peak_ratio), .decimals = 6, .null = NULL_NEGATIVE },    \
        { "peak_bytes", "own peak", UNIT_BYTES, FIELD_SIGNED,                                      \
          FIELD_AT(struct timeline_row, peak) },                                                   \
        { "peak_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct timeline_row, peak_ns),          \
          .when = has_peak_time },                                                                 \
        { "before_bytes", "before", UNIT_BYTES, FIELD_SIGNED,                                      \
          FIELD_AT(struct timeline_row, before) },                             \
        { "end_bytes", "at the end", UNIT_BYTES, FIELD_SIGNED,                                     \
          FIELD_AT(struct timeline_row, end) },                                                    \
        { "below_zero", NULL, UNIT_COUNT, FIELD_UNSIGNED,                                          \
          FIELD_AT(struct timeline_row, below_zero) },                                             \
        { "lowest_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct timeline_row, lowest) }

static const struct field sum_fields[] = { BYTES_FIELDS };
static const struct row_type sum_row_type =
    LINE_ROW_TYPE("timeline_sum", struct timeline_row, sum_fields);

static const struct field category_fields[] = {
    { "category", "category", UNIT_NONE, FIELD_NAME, FIELD_AT(struct timeline_row, category),
      FIELD_NAMES(timeline_category_names) },
    BYTES_FIELDS,
};
static const struct row_type category_row_type =
    LINE_ROW_TYPE("timeline_category", struct timeline_row, category_fields);

static const struct field events_fields[] = {
    { "pre_existing", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_timeline, actions[TIMELINE_PRE_EXISTING]), .when = has_events },
    { "create", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_timeline, actions[TIMELINE_CREATE]), .when = has_events },
    { "version", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_timeline, actions[TIMELINE_VERSION]), .when = has_events },
    { "destroy", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_timeline, actions[TIMELINE_DESTROY]), .when = has_events },
};
static const struct row_type events_row_type =
    LINE_ROW_TYPE("timeline_events", struct trace_timeline, events_fields);

static const struct field window_fields[] = {
    { "first_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_timeline, first_ns),
      .when = has_states },
    { "last_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_timeline, last_ns),
      .when = has_states },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_timeline, length_ns),
      .when = has_states },
    { "curve_bytes", NULL, UNIT_BYTES, FIELD_VALUES, FIELD_ARRAY(struct trace_timeline, bin),
      .of = FIELD_SIGNED, .when = has_bins, .line = true },
};
static const struct row_type window_row_type =
    ROW_TYPE("timeline_window", struct trace_timeline, window_fields);

static const struct field timeline_fields[] = {
    { "file", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_timeline, file),
      .row = &trace_file_row_type },
    { "form", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_timeline, form),
      FIELD_NAMES(form_names) },
    { "events", NULL, UNIT_NONE, FIELD_ROW, .offset = 0, .row = &events_row_type },
    { "states", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_timeline, states) },
    { "window", NULL, UNIT_NONE, FIELD_ROW, .offset = 0, .row = &window_row_type },
    { "sum", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_timeline, sum),
      .row = &sum_row_type },
    { "categories", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_PLACES(struct trace_timeline, category, categories), .row = &category_row_type,
      .limited = true, .table = true },
};
const struct row_type trace_timeline_row_type =
    ROW_TYPE("trace-timeline", struct trace_timeline, timeline_fields);
