/* trace_answer.c - what the kind is made of, and its JSON, which has the exact figures besides. */
#include "render/trace/trace_answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/queue/queue.h"
#include "analysis/trace/categories/categories.h"
#include "analysis/trace/check/trace_check.h"
#include "analysis/trace/diff/trace_diff.h"
#include "analysis/trace/report/job.h"
#include "analysis/trace/modules/modules.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/measured.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/splits/split.h"
#include "analysis/trace/timeline/timeline.h"
#include "base/buf.h"
#include "base/field.h"
#include "render/answer/answer.h"
#include "render/answer/document.h"
#include "render/answer/fields.h"
#include "render/trace/figures_json.h"
#include "render/trace/trace_findings.h"
#include "render/trace/trace_words.h"
#include "render/write/json.h"
#include "render/write/out.h"

const struct answer_kind trace_answer = {
    .verb = "trace",
    .bytes = sizeof(struct trace_report),
    .document = &trace_report_row_type,
    .sentence = trace_finding_sentence,
    .set = &trace_set_row_type,
    .form = { [ANSWER_TEXT] = trace_answer_text, [ANSWER_JSON] = trace_answer_json, [ANSWER_CSV] = trace_answer_csv },
};

const struct answer_kind trace_check_answer = {
    .verb = "trace-check",
    .bytes = sizeof(struct trace_check),
    .document = &trace_check_row_type,
    .form = { [ANSWER_TEXT] = trace_check_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv,
              [ANSWER_JUNIT] = trace_check_junit,
              [ANSWER_MARKDOWN] = trace_check_markdown,
              [ANSWER_SARIF] = trace_check_sarif },
};

const struct answer_kind trace_diff_answer = {
    .verb = "trace-diff",
    .bytes = sizeof(struct trace_diff),
    .document = &trace_diff_row_type,
    .form = { [ANSWER_TEXT] = trace_diff_text, [ANSWER_JSON] = answer_json, [ANSWER_CSV] = trace_diff_csv },
};

const struct answer_kind trace_timeline_answer = {
    .verb = "trace-timeline",
    .bytes = sizeof(struct trace_timeline),
    .document = &trace_timeline_row_type,
    .form = { [ANSWER_TEXT] = trace_timeline_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = trace_timeline_csv },
};

const struct answer_kind measured_answer = {
    .verb = "method",
    .bytes = sizeof(struct measured_method),
    .document = &measured_method_row_type,
    .sentence = trace_finding_sentence,
    .form = { [ANSWER_TEXT] = measured_text, [ANSWER_JSON] = answer_json },
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
    if (several) {
        const struct fields_json w = { &j, out, set->kind, NULL, UINT32_MAX };
        fields_members(&w, &trace_set_row_type, set->more, NULL);
    }
    document_end(&j);
}

/* Lines have no place for what of a file could not be read. */
static void say_incomplete(const struct trace_file *file, const struct render_options *options)
{
    struct buf text;
    if (file->complete || options->note == NULL)
        return;
    buf_init(&text, SIZE_MAX / 2);
    buf_str(&text, file->path);
    buf_text(&text, ": INCOMPLETE: ");
    buf_text(&text, trace_incomplete_words(file));
    buf_text(&text, ", and the rows are of what was read");
    buf_char(&text, '\0');
    if (!text.failed)
        options->note(options->note_arg, text.at);
    buf_free(&text);
}

/* Of many gaps no more than the longest are kept; -n may ask for fewer. */
static void say_gaps(const struct trace_report *r, const struct render_options *options)
{
    for (uint32_t i = 0; i < r->devices; i++) {
        const struct trace_device *d = &r->device[i];
        struct buf text;
        if (options->note == NULL || d->gaps <= d->longests ||
            (options->rows != 0 && options->rows <= d->longests))
            continue;
        buf_init(&text, SIZE_MAX / 2);
        buf_str(&text, r->file.path);
        buf_text(&text, ": device ");
        buf_str(&text, d->device);
        buf_format(&text, ": only the %u longest of %llu gaps are kept", (unsigned)d->longests,
                   (unsigned long long)d->gaps);
        buf_char(&text, '\0');
        if (!text.failed)
            options->note(options->note_arg, text.at);
        buf_free(&text);
    }
}

void trace_answer_csv(struct out *out, const struct answer_set *set, bool several,
                      const struct render_options *options)
{
    static const struct {
        uint32_t section;
        const struct row_type *rows;
    } tables[] = {
        { SECTION_KERNELS, &kernel_row_type },   { SECTION_GAPS, &long_gap_row_type },
        { SECTION_STEPS, &trace_step_row_type }, { SECTION_MEMORY, &trace_memory_peak_row_type },
        { SECTION_CALLS, &call_row_type },        { SECTION_PHASES, &trace_phase_row_type },
        { SECTION_LAUNCHES, &trace_queue_row_type }, { SECTION_FINDINGS, &trace_finding_row_type },
        { SECTION_MODULES, &trace_module_row_type },
    };
    uint32_t sections = set->count == 0 ? 0 : ((const struct trace_report *)set->answers)->sections;
    const struct row_type *rows = NULL;
    (void)several;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (sections == tables[i].section)
            rows = tables[i].rows;
    if (sections == SECTION_OPS && ((const struct trace_report *)set->answers)->split.by.parts != 0)
        rows = &split_row_type;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct trace_report *r = (const struct trace_report *)set->answers + i;
        say_incomplete(&r->file, options);
        if (sections == SECTION_GAPS)
            say_gaps(r, options);
    }
    answer_csv_of(out, set, rows, options);
}

void trace_timeline_csv(struct out *out, const struct answer_set *set, bool several,
                        const struct render_options *options)
{
    (void)several;
    for (uint32_t i = 0; i < set->count; i++)
        say_incomplete(&((const struct trace_timeline *)set->answers)[i].file, options);
    answer_csv_of(out, set, NULL, options);
}

/* Of operators: those by more than their names where they were asked for. */
void trace_diff_csv(struct out *out, const struct answer_set *set, bool several,
                    const struct render_options *options)
{
    const struct trace_diff *diffs = set->answers;
    (void)several;
    answer_csv_of(out, set, set->count > 0 && diffs->by != 0 ? &trace_diff_by_row_type : NULL,
                  options);
}
