/* trace_ranks_fields.c - the members of ranks, their steps and their collectives. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/ranks/trace_ranks.h"
#include "base/field.h"

static bool has_steps(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_rank_row *)row)->steps > 0;
}

static const struct field rank_fields[] = {
    { "rank", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct trace_rank_row, rank) },
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_rank_row, path) },
    { "process", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_rank_row, process) },
    { "steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_rank_row, steps) },
    { "median_step_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_row, median_step_ns), .when = has_steps },
    { "slowest_steps", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_rank_row, slowest) },
    { "communication_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_row, communication_ns) },
    { "exposed_communication_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_row, exposed_communication_ns) },
    { "collective_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_row, collective_ns) },
    { "waiting_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_rank_row, waiting_ns) },
    { "waiting_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_rank_row, waiting),
      .decimals = 6, .null = NULL_NEGATIVE },
};
const struct row_type trace_rank_row_type =
    LINE_ROW_TYPE("rank", struct trace_rank_row, rank_fields);

static bool has_skew(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_rank_step_row *)row)->skew_ns > 0;
}

static const struct field step_fields[] = {
    { "step", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct trace_rank_step_row, number) },
    { "ranks", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_rank_step_row, ranks) },
    { "shortest_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_step_row, shortest_ns) },
    { "longest_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_step_row, longest_ns) },
    { "skew_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_rank_step_row, skew_ns) },
    { "slowest_rank", NULL, UNIT_NUMBER, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_step_row, slowest), .when = has_skew },
};
static const struct row_type step_row_type =
    LINE_ROW_TYPE("rank_step", struct trace_rank_step_row, step_fields);

static const struct field collective_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_rank_collective_row, name) },
    { "calls", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_rank_collective_row, calls) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_rank_collective_row, ns) },
    { "waiting_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_collective_row, waiting_ns) },
    { "most_waiting_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_rank_collective_row, most_waiting_ns) },
};
static const struct row_type collective_row_type =
    LINE_ROW_TYPE("rank_collective", struct trace_rank_collective_row, collective_fields);

static const struct field ranks_fields[] = {
    { "ranked_by", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trace_ranks, by) },
    { "ranks", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_ranks, row, rows),
      .row = &trace_rank_row_type },
    { "steps", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_ranks, step, steps),
      .row = &step_row_type },
    { "collectives", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_ranks, collective, collectives), .row = &collective_row_type },
    { "unmatched_collectives", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_ranks, unmatched) },
};
const struct row_type trace_ranks_row_type =
    ROW_TYPE("ranks", struct trace_ranks, ranks_fields);
