/* renderers.h - the forms of answers about snapshots. */
#ifndef VRS_RENDER_SNAPSHOT_RENDERERS_H
#define VRS_RENDER_SNAPSHOT_RENDERERS_H

#include "render/answer/answer.h"

answer_renderer report_text, report_markdown, peak_text, replay_text, diff_text, oom_text,
    leaks_text, fragments_text, steps_text, categories_text, advise_text, check_text, check_junit,
    check_markdown, check_sarif;

#endif
