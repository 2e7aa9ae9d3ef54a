/* questions_fields.c - the members of what a replay found, and of its answers. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "allocator/whatif/questions.h"
#include "allocator/whatif/whatif.h"
#include "base/field.h"

#define OF_RESULT(member) FIELD_AT(struct replay_result, member)
#define OF_AGREEMENT(member) OF_RESULT(agreement.member)

static const struct field first_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_AGREEMENT(first.event), .bounded = true },
    { "kind", NULL, UNIT_NONE, FIELD_NAME, OF_AGREEMENT(first.kind), .names = disagreement_names,
      .name_count = DISAGREEMENTS },
    { "expected_address", NULL, UNIT_ADDRESS, FIELD_UNSIGNED, OF_AGREEMENT(first.expected_address),
      .null = NULL_ALL_ONES },
    { "recorded_address", NULL, UNIT_ADDRESS, FIELD_UNSIGNED, OF_AGREEMENT(first.recorded_address),
      .null = NULL_ALL_ONES },
    { "expected_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_AGREEMENT(first.expected_bytes),
      .null = NULL_ALL_ONES },
    { "recorded_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_AGREEMENT(first.recorded_bytes),
      .null = NULL_ALL_ONES },
    { "likely", NULL, UNIT_NONE, FIELD_SENTENCE, OF_AGREEMENT(first) },
};
/* Of a struct replay_result: what is likely depends on all of it. */
static const struct row_type first_row_type =
    ROW_TYPE("first_disagreement", struct replay_result, first_fields);

#define RUNS_AT(cause) .offset = (cause) * sizeof(uint64_t), .bytes = sizeof(uint64_t)
static const struct field runs_fields[] = {
    { "empty_cache", NULL, UNIT_COUNT, FIELD_UNSIGNED, RUNS_AT(RUN_EMPTY_CACHE) },
    { "retry", NULL, UNIT_COUNT, FIELD_UNSIGNED, RUNS_AT(RUN_RETRY) },
};
/* Of a uint64_t[RUN_CAUSES]. */
static const struct row_type runs_row_type =
    LINE_ROW_TYPE("release_runs", uint64_t[RUN_CAUSES], runs_fields);

