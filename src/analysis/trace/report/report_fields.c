/* report_fields.c - the members of what a trace says, as JSON, CSV and columns have them. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/categories/categories.h"
#include "analysis/trace/memory/memory.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/queue/queue.h"
#include "analysis/trace/ranks/trace_ranks.h"
#include "analysis/trace/modules/modules.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/bottleneck.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/splits/split.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/field.h"
#include "model/trace.h"

const char *const trace_step_kind_names[STEP_KINDS] = {
    [STEP_PLAIN] = "plain",
    [STEP_WARM_UP] = "warm_up",
    [STEP_CUT] = "cut",
    [STEP_EMPTY] = "empty",
};

/* Known values of what may be TRACE_UNKNOWN. */
#define KNOWN(row_type, function, member)                                                          \
    static bool function(const void *row, const void *above)                                       \
    {                                                                                              \
        (void)above;                                                                               \
        return ((const row_type *)row)->member != TRACE_UNKNOWN;                                   \
    }
KNOWN(struct listed_row, has_number, number)
KNOWN(struct listed_row, has_bytes, bytes)
KNOWN(struct listed_row, has_major, major)
KNOWN(struct listed_row, has_minor, minor)
KNOWN(struct listed_row, has_multiprocessors, multiprocessors)
KNOWN(struct capture, has_rank, rank)
KNOWN(struct capture, has_world_size, world_size)
KNOWN(struct memory_row, has_device_type, device_type)
KNOWN(struct memory_row, has_device_number, device_number)

/* Switches of the profiler that the file tells of. */
#define TELLS(function, flag)                                                                      \
    static bool function(const void *row, const void *above)                                       \
    {                                                                                              \
        (void)above;                                                                               \
        return (((const struct capture *)row)->known & (flag)) != 0;                               \
    }
TELLS(tells_shapes, TRACE_RECORD_SHAPES)
TELLS(tells_memory, TRACE_PROFILE_MEMORY)
TELLS(tells_stack, TRACE_WITH_STACK)
TELLS(tells_modules, TRACE_WITH_MODULES)
TELLS(tells_flops, TRACE_WITH_FLOPS)

/* The file. */

static const struct field damage_fields[] = {
    { "kind", "damage", UNIT_NONE, FIELD_NAME, FIELD_AT(struct damage_row, kind),
      .names = trace_damage_names, .name_count = TRACE_DAMAGES },
    { "count", "times", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct damage_row, count),
      .least = 1 },
    { "first_offset", NULL, UNIT_NONE, FIELD_UNSIGNED, FIELD_AT(struct damage_row, first_offset) },
};
static const struct row_type damage_row_type =
    LINE_ROW_TYPE("damage", struct damage_row, damage_fields);

static const struct field file_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_file, path), .place = "path" },
    { "size_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct trace_file, size_bytes),
      .null = NULL_ALL_ONES },
    { "events", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_file, events) },
    { "complete", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct trace_file, complete) },
    { "damage", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_file, damage, damages),
      .row = &damage_row_type },
};
const struct row_type trace_file_row_type = ROW_TYPE("file", struct trace_file, file_fields);

/* What was recorded. */

static const struct field listed_fields[] = {
    { "number", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct listed_row, number),
      .when = has_number },
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct listed_row, name) },
    { "memory_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct listed_row, bytes),
      .when = has_bytes },
    { "compute_major", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct listed_row, major),
      .when = has_major },
    { "compute_minor", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct listed_row, minor),
      .when = has_minor },
    { "multiprocessors", NULL, UNIT_COUNT, FIELD_SIGNED,
      FIELD_AT(struct listed_row, multiprocessors), .when = has_multiprocessors },
};
static const struct row_type listed_row_type =
    LINE_ROW_TYPE("listed_device", struct listed_row, listed_fields);

static const struct field missing_fields[] = {
    { "what", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct missing_row, what) },
    { "switch", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct missing_row, how) },
};
static const struct row_type missing_row_type =
    LINE_ROW_TYPE("missing", struct missing_row, missing_fields);

