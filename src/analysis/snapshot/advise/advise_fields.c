/* advise_fields.c - the members of advice, and of the rules that stay silent. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_answer.h"
#include "analysis/snapshot/advise/waste.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/site_fields.h"
#include "base/field.h"

static const char *const source_names[] = {
    [SAVING_NONE] = NULL,
    [SAVING_DERIVED] = "derived",
    [SAVING_VERIFIED] = "verified",
    [SAVING_ESTIMATED] = "estimated",
};

static void make_value(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    const struct advice_condition *condition = row;
    (void)above;
    (void)limit;
    ret->real = condition->value;
    ret->decimals = condition->decimals;
}

static void make_threshold(const void *row, const void *above, uint32_t limit,
                           struct field_value *ret)
{
    const struct advice_condition *condition = row;
    make_value(row, above, limit, ret);
    ret->real = condition->threshold;
}

static const struct field condition_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct advice_condition, name) },
    { "value", NULL, UNIT_NONE, FIELD_REAL, .make = make_value },
    { "threshold", NULL, UNIT_NONE, FIELD_REAL, .make = make_threshold },
};
static const struct row_type condition_row_type =
    LINE_ROW_TYPE("condition", struct advice_condition, condition_fields);

static const struct field verification_fields[] = {
    { "verb", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct advice_verification, verb) },
    { "options", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct advice_verification, options) },
    { "figure", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct advice_verification, figure) },
    { "recorded_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct advice_verification, before_bytes), .null = NULL_ALL_ONES },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct advice_verification, after_bytes) },
};
static const struct row_type verification_row_type =
    LINE_ROW_TYPE("verification", struct advice_verification, verification_fields);

static bool has_verification(const void *row, const void *above)
{
    const struct advice *advice = row;
    (void)above;
    return advice->verification.verb != NULL;
}

static bool has_site(const void *row, const void *above)
{
    const struct advice *advice = row;
    (void)above;
    return advice->has_site;
}

static const struct field advice_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct advice, id) },
    { "severity", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct advice, severity),
      FIELD_NAMES(severity_names) },
    { "text", NULL, UNIT_NONE, FIELD_SENTENCE, .sentence = ADVICE_TEXT },
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct advice, site), .row = &site_row_type,
      .when = has_site },
    { "at_events", NULL, UNIT_EVENT, FIELD_VALUES, FIELD_PLACES(struct advice, at_event, at_events),
      .of = FIELD_SIGNED, .least = -1, .bounded = true, .line = true },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct advice, bytes) },
    { "saving_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct advice, saving_bytes),
      .null = NULL_ALL_ONES },
    { "saving_source", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct advice, source),
      FIELD_NAMES(source_names) },
    { "confidence", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct advice, confidence),
      FIELD_NAMES(confidence_names) },
    { "cost", NULL, UNIT_NONE, FIELD_SENTENCE, .sentence = ADVICE_COST },
    { "verification", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct advice, verification),
      .row = &verification_row_type, .when = has_verification },
    { "conditions", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct advice, condition, conditions),
      .row = &condition_row_type },
};
const struct row_type advice_row_type = ROW_TYPE("advice", struct advice, advice_fields);

static const struct field silence_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct advice_silence, id) },
    { "clause", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct advice_silence, clause) },
};
const struct row_type advice_silence_row_type =
    LINE_ROW_TYPE("silence", struct advice_silence, silence_fields);

static bool has_waste(const void *row, const void *above)
{
    const struct advise_answer *answer = row;
    (void)above;
    return answer->has_waste;
}

static const struct field answer_fields[] = {
    { "advice", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct advise_answer, advise.advice, advise.advices), .row = &advice_row_type,
      .limited = true, .table = true },
    { "joint_saving_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct advise_answer, advise.joint_saving_bytes) },
    { "joint_peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct advise_answer, advise.joint_peak_bytes) },
    { "joint_peak_event", NULL, UNIT_EVENT, FIELD_SIGNED,
      FIELD_AT(struct advise_answer, advise.joint_peak_event), .least = -1, .bounded = true },
    { "silent", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct advise_answer, advise.silent, advise.silents),
      .row = &advice_silence_row_type },
    { "waste", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct advise_answer, waste),
      .row = &waste_row_type, .when = has_waste },
};
const struct row_type advise_answer_row_type =
    ROW_TYPE("advise_result", struct advise_answer, answer_fields);
