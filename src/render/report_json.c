/* report_json.c - vramscope.report/1 and vramscope.report-set/1. */
#include "render/envelope.h"
#include "render/findings.h"
#include "render/totals.h"

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

static void put_device(struct json *j, const struct report_device *d)
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
    json_close(j);
}

static void put_members(struct json *j, const struct report *report)
{
    envelope_file(j, &report->file);
    json_array(j, "devices");
    for (uint32_t i = 0; i < report->devices; i++)
        put_device(j, &report->device[i]);
    json_close(j);
    findings_json(j, report);
}

/* The names say what is added up: peaks of separate moments. */
static void put_totals(struct json *j, const struct answer_set *set)
{
    struct total used = { 0 }, held = { 0 };
    if (!totals_of(set, CURVE_REQUESTED, &used) || !totals_of(set, CURVE_RESERVED, &held))
        j->out->failed = true;
    json_i64(j, "requested_largest_peak_bytes", used.largest_bytes);
    json_i64(j, "requested_median_peak_bytes", used.median_bytes);
    json_i64(j, "requested_sum_of_separate_peaks_bytes", used.sum_bytes);
    json_i64(j, "reserved_largest_peak_bytes", held.largest_bytes);
    json_i64(j, "reserved_median_peak_bytes", held.median_bytes);
    json_i64(j, "reserved_sum_of_separate_peaks_bytes", held.sum_bytes);
}

void report_json(struct out *out, const struct answer_set *set, bool several,
                 const struct render_options *options)
{
    struct json j;
    json_start(&j, &out->text);
    json_object(&j, NULL);
    json_text(&j, "schema", several ? "vramscope.report-set/1" : "vramscope.report/1");
    json_text(&j, "tool", options->tool);
    if (several) {
        json_array(&j, "files");
        for (uint32_t i = 0; i < set->count; i++) {
            json_object(&j, NULL);
            put_members(&j, &set->report[i]);
            json_close(&j);
            out_flush(out, OUT_ENOUGH);
        }
        json_close(&j);
        put_totals(&j, set);
    } else {
        put_members(&j, &set->report[0]);
    }
    json_close(&j);
    json_finish(&j);
}