static const struct field capture_fields[] = {
    { "record_shapes", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct capture, record_shapes),
      .when = tells_shapes },
    { "profile_memory", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct capture, profile_memory),
      .when = tells_memory },
    { "with_stack", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct capture, with_stack),
      .when = tells_stack },
    { "with_modules", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct capture, with_modules),
      .when = tells_modules },
    { "with_flops", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct capture, with_flops),
      .when = tells_flops },
    { "devices", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct capture, device, devices),
      .row = &listed_row_type },
    { "rank", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct capture, rank), .when = has_rank },
    { "world_size", NULL, UNIT_COUNT, FIELD_SIGNED, FIELD_AT(struct capture, world_size),
      .when = has_world_size },
    { "backend", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct capture, backend) },
    { "missing", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct capture, missing, missings),
      .row = &missing_row_type },
};
static const struct row_type capture_row_type =
    ROW_TYPE("capture", struct capture, capture_fields);

/* Links. */

static const struct field rung_fields[] = {
    { "rung", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct rung_row, rung),
      .names = rung_names, .name_count = RUNGS },
    { "events", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct rung_row, events) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct rung_row, ns) },
};
static const struct row_type rung_row_type = LINE_ROW_TYPE("rung", struct rung_row, rung_fields);

static const struct field before_fields[] = {
    { "events", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct linking, before_events) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct linking, before_ns) },
};
static const struct row_type before_row_type =
    LINE_ROW_TYPE("before_window", struct linking, before_fields);

static const struct field linking_fields[] = {
    { "rungs", NULL, UNIT_NONE, FIELD_ROWS, FIELD_ARRAY(struct linking, rung),
      .row = &rung_row_type },
    { "coverage_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct linking, coverage),
      .decimals = 6, .null = NULL_NEGATIVE },
    { "before_window", NULL, UNIT_NONE, FIELD_ROW, .offset = 0, .row = &before_row_type },
};
static const struct row_type linking_row_type =
    ROW_TYPE("linking", struct linking, linking_fields);

/* Devices. */

static const struct field window_fields[] = {
    { "first_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_device, first_ns) },
    { "last_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_device, last_ns) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_device, window_ns) },
};
static const struct row_type window_row_type =
    LINE_ROW_TYPE("window", struct trace_device, window_fields);

static const struct field partition_fields[] = {
    { "computation_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_device, computation_ns) },
    { "exposed_communication_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_device, exposed_communication_ns) },
    { "exposed_memcpy_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_device, exposed_memcpy_ns) },
    { "idle_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_device, idle_ns) },
};
static const struct row_type partition_row_type =
    LINE_ROW_TYPE("partition", struct trace_device, partition_fields);

static const struct field gap_fields[] = {
    { "class", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct gap_row, kind),
      .names = gap_class_names, .name_count = GAP_CLASSES },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct gap_row, count) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct gap_row, ns) },
};
static const struct row_type gap_row_type = LINE_ROW_TYPE("gap_class", struct gap_row, gap_fields);

static const struct field blame_fields[] = {
    { "reason", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct blame_row, reason),
      .names = blame_names, .name_count = BLAMES },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct blame_row, ns) },
};
static const struct row_type blame_row_type =
    LINE_ROW_TYPE("blame", struct blame_row, blame_fields);

static bool has_reason(const void *row, const void *above)
{
    (void)above;
    return ((const struct long_gap_row *)row)->reason < BLAMES;
}

static const struct field long_gap_fields[] = {
    { "first_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct long_gap_row, first_ns) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct long_gap_row, ns) },
    { "class", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct long_gap_row, kind),
      .names = gap_class_names, .name_count = GAP_CLASSES },
    { "reason", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct long_gap_row, reason),
      .names = blame_names, .name_count = BLAMES, .when = has_reason },
    { "next", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct long_gap_row, next) },
    { "op", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct long_gap_row, op) },
    { "step", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct long_gap_row, step) },
};
const struct row_type long_gap_row_type =
    LINE_ROW_TYPE("long_gap", struct long_gap_row, long_gap_fields);

