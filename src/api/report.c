/* report.c - the one page about a recording. */
#include "analysis/figures.h"
#include "api/result.h"

enum {
    SPANS_MOST = 1024, /* finer than any terminal is wide */
    ROWS_MOST = 256,   /* culprits kept of each device */
    OOMS_MOST = 4
};

static enum vrs_status find_ooms(struct asking *a, uint32_t d, struct report_device *ret,
                                 struct vrs_error *err)
{
    const struct recording *r = a->r;
    ret->oom = arena_array(a->keep, struct oom_fact, OOMS_MOST);
    if (ret->oom == NULL)
        return vrs_no_memory(err);
    uint64_t skip = ret->curves.oom_events > OOMS_MOST ? ret->curves.oom_events - OOMS_MOST : 0;
    for (uint32_t i = 0; i < r->devices.events[d] && ret->ooms < OOMS_MOST; i++) {
        uint32_t row = r->devices.first_event[d] + i;
        if (r->events.action[row] != ACTION_OOM)
            continue;
        if (skip > 0) {
            skip--;
            continue;
        }
        ret->oom[ret->ooms++] = (struct oom_fact){
            .event = i,
            .asked_bytes = r->events.size[row],
            .device_free_bytes = r->events.address[row],
            .requested_bytes = curve_at(r, d, CURVE_REQUESTED, i),
            .reserved_bytes = curve_at(r, d, CURVE_RESERVED, i),
            .after_us = micros_after_first(r, d, i),
        };
    }
    return VRS_OK;
}

static enum vrs_status keep_rows(struct asking *a, const struct peak *peak,
                                 struct report_device *ret, struct vrs_error *err)
{
    ret->all_rows = peak->rows;
    ret->rows = peak->rows < ROWS_MOST ? peak->rows : ROWS_MOST;
    ret->row = arena_array(a->keep, struct report_row, ret->rows);
    if (ret->row == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < ret->rows; i++) {
        const struct peak_row *from = &peak->row[i];
        ret->row[i] = (struct report_row){
            .name = arena_copy(a->keep, from->name),
            .bytes = from->bytes,
            .count = from->count,
            .share_ratio = from->share_ratio,
        };
        if (ret->row[i].name.ptr == NULL)
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

/* Who held the peak, by culprit; where one line holds most of it and stands for several owners
 * (a trainer's one call), by owner. */
static enum vrs_status find_holders(struct asking *a, uint32_t d, struct report_device *ret,
                                    struct vrs_error *err)
{
    struct peak_options options = {
        .by = BY_CULPRIT,
        .key = SITE_LINE,
        .at_event = ret->curves.of[CURVE_REQUESTED].peak_event,
    };
    struct peak peak = { 0 };
    TRY(peak_compute(a->r, d, &options, a->naming, &a->scratch, &peak, err));
    ret->traced = device_traced(a->r, d);
    /* Of a ring of one the rows are of the end, but the curve is kept from before its event. */
    ret->adjust_bytes =
        ret->traced || ret->events == 0
            ? peak.adjust_bytes
            : ret->curves.of[CURVE_REQUESTED].start_bytes - forward_start_bytes(a->r, d);
    ret->live_bytes = peak.live_bytes;
    ret->live_count = peak.live_count;
    ret->hidden_culprit = S("");
    if (peak.rows > 0 && peak.row[0].share_ratio > 0.5 && peak.row[0].owner.ptr == NULL) {
        ret->hidden_share = peak.row[0].share_ratio;
        ret->hidden_culprit = arena_copy(a->keep, peak.row[0].name);
        if (ret->hidden_culprit.ptr == NULL)
            return vrs_no_memory(err);
        options.by = BY_OWNER;
        TRY(peak_compute(a->r, d, &options, a->naming, &a->scratch, &peak, err));
    }
    return keep_rows(a, &peak, ret, err);
}

static enum vrs_status draw(struct asking *a, uint32_t d, struct report_device *ret,
                            struct vrs_error *err)
{
    uint64_t states = ret->events + 1;
    ret->spans = states < SPANS_MOST ? (uint32_t)states : SPANS_MOST;
    ret->requested = arena_array(a->keep, int64_t, ret->spans);
    ret->reserved = arena_array(a->keep, int64_t, ret->spans);
    if (ret->requested == NULL || ret->reserved == NULL)
        return vrs_no_memory(err);
    curves_draw(a->r, d, &ret->curves, ret->spans, ret->requested, ret->reserved);
    return VRS_OK;
}

static enum vrs_status report_device(struct asking *a, uint32_t d, struct report_device *ret,
                                     struct vrs_error *err)
{
    const struct recording *r = a->r;
    const struct devices *v = &r->devices;
    ret->name = device_name_of(r, d);
    ret->events = v->events[d];
    ret->segments = v->segments[d];
    ret->blocks = v->blocks[d];
    ret->allocations = v->allocations[d];
    ret->orphan_frees = v->orphan_frees[d];
    ret->double_allocs = v->double_allocs[d];
    ret->pending_bytes = pending_bytes(r, d);
    curves_compute(r, d, &ret->curves);
    curves_prove(&ret->curves, &a->agreement[d]);
    int64_t peak_event = ret->curves.of[CURVE_REQUESTED].peak_event;
    ret->peak_after_us = micros_after_first(r, d, peak_event);
    ret->duration_us = micros_after_first(r, d, (int64_t)ret->events - 1);
    ret->old_bytes = old_bytes(r, d, peak_event);
    TRY(distinct_stacks(r, d, &a->scratch, &ret->stacks, err));
    TRY(trust_assess(r, d, &ret->curves, &a->agreement[d], a->keep, &ret->trust, err));
    TRY(find_ooms(a, d, ret, err));
    TRY(find_holders(a, d, ret, err));
    return draw(a, d, ret, err);
}

static enum vrs_status report_all(struct asking *a, const struct vrs_recording *recording,
                                  const char *path, struct vrs_error *err)
{
    struct report *report = &a->result->set.report[0];
    TRY(file_facts_of(recording, path, a->keep, &report->file, err));
    report->device = arena_array(a->keep, struct report_device, a->r->devices.rows.len);
    if (report->device == NULL)
        return vrs_no_memory(err);
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++) {
        if (asking_wants(a, d))
            TRY(report_device(a, d, &report->device[report->devices++], err));
    }
    return VRS_OK;
}

enum vrs_status vrs_report(const struct vrs_recording *recording,
                           const struct vrs_report_options *options, struct vrs_result **ret,
                           struct vrs_error *err)
{
    struct vrs_report_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct asking a;
    enum vrs_status status =
        asking_begin(&a, recording, RESULT_REPORT, o.user_root, o.library, o.device, err);
    if (status == VRS_OK)
        status = report_all(&a, recording, o.path, err);
    return asking_end(&a, status, ret);
}
