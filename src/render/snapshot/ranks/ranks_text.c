/* ranks_text.c - the sentences under the table of ranks. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/ranks/alignment.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "render/answer/envelope.h"
#include "render/snapshot/ranks/ranks.h"
#include "render/write/escape.h"
#include "render/write/human.h"

enum {
    UNITS_NAMED = 5,
    SKEW_MOST = 1000,
    ALIKE_PERCENT = 5 /* peaks that differ by less need no explanation */
};

/* A smaller share is not named: "0.0 %" says nothing. */
static const double SHARE_LEAST = 0.0005;

struct telling {
    struct buf *to, words;
    const struct style *style;
    const struct ranks *ranks;
    bool one_file, devices; /* some file has several units */
};

static void say(struct telling *t, const char *label)
{
    envelope_words(t->to, t->style, label, &t->words);
}

/* The last parts of a path: as many as tell it from the others. */
static str short_path(const struct telling *t, str path)
{
    size_t from = path.len;
    for (bool shared = true; shared && from > 0;) {
        for (from--; from > 0 && path.ptr[from - 1] != '/';)
            from--;
        str tail = { path.ptr + from, path.len - from };
        shared = false;
        for (uint32_t i = 0; i < t->ranks->units && !shared; i++) {
            str other = t->ranks->unit[i].path;
            shared = !str_equal(other, path) && str_ends(other, tail) &&
                     (other.len == tail.len || other.ptr[other.len - tail.len - 1] == '/');
        }
    }
    return (str){ path.ptr + from, path.len - from };
}

static void put_file(struct telling *t, const struct rank_unit *u)
{
    str path = short_path(t, u->path);
    escape_text(&t->words, path, t->style->ascii);
    if (u->entry.ptr != NULL) {
        buf_char(&t->words, ' ');
        escape_text(&t->words, u->entry, t->style->ascii);
    }
}

/* "rank 3", "run.pickle" where names give no ranks; with the device where files have several. */
static void put_name(struct telling *t, uint32_t unit)
{
    const struct rank_unit *u = &t->ranks->unit[unit];
    if (!t->one_file && u->rank_named)
        buf_format(&t->words, "rank %lld", (long long)u->rank);
    else if (!t->one_file)
        put_file(t, u);
    if (!t->one_file && t->devices)
        buf_text(&t->words, ", ");
    if (t->one_file || t->devices)
        buf_format(&t->words, "device %u", (unsigned)u->device);
}

/* The name, and behind a rank its file. */
static void put_whole_name(struct telling *t, uint32_t unit)
{
    const struct rank_unit *u = &t->ranks->unit[unit];
    put_name(t, unit);
    if (t->one_file || !u->rank_named)
        return;
    buf_text(&t->words, " (");
    put_file(t, u);
    buf_char(&t->words, ')');
}

static int64_t peak_of(const struct telling *t, uint32_t unit)
{
    return t->ranks->unit[unit].summary->common_peak_bytes;
}

static bool are_alike(const struct telling *t)
{
    return t->ranks->skew_ratio >= 0 && t->ranks->skew_ratio < 1 + ALIKE_PERCENT / 100.0;
}

/* "1.50 times the median of 8.00 GiB" */
static void put_times(struct telling *t, double ratio, int64_t median)
{
    uint64_t hundredths =
        ratio < SKEW_MOST ? (uint64_t)(ratio * 100 + 0.5) : (uint64_t)SKEW_MOST * 100;
    buf_text(&t->words, hundredths < (uint64_t)SKEW_MOST * 100 ? "" : "over ");
    buf_format(&t->words, "%llu.%02u times the median of ", (unsigned long long)(hundredths / 100),
               (unsigned)(hundredths % 100));
    human_bytes(&t->words, median);
}

/* Files of which none says that it is of a rank, and the two compared have no line in common: what
 * is of one job runs the same code. */
static bool are_unrelated(const struct telling *t)
{
    const struct rank_pair *pair = &t->ranks->pair;
    if (t->one_file || !t->ranks->has_pair || pair->rows == 0)
        return false;
    for (uint32_t i = 0; i < t->ranks->units; i++)
        if (t->ranks->unit[i].rank_named)
            return false;
    if (t->ranks->unit[pair->worst].file == t->ranks->unit[pair->reference].file)
        return false;
    for (uint32_t i = 0; i < pair->rows; i++) {
        const struct pair_row *row = &pair->row[i];
        if (row->worst_count > 0 && row->reference_count > 0 &&
            !str_starts(row->name, S("(no stack)")))
            return false;
    }
    return true;
}