static const struct field gaps_fields[] = {
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_device, gaps) },
    { "classes", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct trace_device, gap, gap_kinds),
      .row = &gap_row_type },
    { "blame", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct trace_device, blame, blames),
      .row = &blame_row_type },
    { "histogram", NULL, UNIT_COUNT, FIELD_VALUES, FIELD_ARRAY(struct trace_device, histogram),
      .of = FIELD_UNSIGNED, .line = true },
    { "longest", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_device, longest, longests), .row = &long_gap_row_type,
      .limited = true },
};
static const struct row_type gaps_row_type = ROW_TYPE("gaps", struct trace_device, gaps_fields);

static const struct field device_fields[] = {
    { "device", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_device, device) },
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_device, name) },
    { "streams", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_device, streams) },
    { "events", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_device, events) },
    { "window", NULL, UNIT_NONE, FIELD_ROW, .offset = 0, .row = &window_row_type },
    { "busy_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_device, busy_ns) },
    { "busy_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_device, busy),
      .decimals = 6, .null = NULL_NEGATIVE },
    { "compute_busy_ratio", NULL, UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct trace_device, compute_busy), .decimals = 6, .null = NULL_NEGATIVE },
    { "steps_window_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_device, steps_window_ns), .null = NULL_NEGATIVE },
    { "steps_busy_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_device, steps_busy_ns),
      .null = NULL_NEGATIVE },
    { "steps_busy_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_device, steps_busy),
      .decimals = 6, .null = NULL_NEGATIVE },
    { "partition", NULL, UNIT_NONE, FIELD_ROW, .offset = 0, .row = &partition_row_type },
    { "gaps", NULL, UNIT_NONE, FIELD_ROW, .offset = 0, .row = &gaps_row_type },
    { "memory", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_device, memory),
      .pointer = true, .row = &trace_memory_peak_row_type },
};
static const struct row_type device_row_type =
    ROW_TYPE("device", struct trace_device, device_fields);

/* Steps. */

static const struct field step_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_step, name) },
    { "first_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_step, first_ns) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_step, ns) },
    { "device_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_step, device_ns) },
    { "work", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_step, work) },
    { "aware_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_step, aware_ns) },
    { "busy_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_step, busy), .decimals = 6,
      .null = NULL_NEGATIVE },
    { "kind", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_step, kind),
      FIELD_NAMES(trace_step_kind_names) },
};
const struct row_type trace_step_row_type =
    LINE_ROW_TYPE("step", struct trace_step, step_fields);

static bool has_steps(const void *row, const void *above)
{
    (void)above;
    return ((const struct step_statistics *)row)->count > 0;
}

static const struct field statistics_fields[] = {
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct step_statistics, count) },
    { "mean_ns", NULL, UNIT_NS, FIELD_REAL, FIELD_AT(struct step_statistics, mean_ns),
      .when = has_steps },
    { "std_ns", NULL, UNIT_NS, FIELD_REAL, FIELD_AT(struct step_statistics, std_ns),
      .when = has_steps },
    { "median_ns", NULL, UNIT_NS, FIELD_REAL, FIELD_AT(struct step_statistics, median_ns),
      .when = has_steps },
    { "min_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct step_statistics, min_ns),
      .when = has_steps },
    { "max_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct step_statistics, max_ns),
      .when = has_steps },
    { "p95_ns", NULL, UNIT_NS, FIELD_REAL, FIELD_AT(struct step_statistics, p95_ns),
      .when = has_steps },
    { "p99_ns", NULL, UNIT_NS, FIELD_REAL, FIELD_AT(struct step_statistics, p99_ns),
      .when = has_steps },
};
static const struct row_type statistics_row_type =
    LINE_ROW_TYPE("step_statistics", struct step_statistics, statistics_fields);

/* Tables. */

