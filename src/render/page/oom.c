/* oom.c - why a request failed, for the head of a page. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/fields.h"
#include "render/page/page.h"
#include "render/snapshot/oom/oom_sentences.h"
#include "render/write/json.h"

enum { SITES_MOST = 3 };

/* A member of words; null where there are none. */
static void put_words(struct json *j, const char *key, struct buf *words)
{
    json_str(j, key, words->len > 0 ? buf_slice(words) : (str){ 0 });
    words->len = 0;
}

static void put_sentences(struct json *j, const struct oom *oom)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    oom_verdict_words(&words, oom, false);
    put_words(j, "text", &words);
    oom_confidence_words(&words, oom);
    put_words(j, "sure", &words);
    oom_what_if_words(&words, oom, false);
    put_words(j, "what_if", &words);
    buf_end(&words, j->out);
}

/* The largest sites of those that hold what had to go, and how many there are; null where nothing
 * had to, or all would not have done. */
static void put_must_go(struct json *j, const struct oom *oom)
{
    const struct oom_sites *sites = &oom->must_go;
    if (!sites->enough || sites->count == 0) {
        json_null(j, "must_go");
        return;
    }
    json_object(j, "must_go");
    json_u64(j, "need_bytes", oom->need_bytes);
    json_u64(j, "count", sites->count);
    json_array(j, "sites");
    for (uint32_t i = 0; i < sites->count && i < SITES_MOST; i++) {
        json_line_object(j, NULL);
        json_str(j, "site", sites->at[i].site.culprit);
        json_u64(j, "bytes", sites->at[i].bytes);
        json_u64(j, "count", sites->at[i].count);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void put_earlier(struct json *j, const struct oom *oom)
{
    json_array(j, "earlier");
    for (uint32_t i = 0; i < oom->earliers; i++) {
        enum oom_verdict verdict = oom->earlier[i].verdict;
        json_line_object(j, NULL);
        json_i64(j, "event", oom->earlier[i].event);
        json_text(j, "verdict", verdict == OOM_UNDECIDED ? NULL : oom_verdict_names[verdict]);
        json_close(j);
    }
    json_close(j);
}

void page_put_oom(struct json *j, const struct page_device *device,
                  const struct report_sections *sections)
{
    const struct fragments *f = device->at_oom;
    const struct fields_json w = { .j = j, .limit = UINT32_MAX };
    if (sections == NULL || !sections->has_oom) {
        json_null(j, "oom");
        return;
    }
    json_object(j, "oom");
    fields_members(&w, &oom_facts_row_type, &sections->oom, NULL);
    put_sentences(j, &sections->oom);
    json_str(j, "site", sections->oom.request_site.culprit);
    put_must_go(j, &sections->oom);
    put_earlier(j, &sections->oom);
    json_array(j, "groups");
    for (uint32_t i = 0; f != NULL && i < f->groups; i++)
        fields_object(&w, NULL, &fragment_group_row_type, &f->group[i], f);
    json_close(j);
    json_array(j, "private_pools");
    for (uint32_t i = 0; f != NULL && i < f->pools; i++)
        fields_object(&w, NULL, &fragment_pool_row_type, &f->pool[i], f);
    json_close(j);
    json_close(j);
}