static void put_unrelated(struct telling *t)
{
    put_name(t, t->ranks->pair.worst);
    buf_text(&t->words, " and ");
    put_name(t, t->ranks->pair.reference);
    buf_text(&t->words, " share no line of code: they are not compared as ranks of one job");
    say(t, "note");
}

static void put_skew(struct telling *t)
{
    if (t->ranks->skew_ratio < 0)
        return;
    buf_text(&t->words,
             are_alike(t) ? "the peaks are alike: the largest is " : "the largest peak is ");
    put_times(t, t->ranks->skew_ratio, t->ranks->median_bytes);
    say(t, "skew");
}

/* The moment in which the peaks are most uneven; NULL: they are alike in all. */
static const struct aligned_moment *most_uneven(const struct alignment *a)
{
    const struct aligned_moment *most = NULL;
    double limit = 1 + ALIKE_PERCENT / 100.0;
    for (uint32_t i = 0; i < a->moments; i++) {
        double ratio = a->moment[i].skew_ratio;
        if (ratio >= limit && (most == NULL || ratio > most->skew_ratio))
            most = &a->moment[i];
    }
    return most;
}

static void put_moment_name(struct telling *t, const struct aligned_moment *m)
{
    bool step = t->ranks->alignment.by == ALIGNED_STEP;
    if (!step)
        escape_text(&t->words, m->name, t->style->ascii);
    if (step || m->nth > 0)
        buf_format(&t->words, "%s%u", step ? "step " : " #", (unsigned)m->nth + 1);
}

/* "in 9 of 10 steps rank 3 has the highest peak" */
static void put_straggler_moments(struct telling *t)
{
    const struct alignment *a = &t->ranks->alignment;
    const char *what = a->by == ALIGNED_STEP ? "step" : "annotated range";
    buf_format(&t->words, "in %u of %u %s%s ", (unsigned)t->ranks->straggler_moments,
               (unsigned)a->moments, what, a->moments == 1 ? "" : "s");
    put_name(t, t->ranks->straggler);
    buf_text(&t->words, " has the highest peak");
}

/* "most uneven is step 4: rank 1 with 12.00 GiB, 1.50 times the median of 8.00 GiB" */
static void put_most_uneven(struct telling *t, const struct aligned_moment *most)
{
    buf_text(&t->words, "most uneven is ");
    put_moment_name(t, most);
    buf_text(&t->words, ": ");
    put_name(t, most->worst);
    buf_text(&t->words, " with ");
    human_bytes(&t->words, most->worst_bytes);
    buf_text(&t->words, ", ");
    put_times(t, most->skew_ratio, most->median_bytes);
}

static void put_alignment(struct telling *t)
{
    const struct alignment *a = &t->ranks->alignment;
    const struct aligned_moment *most = most_uneven(a);
    if (a->by == ALIGNED_NOT || (are_alike(t) && most == NULL))
        return;
    if (a->by == ALIGNED_CLOCK) {
        buf_text(&t->words, "in the time that all recordings share, ");
        put_name(t, a->moment[0].worst);
        buf_text(&t->words, a->exact ? " has the highest peak, " : " has the highest peak, ~");
        human_bytes(&t->words, a->moment[0].worst_bytes);
        say(t, "clock");
        return;
    }
    if (t->ranks->straggler_aligned)
        put_straggler_moments(t);
    if (t->ranks->straggler_aligned && most != NULL)
        buf_text(&t->words, "; ");
    if (most != NULL)
        put_most_uneven(t, most);
    if (t->ranks->straggler_aligned || most != NULL)
        say(t, a->by == ALIGNED_STEP ? "steps" : "marks");
}

static void put_straggler(struct telling *t)
{
    if (are_alike(t))
        return;
    put_whole_name(t, t->ranks->straggler);
    buf_text(&t->words, " bounds the job with ");
    human_bytes(&t->words, peak_of(t, t->ranks->straggler));
    buf_text(&t->words, "; the next highest peak is ");
    human_bytes(&t->words, t->ranks->straggler_saving_bytes);
    buf_text(&t->words, " lower");
    say(t, "worst");
}

static void put_row(struct telling *t, const struct pair_row *row)
{
    buf_text(&t->words, "; most at ");
    escape_text(&t->words, row->name, t->style->ascii);
    buf_text(&t->words, ": ");
    human_known_bytes(&t->words, row->worst_bytes);
    buf_text(&t->words, " in ");
    human_counted(&t->words, row->worst_count, "allocation", t->style->ascii);
    buf_text(&t->words, ", there ");
    human_known_bytes(&t->words, row->reference_bytes);
    buf_text(&t->words, " in ");
    human_count(&t->words, row->reference_count, t->style->ascii);
}

