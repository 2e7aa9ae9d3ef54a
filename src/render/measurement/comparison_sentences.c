/* comparison_sentences.c - the verdict with its numbers, and what stands against it. */
#include "render/measurement/comparison_sentences.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/measurement/compare/compare.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/noise.h"
#include "base/str.h"
#include "render/answer/noise_words.h"
#include "render/write/escape.h"
#include "render/write/human.h"

static const char *const reason_words[COMPARED_REASONS] = {
    [COMPARED_JUDGED] = "",
    [COMPARED_FEW_VALUES] = "too few values",
    [COMPARED_NO_VALUES] = "no interval",
    [COMPARED_ONE_VALUE] = "",
    [COMPARED_UNITS] = "other unit",
    [COMPARED_CLOCKS] = "other clock",
    [COMPARED_UNKNOWN] = "unknown",
};

/* How a row is spoken of: the two around its numbers, and what it is a row of. */
struct spoken {
    const char *name, *takes, *one;
};

static struct spoken spoken_of(str name)
{
    static const struct spoken known[] = {
        { "step", "the median step takes ", "step" },
        { "latency", "the median call takes ", "call" },
        { "data", "the median batch is loaded in ", "loading" },
        { "throughput", "the throughput is ", "throughput" },
    };
    size_t at = 0;
    while (at + 1 < sizeof known / sizeof *known && !str_equal(name, str_from(known[at].name)))
        at++;
    return known[at];
}

const char *comparison_verdict_words(const struct compared_row *row)
{
    return row->verdict == NOISE_NOT_JUDGED ? reason_words[row->reason]
                                            : noise_verdict_words[row->verdict];
}

static void put_ms(struct buf *to, double ms)
{
    const double ns_of_ms = 1e6;
    int64_t ns = i64_of_double(round(ms * ns_of_ms));
    human_ns(to, ns < 0 ? 0 : (uint64_t)ns);
}

void comparison_value(struct buf *to, const struct style *style, str unit, double value)
{
    const double most = 1e15;
    if (isnan(value)) {
        buf_char(to, '-');
    } else if (str_equal(unit, S("ms"))) {
        put_ms(to, value);
    } else if (str_equal(unit, S("bytes"))) {
        human_bytes(to, i64_of_double(round(value)));
    } else {
        if (value < most)
            buf_fixed(to, value, str_equal(unit, S("count")) ? 0 : 2);
        else
            buf_real(to, value, 3);
        if (str_equal(unit, S("ratio")) || str_equal(unit, S("count")))
            return;
        buf_char(to, ' ');
        if (str_equal(unit, S("percent")))
            buf_char(to, '%');
        else
            escape_text(to, unit, style->ascii);
    }
}

void comparison_interval(struct buf *to, const struct compared_row *row)
{
    if (isnan(row->low) || row->a.median == 0)
        return;
    noise_change_ratio(to, row->low / row->a.median);
    buf_text(to, " to ");
    noise_change_ratio(to, row->high / row->a.median);
}

/* "the median step takes 5.00 ms instead of 7.00 ms (-28.6 %, -29.1 % to -28.0 %)" */
static void put_change(struct buf *to, const struct style *style, const struct compared_row *row)
{
    buf_text(to, spoken_of(row->name).takes);
    comparison_value(to, style, row->b.unit, row->b.median);
    if (row->change == 0) {
        buf_text(to, " in both");
        return;
    }
    buf_text(to, " instead of ");
    comparison_value(to, style, row->a.unit, row->a.median);
    buf_text(to, " (");
    noise_change_ratio(to, row->ratio);
    if (!isnan(row->low) && row->a.median != 0) {
        buf_text(to, ", ");
        comparison_interval(to, row);
    }
    buf_char(to, ')');
}

