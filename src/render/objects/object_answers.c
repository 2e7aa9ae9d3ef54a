/* object_answers.c - what each kind is made of, and its forms. */
#include "render/objects/object_answers.h"

#include "analysis/objects/cycles.h"
#include "analysis/objects/model_size.h"
#include "analysis/objects/step_growth.h"
#include "analysis/objects/tensor_table.h"
#include "render/answer/answer.h"
#include "render/answer/fields.h"

const struct answer_kind model_answer = {
    .verb = "model",
    .bytes = sizeof(struct model_size),
    .document = &model_size_row_type,
    .form = { [ANSWER_TEXT] = model_size_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv },
};

const struct answer_kind tensors_answer = {
    .verb = "tensors",
    .bytes = sizeof(struct tensor_table),
    .document = &tensor_table_row_type,
    .form = { [ANSWER_TEXT] = tensor_table_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv },
};

const struct answer_kind cycles_answer = {
    .verb = "cycles",
    .bytes = sizeof(struct cycles),
    .document = &cycles_row_type,
    .sentence = cycle_sentence,
    .form = { [ANSWER_TEXT] = cycles_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = answer_csv },
};

const struct answer_kind growth_answer = {
    .verb = "growth",
    .bytes = sizeof(struct step_growth),
    .document = &step_growth_row_type,
    .form = { [ANSWER_TEXT] = step_growth_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv },
};
