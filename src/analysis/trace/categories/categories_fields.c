/* categories_fields.c - the memory of a device as JSON, CSV and columns have it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/categories/categories.h"
#include "analysis/trace/memory/memory.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "base/field.h"
#include "model/trace.h"

const char *const trace_category_names[TRACE_CATEGORIES] = {
    [TRACE_PRE_EXISTING] = "pre_existing",
    [TRACE_OPTIMIZER_STATE] = "optimizer_state",
    [TRACE_INPUT] = "input",
    [TRACE_TEMPORARY] = "temporary",
    [TRACE_ACTIVATION] = "activation",
    [TRACE_GRADIENT] = "gradient",
    [TRACE_AUTOGRAD_DETAIL] = "autograd_detail",
    [TRACE_CATEGORY_UNKNOWN] = "unknown",
};

static bool has_blocks(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_memory_peak *)row)->has_blocks;
}

static bool has_before(const void *row, const void *above)
{
    return has_blocks(row, above) &&
           ((const struct trace_memory_peak *)row)->before_bytes != TRACE_UNKNOWN;
}

/* Allocators of the host reserve nothing, and tell 0. */
static bool has_reserved(const void *row, const void *above)
{
    const struct memory_row *m = ((const struct trace_memory_peak *)row)->row;
    (void)above;
    return m->has_totals && m->peak_reserved > 0;
}

/* What the allocator had reserved at most. */
static void make_reserved(const void *row, const void *above, uint32_t limit,
                          struct field_value *ret)
{
    (void)above;
    (void)limit;
    ret->integer = ((const struct trace_memory_peak *)row)->row->peak_reserved;
}

static const struct field live_fields[] = {
    { "address", NULL, UNIT_ADDRESS, FIELD_UNSIGNED, FIELD_AT(struct trace_live_row, address) },
    { "bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_live_row, bytes) },
    { "allocated_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_live_row, allocated_ns) },
    { "op", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_live_row, op) },
    { "step", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_live_row, step) },
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_live_row, category),
      FIELD_NAMES(trace_category_names) },
};
static const struct row_type live_row_type =
    LINE_ROW_TYPE("live", struct trace_live_row, live_fields);

static const struct field category_fields[] = {
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_category_row, category),
      FIELD_NAMES(trace_category_names) },
    { "blocks", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_category_row, blocks) },
    { "bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_category_row, bytes) },
};
static const struct row_type category_row_type =
    LINE_ROW_TYPE("memory_category", struct trace_category_row, category_fields);

#define MOMENT(name, category)                                                                     \
    { name, NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_timeline_row, bytes[category]) }

static const struct field moment_fields[] = {
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_timeline_row, ns) },
    { "bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_timeline_row, total) },
    MOMENT("pre_existing_bytes", TRACE_PRE_EXISTING),
    MOMENT("optimizer_state_bytes", TRACE_OPTIMIZER_STATE),
    MOMENT("input_bytes", TRACE_INPUT),
    MOMENT("temporary_bytes", TRACE_TEMPORARY),
    MOMENT("activation_bytes", TRACE_ACTIVATION),
    MOMENT("gradient_bytes", TRACE_GRADIENT),
    MOMENT("autograd_detail_bytes", TRACE_AUTOGRAD_DETAIL),
    MOMENT("unknown_bytes", TRACE_CATEGORY_UNKNOWN),
};
static const struct row_type moment_row_type =
    LINE_ROW_TYPE("memory_moment", struct trace_timeline_row, moment_fields);

static void make_device_type(const void *row, const void *above, uint32_t limit,
                             struct field_value *ret)
{
    (void)above;
    (void)limit;
    ret->integer = ((const struct trace_memory_peak *)row)->row->device_type;
}

static void make_device_number(const void *row, const void *above, uint32_t limit,
                               struct field_value *ret)
{
    (void)above;
    (void)limit;
    ret->integer = ((const struct trace_memory_peak *)row)->row->device_number;
}

static bool has_device_type(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_memory_peak *)row)->row->device_type != TRACE_UNKNOWN;
}

static bool has_device_number(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_memory_peak *)row)->row->device_number != TRACE_UNKNOWN;
}

static const struct field timeline_fields[] = {
    { "device_type", NULL, UNIT_NUMBER, FIELD_SIGNED, .make = make_device_type,
      .when = has_device_type },
    { "device_number", NULL, UNIT_NUMBER, FIELD_SIGNED, .make = make_device_number,
      .when = has_device_number },
    { "moments", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_memory_peak, timeline, moments), .row = &moment_row_type },
};
const struct row_type trace_memory_timeline_row_type =
    ROW_TYPE("memory_timeline", struct trace_memory_peak, timeline_fields);

static bool has_held(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_memory_peak *)row)->held != NULL;
}

static const struct field growth_fields[] = {
    { "leaks", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct trace_memory_peak, leaks) },
    { "steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_memory_peak, grown) },
    { "from_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct trace_memory_peak, grown_from) },
    { "to_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_memory_peak, grown_to) },
    { "step_end_bytes", NULL, UNIT_BYTES, FIELD_VALUES,
      FIELD_LIST(struct trace_memory_peak, step_end, steps), .of = FIELD_SIGNED, .line = true },
    { "held_steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_memory_peak, held_steps),
      .when = has_held },
    { "held_blocks", NULL, UNIT_COUNT, FIELD_VALUES,
      FIELD_LIST(struct trace_memory_peak, held, steps), .of = FIELD_UNSIGNED, .line = true,
      .when = has_held },
};
static const struct row_type growth_row_type =
    ROW_TYPE("memory_growth", struct trace_memory_peak, growth_fields);

static bool has_steps(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_memory_peak *)row)->steps > 1;
}

static const struct field peak_fields[] = {
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, .offset = offsetof(struct trace_memory_peak, row),
      .pointer = true, .row = &trace_memory_row_type },
    { "peak_step", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_memory_peak, step) },
    { "peak_phase", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_memory_peak, phase),
      FIELD_NAMES(trace_phase_names) },
    { "peak_op", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_memory_peak, op) },
    { "peak_reserved_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, .make = make_reserved,
      .when = has_reserved },
    { "live", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_memory_peak, live),
      .when = has_blocks },
    { "live_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_memory_peak, live_bytes),
      .when = has_blocks },
    { "before_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct trace_memory_peak, before_bytes), .when = has_before },
    { "largest", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_memory_peak, top, tops),
      .row = &live_row_type },
    { "categories", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_PLACES(struct trace_memory_peak, category, categories), .row = &category_row_type },
    { "unknown_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_memory_peak, unknown),
      .decimals = 6, .null = NULL_NEGATIVE },
    { "growth", NULL, UNIT_NONE, FIELD_ROW, .offset = 0, .row = &growth_row_type,
      .when = has_steps },
};
const struct row_type trace_memory_peak_row_type =
    ROW_TYPE("memory", struct trace_memory_peak, peak_fields);