static uint32_t group_with(const struct telling *t, uint32_t unit)
{
    for (uint32_t i = 0; i < t->ranks->groups; i++)
        for (uint32_t k = 0; k < t->ranks->group[i].units; k++)
            if (t->ranks->group[i].unit[k] == unit)
                return i;
    return NO_ROW;
}

/* ": 33.7 % of its bytes come from larger tensors, 4.6 % are at lines that only it has" */
static void put_reasons(struct telling *t, const struct rank_pair *pair)
{
    const struct {
        double ratio;
        const char *words;
    } reasons[] = {
        { pair->size_ratio, " come from larger tensors" },
        { pair->count_ratio, " from more tensors" },
        { pair->code_ratio, " are at lines that only it has" },
    };
    bool told = false;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].ratio < SHARE_LEAST)
            continue;
        buf_text(&t->words, told ? ", " : ": ");
        human_share(&t->words, reasons[i].ratio);
        buf_text(&t->words, told ? "" : " of its bytes");
        buf_text(&t->words, !told && i == 1 ? " come" : "");
        buf_text(&t->words, reasons[i].words);
        told = true;
    }
}

static void put_cause(struct telling *t)
{
    const struct rank_pair *pair = &t->ranks->pair;
    if (!t->ranks->has_pair || pair->verdict == NULL || are_alike(t))
        return;
    paint_on(&t->words, t->style, PAINT_BOLD);
    buf_text(&t->words, pair->verdict);
    paint_off(&t->words, t->style);
    buf_text(&t->words, ": ");
    put_name(t, pair->worst);
    buf_text(&t->words, " beside ");
    put_name(t, pair->reference);
    uint32_t group = group_with(t, pair->reference);
    if (group != NO_ROW && group == group_with(t, pair->worst) && t->ranks->groups > 1)
        buf_format(&t->words,
                   t->ranks->group[group].parameter_bytes == UNKNOWN_U64
                       ? ", the median of the %u whose parameters are not known"
                       : ", the median of the %u with as many parameters",
                   (unsigned)t->ranks->group[group].units);
    else
        buf_text(&t->words, ", the median of all");
    put_reasons(t, pair);
    if (pair->largest_row != NO_ROW)
        put_row(t, &pair->row[pair->largest_row]);
    say(t, "cause");
}

static void put_outliers(struct telling *t)
{
    if (t->ranks->outliers == 0)
        return;
    for (uint32_t i = 0; i < t->ranks->outliers && i < UNITS_NAMED; i++) {
        buf_text(&t->words, i == 0 ? "" : "; ");
        put_name(t, t->ranks->outlier[i]);
        buf_text(&t->words, " with ");
        human_bytes(&t->words, peak_of(t, t->ranks->outlier[i]));
    }
    if (t->ranks->outliers > UNITS_NAMED)
        buf_format(&t->words, "; %u more", (unsigned)(t->ranks->outliers - UNITS_NAMED));
    buf_text(&t->words, ": far from the others");
    say(t, "outliers");
}

static void put_groups(struct telling *t)
{
    uint32_t most = 0, known = 0;
    if (t->ranks->groups < 2)
        return;
    for (uint32_t i = 0; i < t->ranks->groups; i++) {
        most = t->ranks->group[i].units > most ? t->ranks->group[i].units : most;
        known += t->ranks->group[i].parameter_bytes != UNKNOWN_U64;
    }
    for (uint32_t i = 0; i < t->ranks->groups && i < UNITS_NAMED; i++) {
        const struct rank_group *group = &t->ranks->group[i];
        buf_text(&t->words, i == 0 ? "" : ", ");
        buf_format(&t->words, "%u with ", (unsigned)group->units);
        if (group->parameter_bytes == UNKNOWN_U64)
            buf_text(&t->words, "an unknown size");
        else
            human_known_bytes(&t->words, group->parameter_bytes);
    }
    buf_text(&t->words, t->ranks->groups > UNITS_NAMED ? " and others" : "");
    buf_text(&t->words, " of parameters");
    buf_text(&t->words, known > 1 ? ": different shards, stages or models" : "");
    bool apart = t->ranks->has_pair && !are_alike(t) &&
                 group_with(t, t->ranks->pair.worst) != group_with(t, t->ranks->pair.reference);
    if (apart) {
        buf_text(&t->words, "; ");
        put_name(t, t->ranks->pair.worst);
        buf_text(&t->words, " is alone in its group, so it is compared with ");
        put_name(t, t->ranks->pair.reference);
        buf_text(&t->words, ", the median of all");
    } else if (most > 1) {
        buf_text(&t->words, ", compared only with others of the same size");
    }
    say(t, "groups");
}

