/* answers.c - the kinds of answer about snapshots: what each is made of, and its forms. */
#include "render/snapshot/answers.h"

#include <stdbool.h>

#include "allocator/whatif/questions.h"
#include "analysis/snapshot/advise/advise_answer.h"
#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/breakdown/peak_moment.h"
#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/timeline/phase_rows.h"
#include "render/answer/answer.h"
#include "render/answer/envelope_fields.h"
#include "render/answer/fields.h"
#include "render/snapshot/advise/advise.h"
#include "render/snapshot/diff/diff_answer.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/replay/replay_sentences.h"
#include "render/snapshot/report/findings_sentences.h"

const struct answer_kind report_answer = {
    .verb = "report",
    .bytes = sizeof(struct report),
    .document = &report_document,
    .set = &report_set_row_type,
    .sentence = finding_sentence,
    .form = { [ANSWER_TEXT] = report_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv,
              [ANSWER_MARKDOWN] = report_markdown },
};

const struct answer_kind peak_answer = {
    .verb = "peak",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &peak_moment_row_type,
    .form = { [ANSWER_TEXT] = peak_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = answer_csv },
};

const struct answer_kind replay_answer = {
    .verb = "replay",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &replay_result_row_type,
    .sentence = replay_sentence,
    .form = { [ANSWER_TEXT] = replay_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = answer_csv },
};

const struct answer_kind diff_answer = {
    .verb = "diff",
    .bytes = sizeof(struct diff_answer),
    .document = &diff_document,
    .form = { [ANSWER_TEXT] = diff_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = answer_csv },
};

const struct answer_kind oom_answer = {
    .verb = "oom",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &oom_row_type,
    .shows_names = true,
    .form = { [ANSWER_TEXT] = oom_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = answer_csv },
};

const struct answer_kind leaks_answer = {
    .verb = "leaks",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &leaks_row_type,
    .shows_names = true,
    .form = { [ANSWER_TEXT] = leaks_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = answer_csv },
};

const struct answer_kind fragments_answer = {
    .verb = "fragments",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &fragments_row_type,
    .shows_names = true,
    .form = { [ANSWER_TEXT] = fragments_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv },
};

const struct answer_kind steps_answer = {
    .verb = "steps",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &phases_row_type,
    .shows_names = true,
    .form = { [ANSWER_TEXT] = steps_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = answer_csv },
};

const struct answer_kind categories_answer = {
    .verb = "categories",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &category_table_row_type,
    .shows_names = true,
    .form = { [ANSWER_TEXT] = categories_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv },
};

const struct answer_kind advise_answer = {
    .verb = "advise",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &advise_answer_row_type,
    .sentence = advise_sentence,
    .shows_names = true,
    .form = { [ANSWER_TEXT] = advise_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = answer_csv },
};

const struct answer_kind check_answer = {
    .verb = "check",
    .bytes = sizeof(struct devices_answer),
    .document = &devices_document,
    .result = &check_result_row_type,
    .shows_names = true,
    .form = { [ANSWER_TEXT] = check_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv,
              [ANSWER_JUNIT] = check_junit,
              [ANSWER_MARKDOWN] = check_markdown,
              [ANSWER_SARIF] = check_sarif },
};
