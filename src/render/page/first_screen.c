/* first_screen.c - what a report says first, for the head of a page: what happened, what to do. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/page/page.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/json.h"

/* A member that names a line; null where there is none. */
static void put_line(struct json *j, const char *key, str line)
{
    json_str(j, key, line.len > 0 ? line : (str){ 0 });
}

/* The line that the headline is about: what must shrink, what grows, or what holds most. */
static str subject_of(const struct report_device *d, const struct report_item *first, bool any)
{
    const struct leak_site *grows = report_growth(d);
    if (report_ran_out(d)) {
        bool judged = d->sections != NULL && d->sections->has_oom;
        if (any && first->fix == NULL && first->line.len > 0)
            return first->line;
        return judged ? d->sections->oom.request_site.culprit : S("");
    }
    if (grows != NULL)
        return grows->site.culprit;
    if (d->hidden_culprit.len > 0)
        return d->hidden_culprit;
    return d->rows > 0 ? d->row[0].name : S("");
}

enum vrs_status page_wrong_line(const struct report_device *d, str *ret, struct vrs_error *err)
{
    struct report_item item[REPORT_ITEMS];
    struct buf words;
    uint32_t count = report_items(d, false, item);
    buf_init(&words, SIZE_MAX / 2);
    bool wrong = !report_device_is_empty(d) && report_headline_words(&words, d, false);
    str line = wrong ? subject_of(d, &item[0], count > 0) : S("");
    report_items_end(&words, item);
    bool failed = words.failed;
    buf_free(&words);
    if (failed)
        return vrs_no_memory(err);
    *ret = line;
    return VRS_OK;
}

static void put_to_do(struct json *j, const struct report_item *item, uint32_t count)
{
    json_array(j, "to_do");
    for (uint32_t i = 0; i < count; i++) {
        json_line_object(j, NULL);
        json_str(j, "text", buf_slice(&item[i].words));
        json_str(j, "frees", buf_slice(&item[i].bytes));
        put_line(j, "line", item[i].line);
        json_close(j);
    }
    json_close(j);
}

/* What all that can be done saves at once; null where that is not known. */
static void put_together(struct json *j, const struct report_device *d, struct buf *words)
{
    const struct advice *fix[REPORT_FIXES];
    uint32_t fixes = report_fixes(d, fix);
    words->len = 0;
    bool known = report_together_words(words, d, fix, fixes);
    json_str(j, "together", known ? buf_slice(words) : (str){ 0 });
}

void page_put_answer(struct json *j, const struct report_device *d)
{
    struct report_item item[REPORT_ITEMS];
    struct buf words;
    uint32_t count = report_items(d, false, item);
    if (report_device_is_empty(d)) {
        json_null(j, "answer");
        report_items_end(j->out, item);
        return;
    }
    buf_init(&words, SIZE_MAX / 2);
    json_object(j, "answer");
    bool wrong = report_headline_words(&words, d, false);
    json_str(j, "headline", buf_slice(&words));
    words.len = 0;
    report_detail_words(&words, d, false);
    str detail = buf_slice(&words);
    bool spaced = str_starts(detail, S(" ")); /* it may follow nothing */
    json_str(j, "detail", (str){ detail.ptr + spaced, detail.len - spaced });
    json_bool(j, "wrong", wrong);
    put_line(j, "line", subject_of(d, &item[0], count > 0));
    put_to_do(j, item, count);
    put_together(j, d, &words);
    json_text(j, "by", d->hidden_culprit.len > 0 ? "owner" : "line");
    json_close(j);
    buf_end(&words, j->out);
    report_items_end(j->out, item);
}
