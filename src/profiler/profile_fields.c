/* profile_fields.c - the members of what a profiler has measured. */
#include <stdbool.h>
#include <stddef.h>

#include "base/field.h"
#include "profiler/profile.h"
#include "vramscope/profiler.h"

#define STATE(word, state)                                                                         \
    {                                                                                              \
        word, NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct state_counts, of[state])           \
    }

static const struct field state_fields[] = {
    STATE("exact", VRS_EXACT), STATE("sampled", VRS_SAMPLED), STATE("lost", VRS_LOST),
    STATE("raced", VRS_RACED), STATE("nested", VRS_NESTED),   STATE("unknown", VRS_STATE_UNKNOWN),
};
static const struct row_type state_counts_row_type =
    LINE_ROW_TYPE("states", struct state_counts, state_fields);

static bool growth_is_known(const void *row, const void *above)
{
    (void)above;
    return ((const struct profile_row *)row)->growth_known;
}

static const struct field row_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_VALUES, FIELD_LIST(struct profile_row, name, names),
      .of = FIELD_TEXT, .line = true },
    { "kind", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct profile_row, kind) },
    { "device", "device", UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct profile_row, device) },
    { "calls", "calls", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile_row, calls),
      .least = 1 },
    { "raised", "raised", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile_row, raised) },
    { "total_ns", "total", UNIT_NS, FIELD_UNSIGNED, FIELD_AT(struct profile_row, total_ns) },
    { "longest_ns", "longest", UNIT_NS, FIELD_UNSIGNED, FIELD_AT(struct profile_row, longest_ns) },
    { "device_calls", "timed", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile_row, timed) },
    { "device_ns", "on device", UNIT_NS, FIELD_UNSIGNED, FIELD_AT(struct profile_row, device_ns),
      .null = NULL_ALL_ONES },
    { "start_bytes", "start", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct profile_row, start),
      .null = NULL_ALL_ONES },
    { "end_bytes", "end", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct profile_row, end),
      .null = NULL_ALL_ONES },
    { "peak_bytes", "peak", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct profile_row, peak),
      .null = NULL_ALL_ONES },
    { "peak_delta_bytes", "peak-start", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct profile_row, peak_delta), .null = NULL_ALL_ONES },
    { "growth_bytes", "growth", UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct profile_row, growth),
      .when = growth_is_known },
    { "allocated_total_bytes", "allocated", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct profile_row, gross), .null = NULL_ALL_ONES },
    { "allocations", "blocks", UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct profile_row, allocations), .null = NULL_ALL_ONES },
    { "transient_ratio", "transient", UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct profile_row, transient), .decimals = 4, .null = NULL_NEGATIVE },
    { "states", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct profile_row, states),
      .row = &state_counts_row_type },
};
const struct row_type profile_row_type =
    LINE_ROW_TYPE("profile_row", struct profile_row, row_fields);

static const struct field profile_fields[] = {
    { "records", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile, records) },
    { "records_lost", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile, records_lost) },
    { "scopes", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile, scopes) },
    { "scopes_lost", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile, scopes_lost) },
    { "scopes_dropped", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct profile, scopes_dropped) },
    { "lower_bounds", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile, lower_bounds) },
    { "unknown", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct profile, unknown) },
    { "rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct profile, row, rows),
      .row = &profile_row_type, .limited = true, .table = true },
};
const struct row_type profile_document_type = ROW_TYPE("profile", struct profile, profile_fields);
