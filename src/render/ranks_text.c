/* ranks_text.c - what stands under the table of ranks. */
#include <string.h>

#include "render/envelope.h"
#include "render/escape.h"
#include "render/ranks.h"

enum {
    UNITS_NAMED = 5,
    SKEW_MOST = 1000,
    ALIKE_PERCENT = 5 /* peaks that differ by less need no explanation */
};

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

static void put_file(struct telling *t, const struct rank_unit *u)
{
    str path = u->path;
    for (size_t i = path.len; i-- > 0;) {
        if (path.ptr[i] == '/') {
            path = (str){ path.ptr + i + 1, path.len - i - 1 };
            break;
        }
    }
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
    return t->ranks->unit[unit].unit->common_peak_bytes;
}

static bool are_alike(const struct telling *t)
{
    return t->ranks->skew_ratio >= 0 && t->ranks->skew_ratio < 1 + ALIKE_PERCENT / 100.0;
}

static void put_skew(struct telling *t)
{
    if (t->ranks->skew_ratio < 0)
        return;
    uint64_t hundredths = t->ranks->skew_ratio < SKEW_MOST
                              ? (uint64_t)(t->ranks->skew_ratio * 100 + 0.5)
                              : (uint64_t)SKEW_MOST * 100;
    buf_text(&t->words,
             are_alike(t) ? "the peaks are alike: the largest is " : "the largest peak is ");
    buf_text(&t->words, hundredths < (uint64_t)SKEW_MOST * 100 ? "" : "over ");
    buf_format(&t->words, "%llu.%02u times the median of ", (unsigned long long)(hundredths / 100),
               (unsigned)(hundredths % 100));
    human_bytes(&t->words, t->ranks->median_bytes);
    say(t, "skew");
}

static void put_straggler(struct telling *t)
{
    if (are_alike(t))
        return;
    put_whole_name(t, t->ranks->straggler);
    buf_text(&t->words, " bounds the job with ");
    human_bytes(&t->words, peak_of(t, t->ranks->straggler));
    buf_text(&t->words, "; down to the next one's peak it would need ");
    human_bytes(&t->words, t->ranks->straggler_saving_bytes);
    buf_text(&t->words, " less");
    say(t, "worst");
}

static void put_row(struct telling *t, const struct pair_row *row)
{
    buf_text(&t->words, "; most at ");
    escape_text(&t->words, row->name, t->style->ascii);
    buf_text(&t->words, ": ");
    human_known_bytes(&t->words, row->worst_bytes);
    buf_text(&t->words, " in ");
    human_count(&t->words, row->worst_count, t->style->ascii);
    buf_text(&t->words, ", there ");
    human_known_bytes(&t->words, row->reference_bytes);
    buf_text(&t->words, " in ");
    human_count(&t->words, row->reference_count, t->style->ascii);
}

static void put_cause(struct telling *t)
{
    const struct rank_pair *pair = &t->ranks->pair;
    if (!t->ranks->has_pair || pair->verdict == NULL || are_alike(t))
        return;
    paint_on(&t->words, t->style, PAINT_BOLD);
    buf_text(&t->words, pair->verdict);
    paint_off(&t->words, t->style);
    buf_text(&t->words, ": of the bytes of ");
    put_name(t, pair->worst);
    buf_char(&t->words, ' ');
    human_share(&t->words, pair->code_ratio);
    buf_text(&t->words, " are at lines that ");
    put_name(t, pair->reference);
    buf_text(&t->words, ", the median, does not have, ");
    human_share(&t->words, pair->size_ratio);
    buf_text(&t->words, " come from larger tensors, ");
    human_share(&t->words, pair->count_ratio);
    buf_text(&t->words, " from more of them");
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
    uint32_t most = 0;
    if (t->ranks->groups < 2)
        return;
    for (uint32_t i = 0; i < t->ranks->groups; i++)
        most = t->ranks->group[i].units > most ? t->ranks->group[i].units : most;
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
    buf_text(&t->words, " of parameters: other shards, stages or models");
    buf_text(&t->words, most > 1 ? ", compared with their like" : "");
    say(t, "groups");
}

/* What is left out of the comparison, and what stands out within one unit. */
static void put_notes(struct telling *t)
{
    uint32_t cut = 0;
    for (uint32_t i = 0; i < t->ranks->units; i++) {
        const struct unit *unit = t->ranks->unit[i].unit;
        cut += !t->ranks->unit[i].whole;
        if (unit->after_peer_oom_event >= 0) {
            put_name(t, i);
            buf_format(&t->words,
                       " goes on from event %lld after another device ran out of memory "
                       "(after_peer_oom); only what was before is compared",
                       (long long)unit->after_peer_oom_event);
            say(t, "note");
        }
        if (unit->spike_step >= 0) {
            put_name(t, i);
            buf_format(&t->words, ": step %lld alone peaks at ", (long long)unit->spike_step + 1);
            human_bytes(&t->words, unit->spike_peak_bytes);
            buf_text(&t->words, ", the median of its steps at ");
            human_bytes(&t->words, unit->median_step_peak_bytes);
            say(t, "note");
        }
    }
    if (cut > 0) {
        buf_format(&t->words, "%u cut file%s left out of the median", (unsigned)cut,
                   cut == 1 ? " is" : "s are");
        say(t, "note");
    }
}

void ranks_text(struct buf *to, const struct style *style, const struct ranks *ranks, bool one_file)
{
    if (ranks == NULL || ranks->units < 2)
        return;
    struct telling t = { .to = to, .style = style, .ranks = ranks, .one_file = one_file };
    for (uint32_t i = 1; i < ranks->units; i++)
        t.devices = t.devices || ranks->unit[i].file == ranks->unit[i - 1].file;
    buf_init(&t.words, SIZE_MAX / 2);
    put_skew(&t);
    put_straggler(&t);
    put_cause(&t);
    put_outliers(&t);
    put_groups(&t);
    put_notes(&t);
    to->failed = to->failed || t.words.failed;
    buf_free(&t.words);
}