static void put_not_judged(struct buf *to, const struct style *style,
                           const struct compared_row *row)
{
    const char *one = spoken_of(row->name).one;
    switch ((enum compared_reason)row->reason) {
    case COMPARED_UNITS:
        buf_format(to, "%s is in ", one);
        escape_text(to, row->a.unit, style->ascii);
        buf_text(to, " in A and in ");
        escape_text(to, row->b.unit, style->ascii);
        buf_text(to, " in B, which cannot be compared");
        return;
    case COMPARED_CLOCKS:
        buf_format(to, "%s is timed by another clock in B than in A, which cannot be compared",
                   one);
        return;
    case COMPARED_UNKNOWN:
        buf_format(to, "%s was not measured in both, so that nothing can be told", one);
        return;
    case COMPARED_BURSTS:
        buf_text(to, "not judged: batches come in bursts, of which the median says little; in the "
                     "mean one is waited for ");
        comparison_value(to, style, row->b.unit, row->b.mean);
        buf_text(to, " instead of ");
        comparison_value(to, style, row->a.unit, row->a.mean);
        return;
    case COMPARED_JUDGED:
    case COMPARED_FEW_VALUES:
    case COMPARED_NO_VALUES:
    case COMPARED_ONE_VALUE:
    case COMPARED_REASONS:
        break;
    }
    buf_text(to, row->reason == COMPARED_FEW_VALUES ? "too few values to tell: " : "");
    put_change(to, style, row);
    if (row->reason == COMPARED_FEW_VALUES)
        buf_format(to, ", of %llu in A and %llu in B; %d of each are enough",
                   (unsigned long long)row->a.count, (unsigned long long)row->b.count,
                   COMPARED_VALUES_LEAST);
    else if (row->reason == COMPARED_NO_VALUES)
        buf_text(to, "; there is no interval, since a file has medians without their values: "
                     "whether that is noise cannot be told");
    else
        buf_text(to, "; one number has no interval: whether that is noise cannot be told");
}

static void put_row(struct buf *to, const struct style *style, const struct compared_row *row,
                    const char *subject)
{
    switch ((enum noise_verdict)row->verdict) {
    case NOISE_SAME:
        buf_text(to, "no difference: ");
        put_change(to, style, row);
        if (row->change != 0)
            buf_text(to, ", which is within 1 %");
        break;
    case NOISE_WITHIN:
        buf_text(to, "within noise: ");
        put_change(to, style, row);
        if (row->change == 0) {
            buf_text(to, ", give or take ");
            comparison_value(to, style, row->a.unit, row->high);
        }
        break;
    case NOISE_FASTER:
    case NOISE_SLOWER:
        if (subject != NULL)
            buf_format(to, "%s is ", subject);
        buf_text(to, noise_verdict_words[row->verdict]);
        buf_text(to, row->repeats > 0 ? ": " : " in this pair of runs: ");
        put_change(to, style, row);
        buf_text(to, row->repeats > 0 ? ", which is more than the noise"
                                      : ", which is more than the noise within them");
        break;
    case NOISE_NOT_JUDGED:
    case NOISE_VERDICTS:
        put_not_judged(to, style, row);
        break;
    }
}

static void put_limit(struct buf *to, const struct compared_limit *limit)
{
    if (limit == NULL)
        return;
    buf_text(to, !limit->is_told    ? "; not held against the limit of "
                 : limit->exceeded ? "; above the limit of "
                                   : "; within the limit of ");
    noise_limit_words(to, &limit->most);
}

void comparison_verdict(struct buf *to, const struct style *style, const struct comparison *c)
{
    if (c->row == NULL)
        buf_text(to, "not judged: no step, no call and no throughput was measured in both");
    else
        put_row(to, style, c->row, "B");
    put_limit(to, c->limit);
}

/* ": up to 0.500 ms (5.0 %) of the median step" */
static void put_judged_runs(struct buf *to, const struct style *style,
                            const struct compared_row *row)
{
    if (row == NULL || row->reason != COMPARED_JUDGED || row->repeats == 0)
        return;
    buf_text(to, ": up to ");
    comparison_value(to, style, row->a.unit, row->between_runs);
    if (row->a.median > 0) {
        buf_text(to, " (");
        human_share(to, row->between_runs / row->a.median);
        buf_char(to, ')');
    }
    buf_format(to, " of the median %s", spoken_of(row->name).one);
}

