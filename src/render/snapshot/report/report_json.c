/* report_json.c - vramscope.report/1 and vramscope.report-set/1. */
#include "render/answer/document.h"
#include "render/answer/envelope.h"
#include "render/answer/totals.h"
#include "render/snapshot/ranks/ranks.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/report/findings.h"
#include "render/snapshot/report/report_sections.h"
#include "render/snapshot/report/timeline_json.h"
#include "render/snapshot/report/trust_page.h"

static void put_curve(struct json *j, const char *name, const struct curve *c)
{
    json_line_object(j, name);
    if (c->start_known)
        json_i64(j, "start_bytes", c->start_bytes);
    else
        json_null(j, "start_bytes");
    json_i64(j, "peak_bytes", c->peak_bytes);
    json_i64(j, "peak_event", c->peak_event);
    json_i64(j, "peak_last_event", c->peak_last_event);
    if (c->end_known)
        json_i64(j, "end_bytes", c->end_bytes);
    else
        json_null(j, "end_bytes");
    json_bool(j, "exact", c->exact);
    json_close(j);
}

static void put_device(struct json *j, struct out *out, const struct report_device *d)
{
    json_object(j, NULL);
    envelope_device(j, d->name);
    json_u64(j, "events", d->events);
    json_u64(j, "segments", d->segments);
    json_u64(j, "blocks", d->blocks);
    json_u64(j, "stacks", d->stacks);
    json_u64(j, "allocations", d->allocations);
    for (uint32_t c = 0; c < CURVES; c++)
        put_curve(j, curve_names[c], &d->curves.of[c]);
    json_i64(j, "adjust_bytes", d->adjust_bytes);
    json_known(j, "pending_bytes", d->pending_bytes);
    json_u64(j, "orphan_frees", d->orphan_frees);
    json_u64(j, "double_allocs", d->double_allocs);
    json_u64(j, "oom_events", d->curves.oom_events);
    envelope_trust(j, &d->trust);
    if (d->sections != NULL)
        section_made_of_json(j, d->sections);
    timeline_json(j, out, d->timeline);
    if (d->overview != NULL)
        trust_page_json(j, d);
    json_close(j);
}

static void put_members(struct json *j, struct out *out, const struct answer_set *set, uint32_t i,
                        const void *arg)
{
    const struct report *report = &set->report[i];
    (void)arg;
    envelope_file(j, &report->file);
    json_array(j, "devices");
    for (uint32_t k = 0; k < report->devices; k++)
        put_device(j, out, &report->device[k]);
    json_close(j);
    findings_json(j, report);
}

static void put_known(struct json *j, const char *name, bool known, int64_t bytes)
{
    if (known)
        json_i64(j, name, bytes);
    else
        json_null(j, name);
}

/* Three figures of all devices; the sum is of separate moments, and its name says so. */
static struct total put_totals(struct json *j, const struct answer_set *set, enum curve_name which,
                               const char *const names[3])
{
    struct total total;
    if (!totals_of(set, which, &total))
        j->out->failed = true;
    put_known(j, names[0], total.devices > 0, total.largest_bytes);
    put_known(j, names[1], total.whole > 0, total.median_bytes);
    json_i64(j, names[2], total.sum_bytes);
    return total;
}

static void put_set_totals(struct json *j, const struct answer_set *set)
{
    static const char *const requested[] = { "largest_peak_bytes", "median_peak_bytes",
                                             "sum_of_separate_peaks_bytes" };
    static const char *const reserved[] = { "largest_reserved_peak_bytes",
                                            "median_reserved_peak_bytes",
                                            "sum_of_separate_reserved_peaks_bytes" };
    struct total total = put_totals(j, set, CURVE_REQUESTED, requested);
    put_totals(j, set, CURVE_RESERVED, reserved);
    json_u64(j, "device_count", total.devices);
    if (total.devices == 0) {
        json_null(j, "largest_peak_path");
        json_null(j, "largest_peak_device");
    } else {
        json_str(j, "largest_peak_path", set->report[total.largest_file].file.path);
        json_u64(j, "largest_peak_device", total.largest_device.number);
    }
}

/* Files that no figure of the set is about. */
static void put_unread(struct json *j, const struct answer_set *set)
{
    json_array(j, "unread");
    for (uint32_t i = 0; i < set->unreads; i++) {
        json_object(j, NULL);
        json_str(j, "path", set->unread[i].path);
        json_str(j, "error", set->unread[i].why);
        json_close(j);
    }
    json_close(j);
}

void report_json(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    struct json j;
    document_begin(&j, out, "report", several, options);
    document_files(&j, out, set, several, put_members, NULL);
    if (several) {
        put_unread(&j, set);
        put_set_totals(&j, set);
    }
    ranks_json(&j, out, set->ranks);
    document_end(&j);
}
