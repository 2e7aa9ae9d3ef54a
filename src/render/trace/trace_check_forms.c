/* trace_check_forms.c - a trace held against limits as JUnit XML and Markdown.
 *
 * As those of snapshots: what could not be decided is a skipped case, with --strict an error. */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/check/trace_check.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/trace/trace_answer.h"
#include "render/trace/trace_check_words.h"
#include "render/write/junit.h"
#include "render/write/markdown.h"
#include "render/write/out.h"

static void put_case(struct buf *to, str path, const struct trace_check_row *row, bool strict,
                     bool ascii)
{
    bool failed = row->outcome == TRACE_FAIL;
    struct buf words;
    buf_text(to, "    <testcase");
    junit_attribute(to, "classname", path, ascii);
    junit_attribute(to, "name", row->name, ascii);
    if (row->outcome == TRACE_PASS) {
        buf_text(to, "/>\n");
        return;
    }
    buf_format(to, ">\n      <%s", failed ? "failure" : strict ? "error" : "skipped");
    if (failed || strict)
        junit_attribute(to, "type", failed ? S("exceeded") : S("inconclusive"), ascii);
    buf_init(&words, SIZE_MAX / 2);
    trace_check_row_words(&words, row, ascii);
    junit_attribute(to, "message", buf_slice(&words), ascii);
    buf_end(&words, to);
    buf_text(to, "/>\n    </testcase>\n");
}

static void put_counts(struct buf *to, const struct trace_check *checks, uint32_t count)
{
    uint64_t all = 0, fails = 0, open = 0;
    bool strict = count > 0 && checks[0].strict;
    for (uint32_t i = 0; i < count; i++) {
        all += checks[i].rows;
        fails += checks[i].fails;
        open += checks[i].inconclusive;
    }
    junit_counts(to, all, fails, strict ? open : 0, strict ? 0 : open);
}

void trace_check_junit(struct out *out, const struct answer_set *set, bool several,
                       const struct render_options *options)
{
    const struct trace_check *checks = set->answers;
    struct buf *to = &out->text;
    bool ascii = options->style.ascii;
    (void)several;
    buf_text(to,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vramscope check\"");
    put_counts(to, checks, set->count);
    for (uint32_t i = 0; i < set->count; i++) {
        str path = checks[i].file.path;
        buf_text(to, "  <testsuite");
        junit_attribute(to, "name", path, ascii);
        put_counts(to, &checks[i], 1);
        for (uint32_t k = 0; k < checks[i].rows; k++)
            put_case(to, path, &checks[i].row[k], checks[i].strict, ascii);
        buf_text(to, "  </testsuite>\n");
        out_flush(out, OUT_ENOUGH);
    }
    buf_text(to, "</testsuites>\n");
}

static void put_line(struct buf *to, str path, const struct trace_check_row *row, bool ascii)
{
    static const char *const marks[TRACE_OUTCOMES] = { "PASS", "**FAIL**", "INCONCLUSIVE" };
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    buf_format(to, "| %s | ", marks[row->outcome]);
    markdown_code(to, row->name, ascii);
    buf_text(to, " | ");
    trace_check_value_words(&words, row);
    markdown_text(to, buf_slice(&words), ascii);
    buf_text(to, " | ");
    words.len = 0;
    trace_check_limit_words(&words, row, ascii);
    markdown_text(to, buf_slice(&words), ascii);
    buf_text(to, " | ");
    markdown_text(to, path, ascii);
    buf_text(to, " | ");
    words.len = 0;
    trace_check_evidence_words(&words, row, ascii);
    markdown_text(to, buf_slice(&words), ascii);
    buf_text(to, " |\n");
    buf_end(&words, to);
}

void trace_check_markdown(struct out *out, const struct answer_set *set, bool several,
                          const struct render_options *options)
{
    const struct trace_check *checks = set->answers;
    struct buf *to = &out->text;
    (void)several;
    buf_text(to, "### vramscope check: ");
    trace_check_tally_words(to, set);
    buf_text(to, "\n\n|  | limit | value | allowed | trace | evidence |\n"
                 "|---|---|---:|---:|---|---|\n");
    for (uint32_t i = 0; i < set->count; i++) {
        for (uint32_t k = 0; k < checks[i].rows; k++)
            put_line(to, checks[i].file.path, &checks[i].row[k], options->style.ascii);
        out_flush(out, OUT_ENOUGH);
    }
}
