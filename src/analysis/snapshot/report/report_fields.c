/* report_fields.c - the members of a report, of its devices and of what it finds. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/report/findings.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/report/trust_page.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "analysis/snapshot/trust/trust_fields.h"
#include "base/field.h"
#include "model/file_facts_fields.h"

static bool starts(const void *row, const void *above)
{
    const struct curve *curve = row;
    (void)above;
    return curve->start_known;
}

static bool ends(const void *row, const void *above)
{
    const struct curve *curve = row;
    (void)above;
    return curve->end_known;
}

static const struct field curve_fields[] = {
    { "start_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct curve, start_bytes),
      .when = starts },
    { "peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct curve, peak_bytes) },
    { "peak_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct curve, peak_event), .least = -1,
      .bounded = true },
    { "peak_last_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct curve, peak_last_event),
      .least = -1, .bounded = true },
    { "end_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct curve, end_bytes),
      .when = ends },
    { "exact", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct curve, exact) },
};
static const struct row_type curve_row_type = LINE_ROW_TYPE("curve", struct curve, curve_fields);

/* What the peak is made of. */
static const struct field made_of_fields[] = {
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct category_row, category),
      FIELD_NAMES(category_names) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct category_row, bytes) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct category_row, count) },
};
static const struct row_type made_of_row_type =
    LINE_ROW_TYPE("made_of", struct category_row, made_of_fields);

static const struct field table_fields[] = {
    { "made_of", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct category_table, row, rows),
      .row = &made_of_row_type },
};
static const struct row_type table_row_type =
    ROW_TYPE("made_of_table", struct category_table, table_fields);

static const struct field sections_fields[] = {
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, FIELD_AT(struct report_sections, categories),
      .pointer = true, .row = &table_row_type },
};
static const struct row_type sections_row_type =
    ROW_TYPE("sections", struct report_sections, sections_fields);

static bool has_page(const void *row, const void *above)
{
    const struct report_device *device = row;
    (void)above;
    return device->trust_page != NULL;
}

#define CURVE_OF(curve_name)                                                                       \
    NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct report_device, curves.of[curve_name]),             \
        .row = &curve_row_type
static const struct field device_fields[] = {
    { "device", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct report_device, name.number) },
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, FIELD_AT(struct report_device, name),
      .row = &device_kind_row_type },
    { "events", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct report_device, events) },
    { "segments", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct report_device, segments) },
    { "blocks", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct report_device, blocks) },
    { "stacks", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct report_device, stacks) },
    { "allocations", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct report_device, allocations) },
    { "requested", CURVE_OF(CURVE_REQUESTED) },
    { "allocated", CURVE_OF(CURVE_ALLOCATED) },
    { "active", CURVE_OF(CURVE_ACTIVE) },
    { "reserved", CURVE_OF(CURVE_RESERVED) },
    { "adjust_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct report_device, adjust_bytes) },
    { "pending_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct report_device, pending_bytes), .null = NULL_ALL_ONES },
    { "orphan_frees", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct report_device, orphan_frees) },
    { "double_allocs", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct report_device, double_allocs) },
    { "oom_events", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct report_device, curves.oom_events) },
    { "trust", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct report_device, trust),
      .row = &trust_row_type },
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, FIELD_AT(struct report_device, sections),
      .pointer = true, .row = &sections_row_type, .optional = true },
    { "timeline", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct report_device, timeline),
      .pointer = true, .row = &timeline_row_type },
    { "overview", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct report_device, trust_page),
      .pointer = true, .row = &trust_page_row_type, .when = has_page, .optional = true },
};
static const struct row_type device_row_type =
    ROW_TYPE("report_device", struct report_device, device_fields);

static bool is_judged(const void *row, const void *above)
{
    const struct oom_fact *oom = row;
    (void)above;
    return oom->judged;
}

static const struct field oom_evidence_fields[] = {
    { "verdict", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct oom_fact, verdict), .when = is_judged,
      .optional = true },
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct oom_fact, event) },
    { "asked_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct oom_fact, asked_bytes),
      .null = NULL_ALL_ONES },
    { "device_free_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct oom_fact, device_free_bytes), .null = NULL_ALL_ONES },
    { "requested_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct oom_fact, requested_bytes) },
    { "reserved_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct oom_fact, reserved_bytes) },
};
const struct row_type oom_evidence_row_type =
    LINE_ROW_TYPE("oom_evidence", struct oom_fact, oom_evidence_fields);

static const struct field leak_evidence_fields[] = {
    { "culprit", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct leak_site, site.culprit) },
    { "slope_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct leak_site, slope_bytes) },
    { "every_steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct leak_site, every_steps),
      .least = 1 },
    { "generations", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct leak_site, generations) },
    { "kind", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct leak_site, kind),
      FIELD_NAMES(leak_kind_names) },
};
const struct row_type leak_evidence_row_type =
    LINE_ROW_TYPE("leak_evidence", struct leak_site, leak_evidence_fields);

static bool has_site(const void *row, const void *above)
{
    const struct advice *advice = row;
    (void)above;
    return advice->has_site;
}

