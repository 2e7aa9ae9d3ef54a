/* report_answer_text.c - the first sentences of a report: what happened, or what the peak is. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_program.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/place.h"
#include "render/snapshot/oom/oom_sentences.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/escape.h"
#include "render/write/human.h"

bool report_ran_out(const struct report_device *d)
{
    return d->ooms > 0;
}

const struct leak_site *report_growth(const struct report_device *d)
{
    const struct leaks *leaks = d->sections == NULL ? NULL : d->sections->leaks;
    return leaks != NULL && leaks->leaks + leaks->suspects > 0 && leaks->sites > 0 ? &leaks->site[0]
                                                                                   : NULL;
}

void report_growth_place(struct buf *to, const struct leak_site *site, bool ascii)
{
    human_bytes(to, leak_rise_bytes(site));
    buf_text(to, " more stay after ");
    if (site->every_steps > 1)
        buf_format(to, "one step in %u", (unsigned)site->every_steps);
    else
        buf_text(to, "each step");
    buf_text(to, " at ");
    escape_text(to, site->site.culprit, ascii);
}

static bool is_traced(const struct report_device *d)
{
    return d->traced && d->events > 0;
}

/* The bytes of the moment that a report of a device is about. */
static int64_t moment_bytes(const struct report_device *d)
{
    const struct curve *used = &d->curves.of[CURVE_REQUESTED];
    bool end = used->end_known && d->curves.of[CURVE_RESERVED].end_known;
    return !is_traced(d) && end ? used->end_bytes : used->peak_bytes;
}

static int64_t moment_reserved(const struct report_device *d)
{
    const struct curve *held = &d->curves.of[CURVE_RESERVED];
    bool end = d->curves.of[CURVE_REQUESTED].end_known && held->end_known;
    return !is_traced(d) && end ? held->end_bytes : d->curves.reserved_at_peak_bytes;
}

void report_moment_words(struct buf *to, const struct report_device *d)
{
    const struct curve *used = &d->curves.of[CURVE_REQUESTED];
    if (!used->start_known)
        buf_text(to, "at least ");
    human_bytes(to, moment_bytes(d));
    if (!is_traced(d))
        return;
    if (used->peak_event < 0)
        buf_text(to, " at the start");
    else
        buf_format(to, " at event %lld", (long long)used->peak_event);
    if (used->peak_event >= 0 && d->peak_after_us != UINT64_MAX) {
        buf_text(to, " (");
        human_duration(to, d->peak_after_us);
        buf_char(to, ')');
    }
}

static void peak_headline(struct buf *to, const struct report_device *d)
{
    const struct curve *used = &d->curves.of[CURVE_REQUESTED];
    if (!is_traced(d)) {
        buf_text(to, used->start_known ? "" : "At least ");
        human_bytes(to, moment_bytes(d));
        buf_text(to, " in use, ");
        human_bytes(to, moment_reserved(d));
        buf_text(to, " reserved");
        return;
    }
    buf_text(to, used->start_known ? "The peak is " : "The peak of the part read is ");
    report_moment_words(to, d);
    /* In a cut file a peak is a bound and is called one already. */
    if (!used->exact && used->start_known)
        buf_text(to, " (not exact, see Trust)");
}

/* What all lines add each step, where that is more. */
static void growth_in_all(struct buf *to, const struct leaks *leaks, const struct leak_site *first)
{
    if (first->every_steps > 1 || leaks->slope_total_bytes <= leak_rise_bytes(first))
        return;
    buf_text(to, ", ");
    human_bytes(to, leaks->slope_total_bytes);
    buf_text(to, " at all lines");
}

bool report_headline_words(struct buf *to, const struct report_device *d, bool ascii)
{
    const struct leak_site *grows = report_growth(d);
    if (report_ran_out(d)) {
        buf_text(to, "Ran out of memory");
        if (d->sections != NULL && d->sections->has_oom) {
            buf_text(to, ": ");
            oom_headline_words(to, &d->sections->oom, ascii);
        }
    } else if (grows != NULL) {
        buf_text(to, grows->class == LEAK_CLASS_LEAK ? "Memory grows: " : "Memory may grow: ");
        report_growth_place(to, grows, ascii);
        growth_in_all(to, d->sections->leaks, grows);
    } else {
        peak_headline(to, d);
    }
    buf_char(to, '.');
    return report_ran_out(d) || grows != NULL;
}

/* Requests before the last one that failed; its own retries are not among them. */
static void earlier_words(struct buf *to, const struct report_sections *sections, bool ascii)
{
    uint64_t before = sections != NULL && sections->has_oom ? sections->oom.earliers : 0;
    if (before == 0)
        return;
    buf_text(to, " Requests had failed ");
    if (before == 1)
        buf_text(to, "once");
    else
        human_counted(to, before, "time", ascii);
    buf_text(to, " before, and the program went on.");
}

