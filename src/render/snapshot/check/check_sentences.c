/* check_sentences.c - values, limits and evidence in words. */
#include "render/snapshot/check/check_sentences.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/check/budget.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/write/escape.h"
#include "render/write/human.h"

enum { PERCENT_PARTS = 10000 };

const char *const check_outcome_words[CHECK_OUTCOMES] = { "PASS", "FAIL", "INCONCLUSIVE" };

const char *const limit_meanings[LIMIT_KINDS] = {
    [LIMIT_PEAK] = "the peak of the bytes in use",
    [LIMIT_PEAK_ACTIVE] = "the peak of the bytes in blocks",
    [LIMIT_RESERVED] = "the peak of the reserved bytes",
    [LIMIT_END] = "the bytes in use at the end",
    [LIMIT_GROWTH] = "the bytes that leaks add in each step",
    [LIMIT_STEP_PEAK] = "the largest peak of a step",
    [LIMIT_STRANDED] = "free bytes at the end that can neither be used nor returned",
    [LIMIT_SLACK] = "slack: bytes of blocks at the peak beyond what was requested",
    [LIMIT_PENDING] = "the most bytes that waited for another stream to be freed",
    [LIMIT_CATEGORY] = "the bytes of a category at the peak",
    [LIMIT_SITE] = "the bytes of a site at the peak",
    [LIMIT_DEVICE_PEAK] = "the peak of the bytes in use on one device",
    [LIMIT_HEADROOM] = "what the reserved peak leaves of the device's memory",
    [LIMIT_OOM] = "out-of-memory events",
    [LIMIT_RETRY] = "releases of cached memory to serve a request",
    [LIMIT_UNKNOWN_SHARE] = "the share of the peak that has no stack",
    [LIMIT_DELTA] = "growth of the peak against the baseline",
    [LIMIT_SITE_DELTA] = "growth of a site against the baseline",
    [LIMIT_NEW_SITE] = "the bytes of a site that the baseline does not have",
    [LIMIT_TRACE_BUSY] = "of profiler traces: the share of time that a device is busy",
    [LIMIT_TRACE_IDLE] = "of profiler traces: the share of time that a device is idle",
    [LIMIT_TRACE_STEP] = "of profiler traces: the median of a step",
    [LIMIT_TRACE_MEMORY] = "of profiler traces: the peak that memory events have",
};

void check_place_words(struct buf *to, const struct devices_answer *answer,
                       const struct device_answer *device, bool ascii)
{
    const struct style style = { .ascii = ascii };
    envelope_name(to, &style, &answer->file);
    buf_text(to, ", ");
    envelope_device_text(to, device->name);
}

/* "34.2 %", with as many decimals as it needs, at most four. */
static void put_percent(struct buf *to, double ratio)
{
    uint64_t parts = (uint64_t)(ratio * 100 * PERCENT_PARTS + 0.5);
    uint64_t part = parts % PERCENT_PARTS;
    uint32_t decimals = 4;
    while (decimals > 1 && part % 10 == 0) {
        part /= 10;
        decimals--;
    }
    buf_format(to, "%llu.%0*llu %%", (unsigned long long)(parts / PERCENT_PARTS), (int)decimals,
               (unsigned long long)part);
}

/* Whether two different sizes read the same. */
static bool reads_alike(int64_t a, int64_t b)
{
    struct buf x, y;
    buf_init(&x, 64);
    buf_init(&y, 64);
    human_bytes(&x, a);
    human_bytes(&y, b);
    bool alike = a != b && str_equal(buf_slice(&x), buf_slice(&y));
    buf_free(&x);
    buf_free(&y);
    return alike;
}

static void put_bytes(struct buf *to, int64_t bytes, bool exact)
{
    if (exact)
        buf_format(to, "%lld B", (long long)bytes);
    else
        human_bytes(to, bytes);
}

static bool needs_exact(const struct check_row *row)
{
    if (!row->value_known || !row->limit_known)
        return false;
    return reads_alike(row->value, row->limit) ||
           (row->upper_known && reads_alike(row->upper, row->limit));
}

static void put_one(struct buf *to, const struct check_row *row, int64_t value, double ratio)
{
    if (row->measure == CHECK_RATIO)
        put_percent(to, ratio);
    else if (row->measure == CHECK_COUNT)
        buf_format(to, "%lld", (long long)value);
    else
        put_bytes(to, value, needs_exact(row));
}

