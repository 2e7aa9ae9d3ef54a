/* trace_answer.h - the kinds of answers about profiler traces. */
#ifndef VRS_RENDER_TRACE_TRACE_ANSWER_H
#define VRS_RENDER_TRACE_TRACE_ANSWER_H

#include "render/answer/answer.h"

extern const struct answer_kind trace_answer, trace_check_answer, trace_diff_answer,
    trace_timeline_answer, measured_answer;

answer_renderer trace_answer_text, trace_answer_json, trace_answer_csv;
answer_renderer trace_check_text, trace_check_junit, trace_check_markdown, trace_check_sarif;
answer_renderer trace_diff_text, trace_diff_csv;
answer_renderer trace_timeline_text, trace_timeline_csv;
answer_renderer measured_text;

#endif
