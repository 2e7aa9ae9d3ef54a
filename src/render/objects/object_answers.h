/* object_answers.h - the kinds of answer about the objects of a running program. */
#ifndef VRS_RENDER_OBJECT_ANSWERS_H
#define VRS_RENDER_OBJECT_ANSWERS_H

#include "render/answer/answer.h"

extern const struct answer_kind model_answer, tensors_answer, cycles_answer, growth_answer;

answer_renderer model_size_text, tensor_table_text, cycles_text, step_growth_text;
field_sentence cycle_sentence;

#endif
