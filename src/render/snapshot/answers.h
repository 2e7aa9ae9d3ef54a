/* answers.h - the kinds of answer about snapshots, one for each verb. */
#ifndef VRS_RENDER_SNAPSHOT_ANSWERS_H
#define VRS_RENDER_SNAPSHOT_ANSWERS_H

#include "render/answer/answer.h"

extern const struct answer_kind report_answer, peak_answer, replay_answer, diff_answer, oom_answer,
    leaks_answer, fragments_answer, steps_answer, categories_answer, advise_answer, check_answer;

#endif
