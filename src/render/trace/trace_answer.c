/* trace_answer.c - what the kind is made of, and its JSON, which has the exact figures besides. */
#include "render/trace/trace_answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "render/answer/answer.h"
#include "render/answer/document.h"
#include "render/answer/fields.h"
#include "render/trace/figures_json.h"
#include "render/write/json.h"
#include "render/write/out.h"

const struct answer_kind trace_answer = {
    .verb = "trace",
    .bytes = sizeof(struct trace_report),
    .document = &trace_report_row_type,
    .form = { [ANSWER_TEXT] = trace_answer_text, [ANSWER_JSON] = trace_answer_json, [ANSWER_CSV] = answer_csv },
};

static void put_members(struct json *j, struct out *out, const struct answer_set *set, uint32_t i,
                        const void *arg)
{
    const struct render_options *options = arg;
    const struct trace_report *report = (const struct trace_report *)set->answers + i;
    const struct fields_json as = {
        .j = j,
        .out = out,
        .kind = set->kind,
        .limit = options->rows == 0 ? UINT32_MAX : options->rows,
    };
    fields_members(&as, &trace_report_row_type, report, NULL);
    figures_json(j, "figures", &report->figures);
}

void trace_answer_json(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    struct json j;
    document_begin(&j, out, set->kind->verb, several, options);
    document_files(&j, out, set, several, put_members, options);
    document_end(&j);
}