static void put_holder(struct telling *t, uint32_t unit, uint64_t bytes)
{
    human_known_bytes(&t->words, bytes);
    buf_text(&t->words, " in ");
    put_name(t, unit);
}

/* What data parallelism would have made alike. */
static void put_differences(struct telling *t)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < t->ranks->groups; i++) {
        const struct rank_group *group = &t->ranks->group[i];
        groups += group->differences > 0;
        for (uint32_t k = 0; k < group->differences && groups <= UNITS_NAMED; k++) {
            const struct rank_difference *d = &group->difference[k];
            buf_text(&t->words, "with parameters of ");
            human_known_bytes(&t->words, group->parameter_bytes);
            buf_text(&t->words, d->category == CATEGORY_GRADIENT
                                    ? " in each the gradients differ: "
                                    : " in each the optimizer state differs: ");
            put_holder(t, d->least, d->least_bytes);
            buf_text(&t->words, ", ");
            put_holder(t, d->most, d->most_bytes);
            buf_text(&t->words, "; they are sharded, or the ranks train different parts");
            say(t, "shards");
        }
    }
    if (groups > UNITS_NAMED) {
        uint32_t more = groups - UNITS_NAMED;
        buf_format(&t->words,
                   "in %u more group%s of equal parameters the gradients or optimizer "
                   "states differ",
                   (unsigned)more, more == 1 ? "" : "s");
        say(t, "shards");
    }
}

/* What is left out of the comparison, and what stands out within one unit. */
static void put_notes(struct telling *t)
{
    uint32_t cut = 0;
    for (uint32_t i = 0; i < t->ranks->units; i++) {
        const struct device_summary *summary = t->ranks->unit[i].summary;
        cut += !t->ranks->unit[i].whole;
        if (summary->after_peer_oom_event >= 0) {
            put_name(t, i);
            buf_format(&t->words,
                       " goes on from event %lld after another device ran out of memory "
                       "(after_peer_oom); only what came before is compared",
                       (long long)summary->after_peer_oom_event);
            say(t, "note");
        }
        if (summary->spike_step >= 0) {
            put_name(t, i);
            buf_format(&t->words, ": step %lld alone peaks at ",
                       (long long)summary->spike_step + 1);
            human_bytes(&t->words, summary->spike_peak_bytes);
            buf_text(&t->words, ", the median of its steps at ");
            human_bytes(&t->words, summary->median_step_peak_bytes);
            say(t, "note");
        }
    }
    if (cut > 0) {
        buf_format(&t->words, "%u cut file%s left out of the median", (unsigned)cut,
                   cut == 1 ? " is" : "s are");
        say(t, "note");
    }
}

static struct telling begin(struct buf *to, const struct style *style, const struct ranks *ranks,
                            bool one_file)
{
    struct telling t = { .to = to, .style = style, .ranks = ranks, .one_file = one_file };
    for (uint32_t i = 1; i < ranks->units; i++)
        t.devices = t.devices || ranks->unit[i].file == ranks->unit[i - 1].file;
    buf_init(&t.words, SIZE_MAX / 2);
    return t;
}

void ranks_worst_text(struct buf *to, const struct style *style, const struct ranks *ranks,
                      bool one_file)
{
    if (ranks == NULL || ranks->units < 2)
        return;
    struct telling t = begin(to, style, ranks, one_file);
    if (!are_unrelated(&t))
        put_straggler(&t);
    to->failed = to->failed || t.words.failed;
    buf_free(&t.words);
}

void ranks_text(struct buf *to, const struct style *style, const struct ranks *ranks, bool one_file)
{
    if (ranks == NULL || ranks->units < 2)
        return;
    struct telling t = begin(to, style, ranks, one_file);
    if (are_unrelated(&t)) {
        put_unrelated(&t);
    } else {
        put_skew(&t);
        put_cause(&t);
        put_outliers(&t);
        put_alignment(&t);
        put_groups(&t);
        put_differences(&t);
    }
    put_notes(&t);
    to->failed = to->failed || t.words.failed;
    buf_free(&t.words);
}