void check_value_words(struct buf *to, const struct check_row *row)
{
    if (!row->value_known) {
        buf_char(to, '-');
        return;
    }
    if (row->source == CHECK_ESTIMATED)
        buf_char(to, '~');
    put_one(to, row, row->value, row->value_ratio);
    if (row->upper_known && row->measure != CHECK_RATIO) {
        buf_text(to, " to ");
        put_one(to, row, row->upper, row->value_ratio);
    }
}

void check_limit_words(struct buf *to, const struct check_row *row)
{
    if (row->limit_known)
        put_one(to, row, row->limit, row->limit_ratio);
    else
        buf_char(to, '-');
}

void check_evidence_words(struct buf *to, const struct check_row *row)
{
    size_t from = to->len;
    if (row->event >= 0)
        buf_format(to, "event %lld", (long long)row->event);
    else if (row->event == -1)
        buf_text(to, "at the start");
    /* Not the category unknown, which has a stack that no rule knows. */
    if (row->kind == LIMIT_UNKNOWN_SHARE && row->value_known)
        buf_text(to, to->len == from ? "without a stack" : ", without a stack");
    if (row->reason == NULL)
        return;
    buf_text(to, to->len == from ? "" : "; ");
    buf_str(to, row->reason_text);
}

uint32_t check_sites_shown(const struct check_row *row)
{
    bool compared = row->kind == LIMIT_SITE_DELTA || row->kind == LIMIT_NEW_SITE;
    return compared ? 0 : row->sites;
}

void check_site_words(struct buf *to, const struct check_site *site, bool ascii)
{
    human_known_bytes(to, site->bytes);
    buf_text(to, "  ");
    escape_text(to, site->site.culprit, ascii);
    if (str_equal(site->site.culprit, site->site.owner))
        return;
    buf_text(to, " (in ");
    escape_text(to, site->site.owner, ascii);
    buf_char(to, ')');
}

void check_diff_words(struct buf *to, const struct check_diff_row *row, bool ascii)
{
    buf_text(to, row->delta_bytes >= 0 ? "+" : "");
    human_bytes(to, row->delta_bytes);
    buf_text(to, "  ");
    escape_text(to, row->name, ascii);
    buf_format(to, " (%s, %s", row->status, row->stage);
    if (row->score >= 0)
        buf_format(to, ", score %u %%", (unsigned)(row->score * 100 + 0.5));
    buf_char(to, ')');
}

struct check_tally check_tally_of(const struct answer_set *set)
{
    struct check_tally tally = { .recordings = set->count };
    for (uint32_t i = 0; i < set->count; i++) {
        bool unread = set->study[i].unread.ptr != NULL;
        uint32_t judged = 0;
        for (uint32_t k = 0; k < set->study[i].devices; k++) {
            const struct check *check = set->study[i].device[k].result;
            if (check == NULL)
                continue;
            judged++;
            tally.all += check->rows;
            tally.fails += check->fails;
            tally.inconclusive += check->inconclusive;
        }
        tally.unread += unread;
        tally.unjudged += !unread && judged == 0;
    }
    return tally;
}

str check_empty_words(const struct devices_answer *answer)
{
    return answer->unread.ptr != NULL ? answer->unread : S("the recording has no device to check");
}

static void put_unread(struct buf *to, const struct check_tally *tally)
{
    unsigned long long all = tally->recordings, unread = tally->unread;
    if (all == 1)
        buf_text(to, "the recording could not be read");
    else
        buf_format(to, "%llu of %llu recordings could not be read", unread, all);
    if (unread < all)
        buf_text(to, unread + 1 == all ? "; in the other " : "; in the others ");
}

void check_tally_words(struct buf *to, const struct check_tally *tally)
{
    unsigned long long all = tally->all, fails = tally->fails, open = tally->inconclusive;
    if (tally->unread > 0)
        put_unread(to, tally);
    if (tally->unread > 0 && tally->unread == tally->recordings)
        return;
    if (all == 0)
        buf_text(to, "nothing could be checked");
    else if (fails == 0 && open == 0)
        buf_format(to, all == 1 ? "the limit holds" : "all %llu limits hold", all);
    else if (fails > 0)
        buf_format(to, "%llu of %llu limit%s exceeded", fails, all, all == 1 ? "" : "s");
    if (open == 0 || all == 0)
        return;
    buf_text(to, fails > 0 ? ", " : "");
    buf_format(to, "%llu of %llu could not be decided", open, all);
}
