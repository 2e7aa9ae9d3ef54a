/* report_next_text.c - the commands that a report ends with. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "model/ids.h"
#include "render/answer/next.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/human.h"

enum { NEXT_MOST = 5 };

/* What asks for other settings on the device that ran out last; false where its capacity is not
 * known. */
static bool sweep_options(struct buf *options, const struct report *report)
{
    const struct oom_fact *oom = NULL;
    const struct report_device *device = NULL;
    for (uint32_t i = 0; i < report->devices; i++) {
        const struct report_device *d = &report->device[i];
        if (d->ooms == 0)
            continue;
        oom = &d->oom[d->ooms - 1];
        device = d;
    }
    if (oom == NULL || oom->device_free_bytes == UNKNOWN_U64 || oom->reserved_bytes < 0)
        return false;
    uint64_t capacity = (uint64_t)oom->reserved_bytes + oom->device_free_bytes;
    buf_text(options, " --sweep --capacity ");
    next_size(options, capacity);
    next_device(options, device->name, report->devices);
    buf_char(options, '\0');
    return !options->failed;
}

void report_next_text(struct buf *to, const struct style *style, const struct report *report)
{
    bool oom = false, any = false, stacks = false, trace = false, sound = false;
    bool leaks = false, gap = false, advice = false, told = false;
    char grade = 'A'; /* the worst */
    for (uint32_t i = 0; i < report->devices; i++) {
        oom = oom || report->device[i].ooms > 0;
        any = any || report->device[i].all_rows > 0;
        stacks = stacks || report->device[i].stacks > 0;
        trace = trace || (report->device[i].traced && report->device[i].events > 0);
        const struct report_sections *sections = report->device[i].sections;
        told = told || sections != NULL;
        leaks = leaks || (sections != NULL && sections->leaks != NULL &&
                          sections->leaks->leaks + sections->leaks->suspects > 0);
        gap = gap || report_has_gap(&report->device[i]);
        advice =
            advice || (sections != NULL && sections->has_advice && sections->advise.advices > 0);
        sound = sound || (report->device[i].traced && report->device[i].trust.grade != 'D');
        if (report->device[i].trust.grade > grade)
            grade = report->device[i].trust.grade;
    }
    if (!any)
        return;
    struct buf sweep;
    buf_init(&sweep, 1 << 8);
    bool capacity = sweep_options(&sweep, report);
    const struct {
        const char *verb, *options, *meaning;
        bool shown;
    } lines[] = {
        { "report", " --trust", "what contradicts what", grade == 'D' },
        { "view", "", "every allocation, drawn", true },
        { "oom", "", "the tests behind it", oom && told },
        { "leaks", "", "what grows", leaks },
        { "fragments", "", "reserved, not in use", gap },
        { "replay", capacity ? sweep.at : "", "would a setting help?", capacity },
        { "advise", "", "what to change", advice },
        { "peak", " --stacks", "whole stacks", stacks },
        { "peak", " --at oom", "alive when it failed", oom && !told },
        { "peak", " --by owner", "the functions called", stacks && !capacity && !advice },
        { "peak", " --by size", "by requested size", !stacks },
        { "peak", " --at end", "what stayed", trace && !oom },
        { "replay", " --smallest", "the memory it needs", sound && !oom },
        { "report", " --trust", "how far to trust it", grade > 'A' && grade < 'D' },
    };
    buf_char(to, '\n');
    const char *label = "Next";
    uint32_t shown = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines && shown < NEXT_MOST; i++) {
        if (!lines[i].shown)
            continue;
        shown++;
        next_line(to, style, label, lines[i].verb, report->file.path, lines[i].options,
                  lines[i].meaning);
        label = "";
    }
    buf_end(&sweep, to);
}