/* What happened at the last failure, and those before it. */
static void failure_words(struct buf *to, const struct report_device *d, bool ascii)
{
    const struct oom_fact *last = &d->oom[d->ooms - 1];
    const struct report_sections *sections = d->sections;
    if (sections != NULL && sections->has_oom) {
        const struct oom *oom = &sections->oom;
        oom_request_words(to, oom, ascii);
        bool said = oom->tests.verdict == OOM_LIVE_EXCEEDS_CAPACITY &&
                    oom->program.lack == OOM_LACK_NONE && oom->short_by_bytes > 0;
        if (!said && oom->tests.verdict != OOM_UNDECIDED) {
            buf_char(to, ' ');
            oom_detail_words(to, oom, ascii);
        }
        if (oom->what_if.tried > 0)
            buf_char(to, ' ');
        oom_what_if_words(to, oom, true);
    } else {
        buf_text(to, "A request for ");
        human_known_bytes(to, last->asked_bytes);
        buf_format(to, " failed at event %lld with ", (long long)last->event);
        human_known_bytes(to, last->device_free_bytes);
        buf_text(to, " free on the device; ");
        human_bytes(to, last->requested_bytes);
        buf_text(to, " were in use, ");
        human_bytes(to, last->reserved_bytes);
        buf_text(to, " reserved.");
    }
    earlier_words(to, sections, ascii);
}

static void in_use_words(struct buf *to, const struct curve *used, const struct curve *held)
{
    human_bytes(to, used->end_bytes);
    buf_text(to, " in use");
    if (held->end_known) {
        buf_text(to, ", ");
        human_bytes(to, held->end_bytes);
        buf_text(to, " reserved");
    }
    buf_char(to, '.');
}

/* What a cut file has of its end is beyond the part read of its trace. */
static void cut_words(struct buf *to, const struct curve *used, const struct curve *held)
{
    buf_text(to, " The file is cut: what was in use before the part read is not known, and what "
                 "came after it is missing");
    buf_text(to, used->end_known ? "; the last state has " : ".");
    if (used->end_known)
        in_use_words(to, used, held);
}

static void ends_words(struct buf *to, const struct report_device *d)
{
    const struct curve *used = &d->curves.of[CURVE_REQUESTED];
    const struct curve *held = &d->curves.of[CURVE_RESERVED];
    if (!used->start_known || !used->end_known) {
        cut_words(to, used, held);
        return;
    }
    buf_text(to, " The recording ");
    if (used->start_bytes != 0) {
        buf_text(to, "begins with ");
        human_bytes(to, used->start_bytes);
        buf_text(to, " in use and ");
    }
    buf_text(to, "ends with ");
    in_use_words(to, used, held);
}

/* Who holds most of it: the line above the owners where those are shown. */
static void holder_words(struct buf *to, const struct report_device *d, bool ascii)
{
    str name = d->hidden_culprit.len > 0 ? d->hidden_culprit : d->rows > 0 ? d->row[0].name : S("");
    double share = d->hidden_culprit.len > 0 ? d->hidden_share
                   : d->rows > 0             ? d->row[0].share_ratio
                                             : 0;
    if (name.len == 0 || name.ptr[0] == '(') /* "(no stack)" */
        return;
    buf_char(to, ' ');
    escape_text(to, name, ascii);
    buf_text(to, " holds ");
    human_share(to, share);
    buf_text(to, is_traced(d) ? " of the peak" : " of what is in use");
    if (d->hidden_culprit.len == 0 && d->row[0].category.len > 0 &&
        !str_equal(d->row[0].category, S("unknown"))) {
        buf_text(to, ", all of it ");
        category_words(to, d->row[0].category);
    }
    buf_char(to, '.');
}

static void peak_words(struct buf *to, const struct report_device *d, bool ascii)
{
    const struct curve *used = &d->curves.of[CURVE_REQUESTED];
    const struct curve *held = &d->curves.of[CURVE_RESERVED];
    if (!is_traced(d)) {
        buf_text(to, !used->end_known ? "The file is cut inside the final state: this is the part "
                                        "read."
                     : d->events == 0 ? "There is no trace: only the final state is known."
                                      : "The trace has one event: only the final state is known.");
        holder_words(to, d, ascii);
        return;
    }
    if (report_growth(d) != NULL) {
        peak_headline(to, d);
        buf_text(to, "; ");
    }
    human_bytes(to, d->curves.reserved_at_peak_bytes);
    buf_text(to, " were reserved then");
    if (held->peak_bytes > d->curves.reserved_at_peak_bytes) {
        buf_text(to, ", ");
        human_bytes(to, held->peak_bytes);
        buf_text(to, " at the most");
    }
    buf_char(to, '.');
    holder_words(to, d, ascii);
    ends_words(to, d);
}

void report_detail_words(struct buf *to, const struct report_device *d, bool ascii)
{
    if (report_ran_out(d))
        failure_words(to, d, ascii);
    else
        peak_words(to, d, ascii);
}