static const struct field operator_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct operator_row, name) },
    { "calls", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct operator_row, calls) },
    { "self_cpu_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct operator_row, self_cpu_ns) },
    { "cpu_total_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct operator_row, cpu_total_ns) },
    { "self_device_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct operator_row, self_device_ns) },
    { "device_total_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct operator_row, device_total_ns) },
    { "self_cpu_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct operator_row, self_bytes.cpu) },
    { "cpu_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct operator_row, bytes.cpu) },
    { "self_device_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct operator_row, self_bytes.device) },
    { "device_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct operator_row, bytes.device) },
};
const struct row_type operator_row_type =
    LINE_ROW_TYPE("op", struct operator_row, operator_fields);

static const struct field name_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct name_row, name) },
    { "calls", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct name_row, calls) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct name_row, ns) },
};
const struct row_type kernel_row_type = LINE_ROW_TYPE("kernel", struct name_row, name_fields);
const struct row_type call_row_type = LINE_ROW_TYPE("call", struct name_row, name_fields);

static const struct field copy_fields[] = {
    { "kind", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct copy_row, kind) },
    { "calls", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct copy_row, calls) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct copy_row, bytes) },
    { "ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct copy_row, ns) },
};
const struct row_type copy_row_type = LINE_ROW_TYPE("copy", struct copy_row, copy_fields);

static const struct field memory_fields[] = {
    { "device_type", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct memory_row, device_type),
      .when = has_device_type },
    { "device_number", NULL, UNIT_NUMBER, FIELD_SIGNED,
      FIELD_AT(struct memory_row, device_number), .when = has_device_number },
    { "events", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct memory_row, events) },
    { "lower_bound", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct memory_row, is_lower_bound) },
    { "base_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct memory_row, base) },
    { "peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct memory_row, peak) },
    { "peak_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct memory_row, peak_ns) },
    { "final_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct memory_row, final) },
};
const struct row_type trace_memory_row_type =
    LINE_ROW_TYPE("memory", struct memory_row, memory_fields);

static bool is_split(const void *row, const void *above)
{
    (void)above;
    return ((const struct trace_report *)row)->split.by.parts != 0;
}

static const struct field report_fields[] = {
    { "file", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_report, file),
      .row = &trace_file_row_type },
    { "capture", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_report, capture),
      .row = &capture_row_type },
    { "linking", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_report, linking),
      .row = &linking_row_type },
    { "devices", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_report, device, devices),
      .row = &device_row_type },
    { "steps", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_report, step, steps),
      .row = &trace_step_row_type, .limited = true },
    { "step_source", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_report, step_source),
      FIELD_NAMES(trace_step_source_names) },
    { "step_statistics", NULL, UNIT_NONE, FIELD_ROW,
      .offset = offsetof(struct trace_report, statistics), .row = &statistics_row_type },
    { "phases", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct trace_report, phases.row, phases.rows),
      .row = &trace_phase_row_type, .limited = true },
    { "step_phases", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, phases.step, phases.steps),
      .row = &trace_step_phases_row_type, .limited = true },
    { "launches", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_report, launches),
      .row = &trace_launches_row_type },
    { "ops", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, op, ops),
      .row = &operator_row_type, .limited = true, .table = true },
    { "ops_by", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, split.row, split.rows), .row = &split_row_type,
      .when = is_split, .limited = true },
    { "kernels", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, figures.tables.kernel, figures.tables.kernels),
      .row = &kernel_row_type, .limited = true },
    { "copies", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, figures.tables.copy, figures.tables.copies),
      .row = &copy_row_type, .limited = true },
    { "runtime", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, figures.tables.call, figures.tables.calls),
      .row = &call_row_type, .limited = true },
    { "bottleneck", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_report, bottleneck),
      .row = &bottleneck_row_type },
    { "findings", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, findings.finding, findings.findings),
      .row = &trace_finding_row_type, .limited = true },
    { "silent", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, findings.silent, findings.silents),
      .row = &trace_silence_row_type },
    { "modules", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, modules.row, modules.rows), .row = &trace_module_row_type,
      .limited = true },
    { "ranks", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_report, ranks),
      .row = &trace_ranks_row_type, .pointer = true },
    { "memory", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_report, peaks.row, peaks.rows),
      .row = &trace_memory_peak_row_type, .limited = true },
    { "memory_timeline", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct trace_report, peaks.row, peaks.rows),
      .row = &trace_memory_timeline_row_type },
};
const struct row_type trace_report_row_type =
    ROW_TYPE("trace", struct trace_report, report_fields);
