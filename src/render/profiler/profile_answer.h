/* profile_answer.h - the kind of answer that tells what a profiler has measured. */
#ifndef VRS_RENDER_PROFILER_PROFILE_ANSWER_H
#define VRS_RENDER_PROFILER_PROFILE_ANSWER_H

#include "render/answer/answer.h"

extern const struct answer_kind profile_answer;

answer_renderer profile_text;

#endif
