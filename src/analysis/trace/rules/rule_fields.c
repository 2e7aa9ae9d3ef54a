/* rule_fields.c - the members of findings and silences, as JSON and columns have them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/rules/bottleneck.h"
#include "analysis/trace/rules/rules.h"
#include "base/field.h"
#include "base/str.h"

/* Ratios have some digits; the rest are whole. */
static void make_value(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    const struct trace_evidence *e = row;
    (void)above;
    (void)limit;
    ret->real = e->value;
    ret->decimals = 0;
    if (str_ends(str_from(e->name), S("_ratio")) || str_ends(str_from(e->name), S("_per_step")))
        ret->decimals = 6;
}

static const struct field evidence_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trace_evidence, name) },
    { "value", NULL, UNIT_NONE, FIELD_REAL, .make = make_value },
};
static const struct row_type evidence_row_type = {
    .name = "evidence",
    .field = evidence_fields,
    .fields = sizeof evidence_fields / sizeof *evidence_fields,
    .size = sizeof(struct trace_evidence),
    .keyed = true,
};

/* What was seen, and what that was compared with. */
#define SEEN_FIELDS                                                                                \
    { "evidence", NULL, UNIT_NONE, FIELD_ROWS,                                                     \
      FIELD_PLACES(struct trace_finding, evidence, evidences), .row = &evidence_row_type,          \
      .line = true },                                                                              \
    { "threshold", NULL, UNIT_NONE, FIELD_ROWS,                                                    \
      FIELD_PLACES(struct trace_finding, limit, limits), .row = &evidence_row_type,                \
      .line = true }

static const struct field finding_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trace_finding, id) },
    { "severity", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_finding, severity),
      FIELD_NAMES(trace_severity_names) },
    { "text", NULL, UNIT_NONE, FIELD_SENTENCE, .sentence = TRACE_TEXT },
    SEEN_FIELDS,
    { "culprit", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_finding, culprit) },
    { "line", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_finding, line) },
    { "advice", NULL, UNIT_NONE, FIELD_SENTENCE, .sentence = TRACE_ADVICE_TEXT },
    { "gain_bound_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_finding, gain_ns),
      .null = NULL_NEGATIVE },
    { "gain_bound_step_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct trace_finding, gain_step_ns), .null = NULL_NEGATIVE },
};
const struct row_type trace_finding_row_type =
    ROW_TYPE("finding", struct trace_finding, finding_fields);

/* Its members are those of a finding that mean something of it. */
static const struct field bottleneck_why_fields[] = {
    { "text", NULL, UNIT_NONE, FIELD_SENTENCE, .sentence = TRACE_TEXT },
    SEEN_FIELDS,
};
static const struct row_type bottleneck_why_row_type =
    ROW_TYPE("bottleneck_why", struct trace_finding, bottleneck_why_fields);

static const struct field bottleneck_fields[] = {
    { "kind", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct bottleneck, kind),
      FIELD_NAMES(bottleneck_kind_names) },
    { "", NULL, UNIT_NONE, FIELD_INLINE, .offset = offsetof(struct bottleneck, why),
      .row = &bottleneck_why_row_type },
};
const struct row_type bottleneck_row_type =
    ROW_TYPE("bottleneck", struct bottleneck, bottleneck_fields);

static const struct field silence_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trace_silence, id) },
    { "clause", NULL, UNIT_NONE, FIELD_SENTENCE, .sentence = TRACE_CLAUSE },
};
const struct row_type trace_silence_row_type =
    LINE_ROW_TYPE("silence", struct trace_silence, silence_fields);
