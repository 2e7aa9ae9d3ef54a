/* report_device.c - the figures of a device that need no replay. */
#include "analysis/snapshot/report/report_device.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/breakdown/peak.h"
#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/study/held_names.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "model/ids.h"
#include "model/recording.h"

enum { OOMS_MOST = 4 };

/* A device on its way to its figures. */
struct describing {
    const struct recording *r;
    uint32_t device;
    const struct report_device_question *q;
    struct naming *naming;
    struct arena *keep, *scratch;
};

static enum vrs_status find_ooms(const struct describing *g, struct report_device *ret,
                                 struct vrs_error *err)
{
    const struct recording *r = g->r;
    uint32_t d = g->device;
    ret->oom = arena_array(g->keep, struct oom_fact, OOMS_MOST);
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

static enum vrs_status keep_rows(const struct describing *g, const struct peak *peak,
                                 struct report_device *ret, struct vrs_error *err)
{
    ret->all_rows = peak->rows;
    ret->rows = peak->rows < g->q->rows_most ? peak->rows : g->q->rows_most;
    ret->row = arena_array(g->keep, struct report_row, ret->rows);
    if (ret->row == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < ret->rows; i++) {
        const struct peak_row *from = &peak->row[i];
        ret->row[i] = (struct report_row){
            .name = arena_copy(g->keep, from->name),
            .category = arena_copy(g->keep, from->category.ptr == NULL ? S("") : from->category),
            .bytes = from->bytes,
            .count = from->count,
            .share_ratio = from->share_ratio,
        };
        TRY(held_names_keep(&from->names, g->keep, &ret->row[i].names, err));
        if (ret->row[i].name.ptr == NULL || ret->row[i].category.ptr == NULL)
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

/* Who held the peak, by culprit; where one line holds most of it and stands for several owners
 * (a trainer's one call), by owner. */
static enum vrs_status find_holders(const struct describing *g, struct report_device *ret,
                                    struct vrs_error *err)
{
    const struct recording *r = g->r;
    uint32_t d = g->device;
    struct peak_options options = {
        .by = BY_CULPRIT,
        .key = SITE_LINE,
        .at_event = ret->curves.of[CURVE_REQUESTED].peak_event,
        .categories = g->q->categories,
    };
    struct peak peak = { 0 };
    TRY(peak_compute(r, d, &options, g->naming, g->scratch, &peak, err));
    ret->traced = device_traced(r, d);
    /* Of a ring of one the rows are of the end, but the curve is kept from before its event. */
    ret->adjust_bytes =
        ret->traced || ret->events == 0
            ? peak.adjust_bytes
            : ret->curves.of[CURVE_REQUESTED].start_bytes - forward_start_bytes(r, d);
    ret->live_bytes = peak.live_bytes;
    ret->live_count = peak.live_count;
    TRY(held_names_keep(&peak.names, g->keep, &ret->names, err));
    ret->hidden_culprit = S("");
    if (peak.rows > 0 && peak.row[0].share_ratio > 0.5 && peak.row[0].owner.ptr == NULL) {
        ret->hidden_share = peak.row[0].share_ratio;
        ret->hidden_culprit = arena_copy(g->keep, peak.row[0].name);
        if (ret->hidden_culprit.ptr == NULL)
            return vrs_no_memory(err);
        options.by = BY_OWNER;
        TRY(peak_compute(r, d, &options, g->naming, g->scratch, &peak, err));
    }
    return keep_rows(g, &peak, ret, err);
}

static enum vrs_status draw(const struct describing *g, struct report_device *ret,
                            struct vrs_error *err)
{
    uint64_t states = ret->events + 1;
    ret->spans = states < g->q->spans_most ? (uint32_t)states : g->q->spans_most;
    ret->requested = arena_array(g->keep, int64_t, ret->spans);
    ret->reserved = arena_array(g->keep, int64_t, ret->spans);
    if (ret->requested == NULL || ret->reserved == NULL)
        return vrs_no_memory(err);
    curves_draw(g->r, g->device, &ret->curves, ret->spans, ret->requested, ret->reserved);
    return VRS_OK;
}

static void count(const struct recording *r, uint32_t d, struct report_device *ret)
{
    const struct devices *v = &r->devices;
    int64_t peak_event = ret->curves.of[CURVE_REQUESTED].peak_event;
    ret->name = device_name_of(r, d);
    ret->events = v->events[d];
    ret->segments = v->segments[d];
    ret->blocks = v->blocks[d];
    ret->allocations = v->allocations[d];
    ret->orphan_frees = v->orphan_frees[d];
    ret->double_allocs = v->double_allocs[d];
    ret->pending_bytes = pending_bytes(r, d);
    ret->peak_after_us = micros_after_first(r, d, peak_event);
    ret->duration_us = micros_after_first(r, d, (int64_t)ret->events - 1);
    ret->old_bytes = old_bytes(r, d, peak_event, &ret->old_unknown_bytes);
}

static enum vrs_status describe(const struct describing *g, struct report_device *ret,
                                struct vrs_error *err)
{
    if (g->q->curves != NULL)
        ret->curves = *g->q->curves;
    else
        curves_compute(g->r, g->device, &ret->curves);
    count(g->r, g->device, ret);
    TRY(distinct_stacks(g->r, g->device, g->scratch, &ret->stacks, err));
    TRY(find_ooms(g, ret, err));
    TRY(find_holders(g, ret, err));
    return g->q->spans_most == 0 ? VRS_OK : draw(g, ret, err);
}

enum vrs_status report_device_describe(const struct recording *r, uint32_t device,
                                       const struct report_device_question *question,
                                       struct naming *naming, struct arena *keep,
                                       struct arena *scratch, struct report_device *ret,
                                       struct vrs_error *err)
{
    struct describing g = { r, device, question, naming, keep, scratch };
    struct arena_mark mark = arena_mark(scratch);
    enum vrs_status status = describe(&g, ret, err);
    arena_release(scratch, mark);
    return status;
}

void report_time_later(uint64_t *latest_us, uint64_t us)
{
    if (us != UNKNOWN_U64 && (*latest_us == UNKNOWN_U64 || us > *latest_us))
        *latest_us = us;
}

void report_times_find(const struct recording *r, struct report *report)
{
    const struct devices *d = &r->devices;
    report->oom_us = report->last_us = UNKNOWN_U64;
    for (uint32_t i = 0; i < d->rows.len; i++) {
        report_time_later(&report->oom_us, last_oom_us(r, i));
        for (uint32_t k = d->events[i]; k-- > 0;) {
            uint64_t us = r->events.time_us[d->first_event[i] + k];
            report_time_later(&report->last_us, us);
            if (us != UNKNOWN_U64)
                break;
        }
    }
}
