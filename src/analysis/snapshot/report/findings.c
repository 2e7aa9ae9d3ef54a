/* findings.c - the findings of a report, most important first. */
#include "analysis/snapshot/report/findings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "model/file_facts.h"
#include "model/ids.h"
#include "model/recording.h"

enum { STRANDED_LEAST = 256 << 20 };

bool report_is_stranded(const struct report_sections *sections)
{
    const struct fragments *f = sections->fragments;
    return f != NULL && f->total.stranded_bytes >= STRANDED_LEAST &&
           f->total.stranded_bytes >= f->total.reserved_bytes / 20;
}

uint32_t losses_of(const struct file_facts *file, struct loss ret[LOSSES])
{
    const struct origin *o = &file->origin;
    /* Pages pad their strings with a few bytes; more than that is somebody else's. */
    const uint64_t padding = 8;
    const struct loss all[LOSSES] = {
        { "wrong_types", "values of a wrong type, taken as absent", file->wrong_types },
        { "cut_stacks", "stacks longer than --limit frames, outermost frames left out",
          o->cut_stacks },
        { "repeated_keys", "keys given twice in one record, the last one used", o->repeated_keys },
        { "bad_utf8", "strings that are not UTF-8, bad bytes shown as U+FFFD", o->bad_utf8 },
        { "trailing_bytes", "bytes behind the end of the recording, not read",
          o->trailing_bytes > padding ? o->trailing_bytes : 0 },
        { "trailer_lost", "compressed streams that end early, checksum not verified",
          o->trailer_lost },
    };
    uint32_t losses = 0;
    for (uint32_t i = 0; i < LOSSES; i++)
        if (all[i].count > 0)
            ret[losses++] = all[i];
    return losses;
}

static void add(struct report *report, enum finding_kind kind, const char *id, const char *severity,
                const struct row_type *type, const void *row, uint64_t saving_bytes)
{
    report->finding[report->findings++] = (struct finding){
        .kind = kind,
        .id = id,
        .severity = severity,
        .of_file = kind == FINDING_LOSS,
        .evidence = { type, row },
        .saving_bytes = saving_bytes,
    };
}

/* What it would save is the advice's to say. */
static void add_leak(struct report *report, const struct leak_site *site)
{
    bool leak = site->class == LEAK_CLASS_LEAK;
    if (leak_is_told(site))
        add(report, FINDING_LEAK, leak ? "leak" : "suspect", leak ? "problem" : "note",
            &leak_evidence_row_type, site, UNKNOWN_U64);
}

static void add_sections(struct report *report, const struct report_sections *sections)
{
    for (uint32_t i = 0; sections->leaks != NULL && i < sections->leaks->sites; i++)
        add_leak(report, &sections->leaks->site[i]);
    for (uint32_t i = 0; sections->has_advice && i < sections->advise.advices; i++) {
        const struct advice *advice = &sections->advise.advice[i];
        add(report, FINDING_ADVICE, advice->id, severity_names[advice->severity],
            &advice_evidence_row_type, advice, advice->saving_bytes);
    }
    if (report_is_stranded(sections))
        add(report, FINDING_STRANDED, "stranded", "note", &stranded_evidence_row_type,
            sections->fragments, UNKNOWN_U64);
}

/* The verdict belongs to the failure it is about. */
static void judge(struct oom_fact *fact, const struct report_sections *sections)
{
    if (sections == NULL || !sections->has_oom)
        return;
    enum oom_verdict verdict = sections->oom.tests.verdict;
    fact->judged = true;
    fact->verdict = verdict == OOM_UNDECIDED ? NULL : oom_verdict_names[verdict];
}

static void add_device(struct report *report, const struct report_device *d)
{
    uint32_t first = report->findings;
    if (d->ooms > 0) {
        judge(&d->oom[d->ooms - 1], d->sections);
        add(report, FINDING_OOM, "oom", "problem", &oom_evidence_row_type, &d->oom[d->ooms - 1],
            UNKNOWN_U64);
    }
    if (d->sections != NULL)
        add_sections(report, d->sections);
    if (d->old_bytes > 0 && d->events > 1)
        add(report, FINDING_OLDER, "older_than_recording", "note", &older_evidence_row_type, d,
            UNKNOWN_U64);
    for (uint32_t i = first; i < report->findings; i++)
        report->finding[i].device = d->name;
}

/* No device has more. */
static size_t most_of(const struct report_device *d)
{
    size_t most = 3; /* oom, stranded, older */
    if (d->sections != NULL && d->sections->leaks != NULL)
        most += d->sections->leaks->sites;
    if (d->sections != NULL && d->sections->has_advice)
        most += d->sections->advise.advices;
    return most;
}

enum vrs_status findings_make(struct report *report, struct arena *keep, struct vrs_error *err)
{
    struct loss all[LOSSES];
    uint32_t losses = losses_of(&report->file, all);
    struct loss *loss = arena_array(keep, struct loss, losses);
    size_t most = losses;
    for (uint32_t i = 0; i < report->devices; i++)
        most += most_of(&report->device[i]);
    report->finding = arena_array(keep, struct finding, most);
    if (loss == NULL || report->finding == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < report->devices; i++)
        add_device(report, &report->device[i]);
    for (uint32_t i = 0; i < losses; i++) {
        loss[i] = all[i];
        add(report, FINDING_LOSS, loss[i].id, "note", &loss_evidence_row_type, &loss[i],
            UNKNOWN_U64);
    }
    return VRS_OK;
}
