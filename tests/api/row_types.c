/* row_types: the types of the rows of every verb's answer, as their fields describe them, in JSON.
 *
 * Prints { "verbs": { VERB: { "document", "set" } }, "types": [ { "name", "tuple", "keyed",
 * "fields" } ] }, where a type is its number among "types", null is none, and a field has the
 * members of struct field.  test_schemas.py compares them with the schemas. */
#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/field.h"
#include "render/answer/answer.h"
#include "render/measurement/comparison_answer.h"
#include "render/objects/object_answers.h"
#include "render/profiler/profile_answer.h"
#include "render/snapshot/answers.h"
#include "render/trace/trace_answer.h"

static const struct answer_kind *const kinds[] = {
    &report_answer, &peak_answer,      &replay_answer,  &diff_answer,       &oom_answer,
    &leaks_answer,  &fragments_answer, &steps_answer,   &categories_answer, &advise_answer,
    &check_answer,  &model_answer,     &tensors_answer, &cycles_answer,     &profile_answer,
    &growth_answer, &trace_answer,     &trace_check_answer, &trace_diff_answer,
    &trace_timeline_answer, &measured_answer, &comparison_answer,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *const type_names[] = {
    [FIELD_BOOL] = "bool", [FIELD_UNSIGNED] = "unsigned", [FIELD_SIGNED] = "signed",
    [FIELD_REAL] = "real", [FIELD_TEXT] = "text",         [FIELD_WORD] = "word",
    [FIELD_NAME] = "name", [FIELD_STACK] = "stack",       [FIELD_SENTENCE] = "sentence",
    [FIELD_ROW] = "row",   [FIELD_INLINE] = "inline",     [FIELD_FREE] = "free",
    [FIELD_ROWS] = "rows", [FIELD_VALUES] = "values",     [FIELD_STACKS] = "stacks",
};

/* Those met so far.  What a device's result is depends on the kind, so that the type that holds it
 * counts once for each kind. */
enum { TYPES_MOST = 1000 };
static struct {
    const struct row_type *type;
    const struct answer_kind *kind;
} met[TYPES_MOST];
static unsigned mets;

static unsigned number_of(const struct row_type *type, const struct answer_kind *kind)
{
    for (unsigned i = 0; i < mets; i++)
        if (met[i].type == type && met[i].kind == kind)
            return i;
    assert(mets < TYPES_MOST);
    met[mets].type = type;
    met[mets].kind = kind;
    return mets++;
}

static void put_flag(const char *name, bool value)
{
    printf(", \"%s\": %s", name, value ? "true" : "false");
}

static void put_names(const struct field *f)
{
    const char *comma = "";
    printf(", \"names\": [");
    for (uint32_t i = 0; i < f->name_count; i++) {
        if (f->names[i] == NULL)
            continue;
        printf("%s\"%s\"", comma, f->names[i]);
        comma = ", ";
    }
    printf("]");
}

static void put_field(const struct field *f, const struct answer_kind *kind)
{
    bool has_row = f->type == FIELD_ROW || f->type == FIELD_INLINE || f->type == FIELD_ROWS;
    printf("{\"name\": ");
    if (f->name == NULL)
        printf("null");
    else
        printf("\"%s\"", f->name);
    printf(", \"type\": \"%s\"", type_names[f->type]);
    if (f->type == FIELD_VALUES)
        printf(", \"of\": \"%s\"", type_names[f->of]);
    if (has_row)
        printf(", \"row\": %u", number_of(field_row_type(f, kind->result), kind));
    if (f->names != NULL)
        put_names(f);
    printf(", \"least\": %" PRId64, f->least);
    put_flag("bounded", f->bounded);
    put_flag("when", f->when != NULL);
    put_flag("made", f->make != NULL);
    put_flag("null", f->null != NULL_NEVER);
    put_flag("optional", f->optional);
    put_flag("pointer", f->pointer);
    put_flag("table", f->table);
    printf("}");
}

static void put_type(unsigned i)
{
    const struct row_type *type = met[i].type;
    printf("%s\n{\"name\": \"%s\"", i == 0 ? "" : ",", type->name);
    put_flag("tuple", type->tuple);
    put_flag("keyed", type->keyed);
    printf(", \"fields\": [");
    for (uint32_t k = 0; k < type->fields; k++) {
        if (k > 0)
            printf(", ");
        put_field(&type->field[k], met[i].kind);
    }
    printf("]}");
}

int main(void)
{
    printf("{\"verbs\": {");
    for (unsigned i = 0; i < KINDS; i++) {
        printf("%s\"%s\": {\"document\": %u, \"set\": ", i == 0 ? "" : ", ", kinds[i]->verb,
               number_of(kinds[i]->document, kinds[i]));
        if (kinds[i]->set == NULL)
            printf("null}");
        else
            printf("%u}", number_of(kinds[i]->set, kinds[i]));
    }
    printf("},\n\"types\": [");
    for (unsigned i = 0; i < mets; i++)
        put_type(i);
    printf("]}\n");
    return 0;
}
