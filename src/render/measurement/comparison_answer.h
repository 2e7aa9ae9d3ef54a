/* comparison_answer.h - the kind of answers about two measurements. */
#ifndef VRS_RENDER_MEASUREMENT_COMPARISON_ANSWER_H
#define VRS_RENDER_MEASUREMENT_COMPARISON_ANSWER_H

#include "render/answer/answer.h"

extern const struct answer_kind comparison_answer;

answer_renderer comparison_text;

#endif
