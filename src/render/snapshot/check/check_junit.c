/* check_junit.c - a checked budget as JUnit XML: a suite for each device, a case for each limit.
 *
 * A limit that could not be decided is a skipped case; with --strict it is an error. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/snapshot/check/check_sentences.h"
#include "render/snapshot/renderers.h"
#include "render/write/junit.h"
#include "render/write/out.h"

/* "4.05 GiB of at most 4.00 GiB; event 148" */
static void put_message(struct buf *to, const struct check_row *row, bool ascii)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    check_value_words(&words, row);
    buf_text(&words, row->kind == LIMIT_HEADROOM ? " of at least " : " of at most ");
    check_limit_words(&words, row);
    size_t before = words.len;
    buf_text(&words, "; ");
    check_evidence_words(&words, row);
    if (words.len == before + 2)
        words.len = before;
    junit_attribute(to, "message", buf_slice(&words), ascii);
    buf_end(&words, to);
}

static void put_evidence(struct buf *to, const struct check_row *row, bool ascii)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < check_sites_shown(row); i++) {
        words.len = 0;
        check_site_words(&words, &row->site[i], ascii);
        junit_text(to, buf_slice(&words), ascii);
        buf_char(to, '\n');
    }
    for (uint32_t i = 0; i < row->diffs; i++) {
        words.len = 0;
        check_diff_words(&words, &row->diff[i], ascii);
        junit_text(to, buf_slice(&words), ascii);
        buf_char(to, '\n');
    }
    buf_end(&words, to);
}

static void put_case(struct buf *to, str place, const struct check_row *row, bool strict,
                     bool ascii)
{
    const char *element = row->outcome == CHECK_FAIL ? "failure" : strict ? "error" : "skipped";
    buf_text(to, "    <testcase");
    junit_attribute(to, "classname", place, ascii);
    junit_attribute(to, "name", row->name, ascii);
    if (row->outcome == CHECK_PASS) {
        buf_text(to, "/>\n");
        return;
    }
    buf_format(to, ">\n      <%s", element);
    if (row->outcome == CHECK_FAIL || strict)
        junit_attribute(to, "type", row->outcome == CHECK_FAIL ? S("exceeded") : S("inconclusive"),
                      ascii);
    put_message(to, row, ascii);
    if (check_sites_shown(row) + row->diffs > 0) {
        buf_char(to, '>');
        put_evidence(to, row, ascii);
        buf_format(to, "</%s>\n    </testcase>\n", element);
    } else {
        buf_text(to, "/>\n    </testcase>\n");
    }
}

static void put_suite(struct buf *to, const struct devices_answer *answer,
                      const struct device_answer *device, bool ascii)
{
    const struct check *check = device->result;
    struct buf place;
    buf_init(&place, SIZE_MAX / 2);
    check_place_words(&place, answer, device, ascii);
    uint32_t open = check->inconclusive;
    buf_text(to, "  <testsuite");
    junit_attribute(to, "name", buf_slice(&place), ascii);
    junit_counts(to, check->rows, check->fails, check->strict ? open : 0, check->strict ? 0 : open);
    for (uint32_t i = 0; i < check->rows; i++)
        put_case(to, buf_slice(&place), &check->row[i], check->strict, ascii);
    buf_text(to, "  </testsuite>\n");
    buf_end(&place, to);
}

/* A recording without a device is not silently well. */
static void put_empty(struct buf *to, const struct devices_answer *answer, bool ascii)
{
    buf_text(to, "  <testsuite");
    junit_attribute(to, "name", answer->file.path, ascii);
    bool unread = answer->unread.ptr != NULL;
    junit_counts(to, 1, 0, unread, !unread);
    buf_text(to, "    <testcase");
    junit_attribute(to, "classname", answer->file.path, ascii);
    buf_text(to, unread ? " name=\"file\">\n      <error type=\"unread\""
                        : " name=\"device\">\n      <skipped");
    junit_attribute(to, "message", check_empty_words(answer), ascii);
    buf_text(to, "/>\n    </testcase>\n  </testsuite>\n");
}

static bool is_strict(const struct answer_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->study[i].devices; k++) {
            const struct check *check = set->study[i].device[k].result;
            if (check != NULL)
                return check->strict;
        }
    return false;
}

void check_junit(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    struct buf *to = &out->text;
    bool ascii = options->style.ascii, strict = is_strict(set);
    struct check_tally tally = check_tally_of(set);
    uint64_t empty = 0;
    (void)several;
    for (uint32_t i = 0; i < set->count; i++)
        empty += set->study[i].devices == 0;
    buf_text(to,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vramscope check\"");
    junit_counts(to, tally.all + empty, tally.fails, (strict ? tally.inconclusive : 0) + tally.unread,
               (strict ? 0 : tally.inconclusive) + empty - tally.unread);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct devices_answer *answer = &set->study[i];
        if (answer->devices == 0)
            put_empty(to, answer, ascii);
        for (uint32_t k = 0; k < answer->devices; k++)
            if (answer->device[k].result != NULL)
                put_suite(to, answer, &answer->device[k], ascii);
        out_flush(out, OUT_ENOUGH);
    }
    buf_text(to, "</testsuites>\n");
}