static const struct field advice_evidence_fields[] = {
    { "culprit", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct advice, site.culprit),
      .when = has_site },
    { "at_events", NULL, UNIT_EVENT, FIELD_VALUES, FIELD_PLACES(struct advice, at_event, at_events),
      .of = FIELD_SIGNED, .line = true },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct advice, bytes) },
    { "confidence", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct advice, confidence),
      FIELD_NAMES(confidence_names) },
};
const struct row_type advice_evidence_row_type =
    LINE_ROW_TYPE("advice_evidence", struct advice, advice_evidence_fields);

static const struct field stranded_evidence_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct fragments, at_event), .least = -1,
      .bounded = true },
    { "stranded_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragments, total.stranded_bytes) },
    { "reserved_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragments, total.reserved_bytes) },
};
const struct row_type stranded_evidence_row_type =
    LINE_ROW_TYPE("stranded_evidence", struct fragments, stranded_evidence_fields);

static const struct field older_evidence_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED,
      FIELD_AT(struct report_device, curves.of[CURVE_REQUESTED].peak_event), .least = -1,
      .bounded = true },
    { "old_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct report_device, old_bytes) },
    { "live_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct report_device, live_bytes) },
};
const struct row_type older_evidence_row_type =
    LINE_ROW_TYPE("older_evidence", struct report_device, older_evidence_fields);

static const struct field loss_evidence_fields[] = {
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct loss, count) },
};
const struct row_type loss_evidence_row_type =
    LINE_ROW_TYPE("loss_evidence", struct loss, loss_evidence_fields);

static bool is_of_device(const void *row, const void *above)
{
    const struct finding *finding = row;
    (void)above;
    return !finding->of_file;
}

static const struct field finding_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct finding, id) },
    { "severity", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct finding, severity) },
    { "device", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct finding, device.number),
      .when = is_of_device },
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, FIELD_AT(struct finding, device),
      .row = &device_kind_row_type },
    { "text", NULL, UNIT_NONE, FIELD_SENTENCE, .least = 0 },
    { "evidence", NULL, UNIT_NONE, FIELD_FREE, FIELD_AT(struct finding, evidence) },
    { "saving_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct finding, saving_bytes),
      .null = NULL_ALL_ONES },
};
static const struct row_type finding_row_type = ROW_TYPE("finding", struct finding, finding_fields);

static bool is_alone(const void *row, const void *above)
{
    const struct report *report = row;
    (void)above;
    return !report->joined;
}

static const struct field report_fields[] = {
    { "file", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct report, file), .row = &file_row_type },
    { "devices", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct report, device, devices),
      .row = &device_row_type, .table = true },
    { "findings", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct report, finding, findings),
      .row = &finding_row_type },
    { "ranks", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct report, ranks), .pointer = true,
      .row = &ranks_row_type, .when = is_alone, .optional = true },
};
const struct row_type report_document = ROW_TYPE("report", struct report, report_fields);

static const struct field unread_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct unread_file, path) },
    { "error", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct unread_file, why) },
};
static const struct row_type unread_row_type =
    ROW_TYPE("unread", struct unread_file, unread_fields);

static bool has_devices(const void *row, const void *above)
{
    const struct report_set *set = row;
    (void)above;
    return set->requested.devices > 0;
}

static bool has_whole(const void *row, const void *above)
{
    const struct report_set *set = row;
    (void)above;
    return set->requested.whole > 0;
}

static bool has_whole_reserved(const void *row, const void *above)
{
    const struct report_set *set = row;
    (void)above;
    return set->reserved.whole > 0;
}

static bool is_of_job(const void *row, const void *above)
{
    const struct report_set *set = row;
    (void)above;
    return set->job_ranks > 0;
}

#define TOTAL(member) NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct report_set, member)
static const struct field set_fields[] = {
    { "unread", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct report_set, unread, unreads),
      .row = &unread_row_type },
    { "missing_ranks", NULL, UNIT_NUMBER, FIELD_VALUES,
      FIELD_LIST(struct report_set, missing, missings), .of = FIELD_UNSIGNED, .when = is_of_job,
      .optional = true, .line = true },
    { "largest_peak_bytes", TOTAL(requested.largest_bytes), .when = has_devices },
    { "median_peak_bytes", TOTAL(requested.median_bytes), .when = has_whole },
    { "sum_of_separate_peaks_bytes", TOTAL(requested.sum_bytes) },
    { "largest_reserved_peak_bytes", TOTAL(reserved.largest_bytes), .when = has_devices },
    { "median_reserved_peak_bytes", TOTAL(reserved.median_bytes), .when = has_whole_reserved },
    { "sum_of_separate_reserved_peaks_bytes", TOTAL(reserved.sum_bytes) },
    { "device_count", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct report_set, requested.devices) },
    { "largest_peak_path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct report_set, largest_path),
      .when = has_devices },
    { "largest_peak_device", NULL, UNIT_NUMBER, FIELD_UNSIGNED,
      FIELD_AT(struct report_set, requested.largest_device.number), .when = has_devices },
    { "ranks", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct report_set, ranks), .pointer = true,
      .row = &ranks_row_type },
};
const struct row_type report_set_row_type = ROW_TYPE("report_set", struct report_set, set_fields);
