/* site_fields.c - the members of a place in the program. */
#include "analysis/snapshot/study/site_fields.h"

#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/study/study.h"

static const struct field site_fields[] = {
    { "culprit", "at", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct site_ref, culprit) },
    { "owner", "owner", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct site_ref, owner) },
    { "stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct site_ref, stack) },
};
const struct row_type site_row_type = LINE_ROW_TYPE("site", struct site_ref, site_fields);

static bool never(const void *row, const void *above)
{
    (void)row;
    (void)above;
    return false;
}

static const struct field bare_fields[] = {
    { "culprit", "at", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct site_ref, culprit) },
    { "owner", "owner", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct site_ref, owner) },
    { "stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct site_ref, stack), .when = never },
};
const struct row_type site_without_stack_row_type =
    LINE_ROW_TYPE("site_without_stack", struct site_ref, bare_fields);
