/* trace_answer.h - the kind of answer about a profiler trace. */
#ifndef VRS_RENDER_TRACE_TRACE_ANSWER_H
#define VRS_RENDER_TRACE_TRACE_ANSWER_H

#include "render/answer/answer.h"

extern const struct answer_kind trace_answer;

answer_renderer trace_answer_text, trace_answer_json, trace_answer_csv;

#endif