/* "; not all repeats tell it, ...: data (0 of 2)" */
static void put_untold(struct buf *to, const struct style *style, const struct comparison *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->timings; i++) {
        const struct compared_row *row = &c->timing[i];
        if (row->reason != COMPARED_JUDGED || row->repeats == c->repeats)
            continue;
        if (any)
            buf_text(to, ", ");
        else
            buf_format(to,
                       "; not every repeat has these times by A's clock and %d values of them: ",
                       COMPARED_VALUES_LEAST);
        escape_text(to, row->name, style->ascii);
        buf_format(to, " (%u of %u)", (unsigned)row->repeats, (unsigned)c->repeats);
        any = true;
    }
}

/* Times whose interval holds what runs differ by. */
static uint32_t count_told(const struct comparison *c)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < c->timings; i++)
        told += c->timing[i].reason == COMPARED_JUDGED && c->timing[i].repeats > 0;
    return told;
}

static bool has_interval(const struct comparison *c)
{
    for (uint32_t i = 0; i < c->timings; i++)
        if (c->timing[i].reason == COMPARED_JUDGED)
            return true;
    return false;
}

void comparison_runs(struct buf *to, const struct style *style, const struct comparison *c)
{
    if (!has_interval(c))
        return;
    if (c->repeats == 0) {
        buf_text(to, "the intervals are of one run each; what two runs of one program differ by "
                     "on this machine is not in them: --again A2.json, A's program measured once "
                     "more, tells it");
        return;
    }
    if (count_told(c) == 0) {
        buf_text(to, "what two runs of A's program differ by is not known, and not in the "
                     "intervals");
    } else {
        buf_text(to, "what two runs of A's program differ by is in the intervals, as ");
        human_counted(to, c->repeats, "repeat", style->ascii);
        buf_text(to, c->repeats == 1 ? " tells it" : " tell it");
        put_judged_runs(to, style, c->row);
    }
    put_untold(to, style, c);
}

void comparison_loading(struct buf *to, const struct style *style, const struct comparison *c)
{
    if (c->loading != NULL)
        put_row(to, style, c->loading, NULL);
}

/* "batch_size 32 in A and 64 in B", or in what else `other` names */
static void put_condition(struct buf *to, const struct style *style,
                          const struct compared_condition *condition, str other)
{
    const str *sides[] = { &condition->a, &condition->b };
    buf_text(to, condition->name);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        buf_text(to, i == 0 ? " " : " in A and ");
        if (sides[i]->ptr == NULL)
            buf_text(to, "unknown");
        else
            escape_text(to, *sides[i], style->ascii);
    }
    buf_text(to, " in ");
    escape_text(to, other, style->ascii);
}

static void put_clock(struct buf *to, const struct style *style, const struct compared_row *row)
{
    buf_text(to, "the clock of ");
    escape_text(to, row->name, style->ascii);
    put_condition(to, style, &(struct compared_condition){ ":", row->a.timed_by, row->b.timed_by },
                  S("B"));
}

/* Those of B, then those of each repeat; false: there are none. */
static bool put_conditions(struct buf *to, const struct style *style, const struct comparison *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->conditions; i++, any = true) {
        buf_text(to, any ? "; " : "");
        put_condition(to, style, &c->condition[i], S("B"));
    }
    for (uint32_t k = 0; k < c->repeats; k++)
        for (uint32_t i = 0; i < c->again[k].conditions; i++, any = true) {
            buf_text(to, any ? "; " : "");
            put_condition(to, style, &c->again[k].condition[i], c->again[k].side.path);
        }
    return any;
}

void comparison_differences(struct buf *to, const struct style *style, const struct comparison *c)
{
    bool any = put_conditions(to, style, c);
    const struct compared_row *rows[] = { c->timing, c->figure };
    const uint32_t counts[] = { c->timings, c->figures };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (uint32_t i = 0; i < counts[k]; i++) {
            if (rows[k][i].reason != COMPARED_CLOCKS)
                continue;
            buf_text(to, any ? "; " : "");
            put_clock(to, style, &rows[k][i]);
            any = true;
        }
    if (any)
        buf_text(to, ": what changed may come from there");
}
