/* trace_check_sarif.c - a trace held against limits as SARIF 2.1.0, for code scanning.
 *
 * As that of snapshots: what could not be decided is of the kind "open", what holds has no result. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/check/trace_check.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/trace/trace_answer.h"
#include "render/trace/trace_check_words.h"
#include "render/write/json.h"
#include "render/write/out.h"
#include "render/write/sarif.h"

/* The name of the limit without its subject. */
static str rule_of(const struct trace_check_row *row)
{
    return (str){ row->name.ptr, str_find(row->name, S(" ")) };
}

static void put_result(struct json *j, str path, const struct trace_check_row *row, bool ascii)
{
    bool failed = row->outcome == TRACE_FAIL;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    buf_str(&words, row->name);
    buf_text(&words, failed ? " is exceeded: " : " could not be decided: ");
    trace_check_row_words(&words, row, ascii);
    json_object(j, NULL);
    json_str(j, "ruleId", rule_of(row));
    sarif_verdict(j, failed, buf_slice(&words));
    sarif_location(j, path, 0);
    sarif_fingerprint(j, path, row->name);
    json_close(j);
    buf_end(&words, j->out);
}

static void put_tool(struct json *j, const char *version)
{
    json_object(j, "tool");
    json_object(j, "driver");
    json_text(j, "name", "vramscope");
    json_text(j, "version", version);
    json_close(j);
    json_close(j);
}

void trace_check_sarif(struct out *out, const struct answer_set *set, bool several,
                       const struct render_options *options)
{
    const struct trace_check *checks = set->answers;
    struct json j;
    (void)several;
    json_start(&j, &out->text);
    json_object(&j, NULL);
    json_text(&j, "$schema", sarif_schema);
    json_text(&j, "version", "2.1.0");
    json_array(&j, "runs");
    json_object(&j, NULL);
    put_tool(&j, options->tool);
    json_array(&j, "results");
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < checks[i].rows; k++)
            if (checks[i].row[k].outcome != TRACE_PASS)
                put_result(&j, checks[i].file.path, &checks[i].row[k], options->style.ascii);
    json_close(&j);
    json_close(&j);
    json_close(&j);
    json_close(&j);
    json_finish(&j);
}