#define OF_CURVE(member) FIELD_AT(struct exact_curve, member)
static const struct field curve_fields[] = {
    { "start_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, OF_CURVE(start_bytes) },
    { "peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, OF_CURVE(peak_bytes) },
    { "peak_event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_CURVE(peak_event), .least = -1,
      .bounded = true },
    { "peak_last_event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_CURVE(peak_last_event), .least = -1,
      .bounded = true },
    { "end_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, OF_CURVE(end_bytes) },
};
static const struct row_type curve_row_type =
    LINE_ROW_TYPE("exact_curve", struct exact_curve, curve_fields);

static bool differs(const void *row, const void *above)
{
    const struct replay_result *result = row;
    (void)above;
    return result->agreement.first.kind != AGREES;
}

static bool is_exact(const void *row, const void *above)
{
    const struct replay_result *result = row;
    (void)above;
    return grade_is_exact(result->agreement.grade);
}

static const struct field agreement_fields[] = {
    { "grade", NULL, UNIT_NONE, FIELD_NAME, OF_AGREEMENT(grade), .names = replay_grade_names,
      .name_count = GRADES },
    { "refusal", NULL, UNIT_NONE, FIELD_NAME, OF_AGREEMENT(refusal), .names = replay_refusal_names,
      .name_count = REFUSALS },
    { "addresses_equal", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(addresses_equal) },
    { "addresses", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(addresses) },
    { "new_memory_equal", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(new_memory_equal) },
    { "new_memory", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(new_memory) },
    { "release_runs_equal", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(release_runs_equal) },
    { "release_runs", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(release_runs) },
    { "final_blocks_equal", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(final_blocks_equal) },
    { "final_blocks", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(final_blocks) },
    { "snapshots_equal", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(snapshots_equal) },
    { "snapshots", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(snapshots) },
    { "first_disagreement", NULL, UNIT_NONE, FIELD_ROW, .row = &first_row_type, .when = differs },
    { "unexpected_segments", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(unexpected_segments) },
    { "unknown_frees", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(unknown_frees) },
    { "size_clashes", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(size_clashes) },
    { "impossible_releases", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(impossible_releases) },
    { "runs_by_stack", NULL, UNIT_NONE, FIELD_ROW, OF_AGREEMENT(runs_by_stack),
      .row = &runs_row_type },
    { "runs_by_sequence", NULL, UNIT_NONE, FIELD_ROW, OF_AGREEMENT(runs_by_sequence),
      .row = &runs_row_type },
    { "preexisting", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(preexisting) },
    { "inferred", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(inferred) },
    { "corrected", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(corrected) },
    { "ambiguous", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_AGREEMENT(ambiguous) },
    { "active", NULL, UNIT_NONE, FIELD_ROW, OF_AGREEMENT(active), .row = &curve_row_type,
      .when = is_exact },
    { "allocated", NULL, UNIT_NONE, FIELD_ROW, OF_AGREEMENT(allocated), .row = &curve_row_type,
      .when = is_exact },
};
/* Of a struct replay_result. */
static const struct row_type agreement_row_type =
    ROW_TYPE("agreement", struct replay_result, agreement_fields);

static bool parts(const void *row, const void *above)
{
    const struct identities *i = row;
    (void)above;
    return !i->reproduces;
}

static bool parts_at_capacity(const void *row, const void *above)
{
    const struct identities *i = row;
    (void)above;
    return !i->reproduces_at_capacity;
}

static bool runs_out_at_capacity(const void *row, const void *above)
{
    const struct identities *i = row;
    (void)above;
    return i->first_oom_at_capacity >= -1;
}

#define OF_IDENTITIES(member) FIELD_AT(struct identities, member)
static const struct field identities_fields[] = {
    { "reproduces", NULL, UNIT_NONE, FIELD_BOOL, OF_IDENTITIES(reproduces) },
    { "reproduces_ascending", NULL, UNIT_NONE, FIELD_BOOL, OF_IDENTITIES(reproduces_ascending) },
    { "parted_event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_IDENTITIES(parted_event),
      .null = NULL_NEGATIVE, .when = parts },
    { "reproduces_at_capacity", NULL, UNIT_NONE, FIELD_BOOL,
      OF_IDENTITIES(reproduces_at_capacity) },
    { "recorded_capacity_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      OF_IDENTITIES(recorded_capacity_bytes), .null = NULL_ALL_ONES },
    { "retries_at_capacity", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_IDENTITIES(retries_at_capacity) },
    { "first_oom_at_capacity_event", NULL, UNIT_EVENT, FIELD_SIGNED,
      OF_IDENTITIES(first_oom_at_capacity), .least = -1, .bounded = true,
      .when = runs_out_at_capacity },
    { "parted_at_capacity_event", NULL, UNIT_EVENT, FIELD_SIGNED,
      OF_IDENTITIES(parted_at_capacity_event), .null = NULL_NEGATIVE, .when = parts_at_capacity },
};
static const struct row_type identities_row_type =
    ROW_TYPE("identities", struct identities, identities_fields);

static bool has_culprit(const void *row, const void *above)
{
    const struct replay_row *answered = row;
    (void)above;
    return answered->oom_culprit.len > 0;
}

#define OF_ROW(member) FIELD_AT(struct replay_row, member)
#define KNOWN .null = NULL_ALL_ONES
static const struct field oom_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_ROW(answer.oom.event), .least = -1,
      .bounded = true },
    { "want_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.oom.want_bytes), KNOWN },
    { "segment_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.oom.segment_bytes), KNOWN },
    { "reserved_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.oom.reserved_bytes),
      KNOWN },
    { "active_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.oom.active_bytes), KNOWN },
    { "largest_free_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.oom.largest_free_bytes),
      KNOWN },
    { "returnable_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.oom.returnable_bytes),
      KNOWN },
    { "stranded_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.oom.stranded_bytes),
      KNOWN },
    { "culprit", NULL, UNIT_NONE, FIELD_TEXT, OF_ROW(oom_culprit), .when = has_culprit },
};
/* Of a struct replay_row. */
static const struct row_type oom_row_type =
    LINE_ROW_TYPE("first_oom", struct replay_row, oom_fields);

static bool ran_out(const void *row, const void *above)
{
    const struct replay_row *answered = row;
    (void)above;
    return answered->answer.ran_out;
}

static bool curve_parts(const void *row, const void *above)
{
    const struct replay_row *answered = row;
    (void)above;
    return !answered->answer.same_curve;
}

static bool has_smallest(const void *row, const void *above)
{
    const struct replay_row *answered = row;
    (void)above;
    return answered->has_smallest;
}

static bool smallest_compared(const void *row, const void *above)
{
    const struct replay_row *answered = row;
    (void)above;
    return answered->smallest_compared;
}

#define PEAK_EVENT .least = -1, .bounded = true
static const struct field row_fields[] = {
    { "question", "question", UNIT_NONE, FIELD_TEXT, OF_ROW(question) },
    { "peak_reserved_bytes", "reserved", UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.reserved.bytes),
      KNOWN },
    { "peak_reserved_event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_ROW(answer.reserved.event),
      PEAK_EVENT },
    { "peak_reserved_ascending_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      OF_ROW(reserved_ascending_bytes), KNOWN },
    { "peak_active_bytes", "active", UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.active.bytes),
      KNOWN },
    { "peak_active_event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_ROW(answer.active.event),
      PEAK_EVENT },
    { "peak_active_start_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      OF_ROW(answer.active_start_bytes), KNOWN },
    { "peak_requested_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.requested.bytes),
      KNOWN },
    { "peak_requested_event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_ROW(answer.requested.event),
      PEAK_EVENT },
    { "new_memory", "segments", UNIT_COUNT, FIELD_UNSIGNED, OF_ROW(answer.new_memory) },
    { "changed_allocations", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_ROW(answer.changed) },
    { "changed_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.changed_bytes) },
    { "retries", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_ROW(answer.retries) },
    { "lower_bound_bytes", "at least", UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(answer.lower_bound_bytes),
      KNOWN },
    { "same_curve", NULL, UNIT_NONE, FIELD_BOOL, OF_ROW(answer.same_curve) },
    { "parted_event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_ROW(answer.parted_event),
      .null = NULL_NEGATIVE, .when = curve_parts },
    { "first_oom", NULL, UNIT_NONE, FIELD_ROW, .row = &oom_row_type, .when = ran_out },
    { "served_oom_event", NULL, UNIT_EVENT, FIELD_SIGNED, OF_ROW(answer.served_oom_event),
      .null = NULL_NEGATIVE },
    { "capacity_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(capacity_bytes), KNOWN },
    { "capacity_needed_bytes", "suffices", UNIT_BYTES, FIELD_UNSIGNED, OF_ROW(smallest.bytes),
      KNOWN, .when = has_smallest },
    { "capacity_retries", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_ROW(smallest.retries),
      .when = has_smallest },
    { "capacity_checked", NULL, UNIT_NONE, FIELD_BOOL, OF_ROW(smallest.checked),
      .when = has_smallest },
    { "delta_reserved_bytes", "to same", UNIT_BYTES, FIELD_SIGNED, OF_ROW(delta_reserved_bytes) },
    { "delta_active_bytes", "to same", UNIT_BYTES, FIELD_SIGNED, OF_ROW(delta_active_bytes) },
    { "delta_capacity_needed_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, OF_ROW(delta_smallest_bytes),
      .when = smallest_compared },
};
const struct row_type replay_row_type = ROW_TYPE("what_if", struct replay_row, row_fields);

static bool has_identities(const void *row, const void *above)
{
    const struct replay_result *result = row;
    (void)above;
    return result->has_identities;
}

static const struct field result_fields[] = {
    { "events", NULL, UNIT_COUNT, FIELD_UNSIGNED, OF_RESULT(events) },
    { "recorded_peak_reserved_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      OF_RESULT(recorded_peak_bytes), KNOWN },
    { "agreement", NULL, UNIT_NONE, FIELD_ROW, .row = &agreement_row_type },
    { "identities", NULL, UNIT_NONE, FIELD_ROW, OF_RESULT(identities), .row = &identities_row_type,
      .when = has_identities },
    { "certain", NULL, UNIT_NONE, FIELD_BOOL, OF_RESULT(certain) },
    { "what_if", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct replay_result, row, rows),
      .row = &replay_row_type, .table = true },
};
const struct row_type replay_result_row_type =
    ROW_TYPE("replay_result", struct replay_result, result_fields);
