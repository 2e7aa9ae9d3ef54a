/* trust_fields.c - the members of trust and of its items. */
#include "analysis/snapshot/trust/trust_fields.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/trust/trust.h"
#include "base/str.h"

static const struct field item_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trust_item, id) },
    { "text", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trust_item, text) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trust_item, count) },
    { "worst_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct trust_item, worst_bytes),
      .null = NULL_ALL_ONES },
    { "first_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct trust_item, first_event),
      .null = NULL_NEGATIVE },
};
static const struct row_type item_row_type =
    LINE_ROW_TYPE("trust_item", struct trust_item, item_fields);

static void make_grade(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    const struct trust *trust = row;
    (void)above;
    (void)limit;
    ret->text = (str){ &trust->grade, 1 };
}

static const struct field trust_fields[] = {
    { "grade", NULL, UNIT_NONE, FIELD_TEXT, .make = make_grade },
    { "window", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trust, window),
      FIELD_NAMES(trust_window_names) },
    { "items", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trust, item, items),
      .row = &item_row_type },
};
const struct row_type trust_row_type = ROW_TYPE("trust", struct trust, trust_fields);
