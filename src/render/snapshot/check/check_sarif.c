/* check_sarif.c - a checked budget as SARIF 2.1.0, for code scanning.
 *
 * A result for each limit that is exceeded, at the line of code that holds most of the value, and
 * one of the kind "open" for each that could not be decided.  Limits that hold have none. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/frames.h"
#include "render/answer/answer.h"
#include "render/snapshot/check/check_sentences.h"
#include "render/snapshot/renderers.h"
#include "render/write/escape.h"
#include "render/write/json.h"
#include "render/write/out.h"
#include "render/write/sarif.h"

static void put_rules(struct json *j)
{
    json_array(j, "rules");
    for (uint32_t i = 0; i < LIMIT_KINDS; i++) {
        json_object(j, NULL);
        json_text(j, "id", limit_names[i]);
        json_line_object(j, "shortDescription");
        json_text(j, "text", limit_meanings[i]);
        json_close(j);
        json_close(j);
    }
    json_close(j);
}

static void put_tool(struct json *j, const char *version)
{
    json_object(j, "tool");
    json_object(j, "driver");
    json_text(j, "name", "vramscope");
    json_text(j, "version", version);
    put_rules(j);
    json_close(j);
    json_close(j);
}

static void put_words(struct buf *to, const struct check_row *row, str place, bool ascii)
{
    bool least = row->kind == LIMIT_HEADROOM;
    buf_str(to, row->name);
    buf_text(to, row->outcome == CHECK_FAIL ? " is exceeded: " : " could not be decided: ");
    check_value_words(to, row);
    buf_text(to, least ? " of at least " : " of at most ");
    check_limit_words(to, row);
    buf_text(to, " (");
    buf_str(to, place);
    buf_text(to, "); ");
    check_evidence_words(to, row);
    for (uint32_t i = 0; i < check_sites_shown(row); i++) {
        buf_text(to, "\n");
        check_site_words(to, &row->site[i], ascii);
    }
    for (uint32_t i = 0; i < row->diffs; i++) {
        buf_text(to, "\n");
        check_diff_words(to, &row->diff[i], ascii);
    }
}

static void put_location(struct json *j, const struct check_row *row,
                         const struct devices_answer *answer)
{
    const struct check_site *site = row->sites > 0 ? &row->site[0] : NULL;
    bool code = site != NULL && site->file.len > 0;
    sarif_location(j, code ? site->file : answer->file.path,
                   code && site->line != NO_LINE && site->line > 0 ? (uint64_t)site->line : 0);
}

static void put_row(struct json *j, const struct check_row *row,
                    const struct devices_answer *answer, str place, bool ascii)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    put_words(&words, row, place, ascii);
    json_object(j, NULL);
    json_text(j, "ruleId", limit_names[row->kind]);
    json_u64(j, "ruleIndex", row->kind);
    sarif_verdict(j, row->outcome == CHECK_FAIL, buf_slice(&words));
    put_location(j, row, answer);
    sarif_fingerprint(j, place, row->name);
    json_close(j);
    buf_end(&words, j->out);
}

static void put_device(struct json *j, const struct devices_answer *answer,
                       const struct device_answer *device, bool ascii)
{
    const struct check *check = device->result;
    struct buf place;
    buf_init(&place, SIZE_MAX / 2);
    check_place_words(&place, answer, device, ascii);
    for (uint32_t i = 0; check != NULL && i < check->rows; i++)
        if (check->row[i].outcome != CHECK_PASS)
            put_row(j, &check->row[i], answer, buf_slice(&place), ascii);
    buf_end(&place, j->out);
}

/* What could not be looked at, in the words of the format. */
static void put_invocation(struct json *j, const struct answer_set *set, bool ascii)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    json_array(j, "invocations");
    json_object(j, NULL);
    json_bool(j, "executionSuccessful", check_tally_of(set).unread == 0);
    json_array(j, "toolExecutionNotifications");
    for (uint32_t i = 0; i < set->count; i++) {
        const struct devices_answer *answer = &set->study[i];
        if (answer->unread.ptr == NULL)
            continue;
        words.len = 0;
        escape_text(&words, answer->file.path, ascii);
        buf_text(&words, " could not be read: ");
        escape_text(&words, answer->unread, ascii);
        json_object(j, NULL);
        json_text(j, "level", "error");
        json_line_object(j, "message");
        json_str(j, "text", buf_slice(&words));
        json_close(j);
        json_close(j);
    }
    json_close(j);
    json_close(j);
    json_close(j);
    buf_end(&words, j->out);
}

void check_sarif(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    struct json j;
    (void)several;
    json_start(&j, &out->text);
    json_object(&j, NULL);
    json_text(&j, "$schema", sarif_schema);
    json_text(&j, "version", "2.1.0");
    json_array(&j, "runs");
    json_object(&j, NULL);
    put_tool(&j, options->tool);
    put_invocation(&j, set, options->style.ascii);
    json_array(&j, "results");
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->study[i].devices; k++) {
            put_device(&j, &set->study[i], &set->study[i].device[k], options->style.ascii);
            out_flush(out, OUT_ENOUGH);
        }
    json_close(&j);
    json_close(&j);
    json_close(&j);
    json_close(&j);
    json_finish(&j);
}
