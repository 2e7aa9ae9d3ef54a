/* comparison_answer.c - the kind of answers about two measurements: its fields, its forms. */
#include "render/measurement/comparison_answer.h"

#include "analysis/measurement/compare/compare.h"
#include "render/answer/answer.h"
#include "render/answer/fields.h"

const struct answer_kind comparison_answer = {
    .verb = "compare",
    .bytes = sizeof(struct comparison),
    .document = &comparison_row_type,
    .form = { [ANSWER_TEXT] = comparison_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv },
};
