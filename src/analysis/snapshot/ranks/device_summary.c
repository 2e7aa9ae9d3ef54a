/* device_summary.c - the sites of a peak under keys that mean the same in every recording. */
#include "analysis/snapshot/ranks/device_summary.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/layout/layout.h"
#include "analysis/snapshot/ranks/mad.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/table.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/other_events.h"
#include "model/recording.h"
#include "model/strings.h"

enum { RESERVED_LEAST = 64 << 20 };

/* Allocations of one place; first one each, then summed up. */
struct place {
    uint64_t key, bytes, count;
    stack_id stack; /* of the largest, then earliest, allocation */
    uint64_t largest_bytes;
    int64_t born;
    uint32_t allocation;
};

bool summary_counts(const struct recording *r, uint32_t device, const struct curves *curves)
{
    if (r->devices.kind[device] != DEVICE_CUDA)
        return false;
    return r->devices.events[device] != 0 ||
           curves->of[CURVE_RESERVED].peak_bytes >= RESERVED_LEAST;
}

uint64_t last_oom_us(const struct recording *r, uint32_t device)
{
    const uint8_t *action = r->events.action;
    uint32_t first = r->devices.first_event[device];
    uint32_t i = first + r->devices.events[device];
    while (other_event_before(action, first, &i))
        if (action[i] == ACTION_OOM)
            return r->events.time_us[i];
    return UNKNOWN_U64;
}

/* The first event of the device that is later; -1: none, or no event has a time. */
static int64_t first_after(const struct recording *r, uint32_t device, uint64_t time_us)
{
    uint32_t first = r->devices.first_event[device];
    for (uint32_t i = 0; i < r->devices.events[device]; i++) {
        uint64_t then = r->events.time_us[first + i];
        if (then != UNKNOWN_U64 && then > time_us)
            return i;
    }
    return -1;
}

/* Hashes of the reduced stacks, callers first. */
static uint64_t *hash_stacks(const struct sites *s, struct arena *scratch)
{
    uint64_t *hash = arena_array(scratch, uint64_t, s->stacks.rows.len);
    for (uint32_t i = 1; hash != NULL && i < s->stacks.rows.len; i++) {
        struct frame frame = frames_get(&s->frames, (frame_id){ s->stacks.frame[i] });
        str file = strings_text(&s->bases, frame.file);
        str name = strings_text(&s->code->strings, frame.name);
        uint64_t line = hash_pair(hash_bytes(file.ptr, file.len), frame.line);
        hash[i] =
            hash_pair(hash[s->stacks.caller[i]], hash_pair(line, hash_bytes(name.ptr, name.len)));
    }
    return hash;
}

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->largest_bytes != y->largest_bytes)
        return x->largest_bytes > y->largest_bytes ? -1 : 1;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

static int by_bytes(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static enum vrs_status key_places(struct sites *sites, const struct live_set *set,
                                  struct naming *naming, struct arena *scratch, struct place *place,
                                  struct vrs_error *err)
{
    uint32_t *site = arena_array(scratch, uint32_t, set->len);
    if (site == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < set->len; i++)
        if (!sites_of(sites, set->at[i].stack, &site[i]))
            return vrs_no_memory(err);
    const uint64_t *hash = hash_stacks(sites, scratch);
    if (hash == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < set->len; i++) {
        const struct live *live = &set->at[i];
        uint64_t key = hash[site[i]];
        /* Of a stack without a line of Python the culprit remains; of none, nothing. */
        if (site[i] == 0) {
            struct stack_names names;
            TRY(naming_of(naming, live->stack, &names, err));
            key = hash_pair(hash_bytes(names.culprit.ptr, names.culprit.len), 1);
        }
        place[i] = (struct place){ .key = key,
                                   .bytes = live->bytes,
                                   .count = 1,
                                   .stack = live->stack,
                                   .largest_bytes = live->bytes,
                                   .born = live->born,
                                   .allocation = live->allocation };
    }
    return VRS_OK;
}

/* Sums up what has one key; how many keys there are. */
static uint32_t sum_places(struct place *place, uint32_t len)
{
    uint32_t sums = 0;
    if (len > 1)
        qsort(place, len, sizeof *place, by_key);
    for (uint32_t i = 0; i < len; i++) {
        if (sums > 0 && place[sums - 1].key == place[i].key) {
            place[sums - 1].bytes += place[i].bytes;
            place[sums - 1].count++;
        } else {
            place[sums++] = place[i];
        }
    }
    if (sums > 1)
        qsort(place, sums, sizeof *place, by_bytes);
    return sums;
}

static bool keep_text(struct arena *keep, str text, str *ret)
{
    *ret = arena_copy(keep, text);
    return ret->ptr != NULL;
}

static enum vrs_status keep_sites(const struct place *place, uint32_t places, struct naming *naming,
                                  struct arena *keep, struct device_summary *summary,
                                  struct vrs_error *err)
{
    summary->sites = places < SUMMARY_SITES_MOST ? places : SUMMARY_SITES_MOST;
    summary->names = places < SUMMARY_NAMES_MOST ? places : SUMMARY_NAMES_MOST;
    summary->site = arena_array(keep, struct summary_site, summary->sites);
    summary->name = arena_array(keep, struct summary_name, summary->names);
    if (summary->site == NULL || summary->name == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < summary->sites; i++)
        summary->site[i] = (struct summary_site){ place[i].key, place[i].bytes, place[i].count };
    for (uint32_t i = 0; i < summary->names; i++) {
        struct stack_names names;
        TRY(naming_of(naming, place[i].stack, &names, err));
        if (!keep_text(keep, names.culprit, &summary->name[i].culprit))
            return vrs_no_memory(err);
        /* Mostly they are one line. */
        summary->name[i].owner = summary->name[i].culprit;
        if (!str_equal(names.owner, names.culprit) &&
            !keep_text(keep, names.owner, &summary->name[i].owner))
            return vrs_no_memory(err);
    }
    for (uint32_t i = 0; i < summary->names && i < SUMMARY_SHOWN_MOST; i++)
        summary->shown[summary->showns++] =
            (struct summary_shown){ summary->name[i].culprit, summary->name[i].owner,
                                    summary->site[i].bytes, summary->site[i].count };
    for (uint32_t i = summary->sites; i < places; i++)
        summary->other_bytes += place[i].bytes;
    return VRS_OK;
}

enum vrs_status summary_add_sites(const struct recording *r, uint32_t device, struct naming *naming,
                                  struct arena *keep, struct arena *scratch,
                                  struct device_summary *summary, struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct sites sites;
    struct live_set set;
    int64_t event = device_traced(r, device) ? summary->common_peak_event
                                             : (int64_t)r->devices.events[device] - 1;
    TRY(live_at(r, device, event, scratch, &set, err));
    struct place *place = arena_array(scratch, struct place, set.len);
    if (place == NULL || !sites_init(&sites, &r->code, naming, SITE_LINE, scratch))
        return vrs_no_memory(err);
    enum vrs_status status = key_places(&sites, &set, naming, scratch, place, err);
    if (status == VRS_OK)
        status = keep_sites(place, sum_places(place, set.len), naming, keep, summary, err);
    sites_free(&sites);
    arena_release(scratch, mark);
    return status;
}

void summary_init(const struct recording *r, uint32_t device, const struct curves *curves,
                  uint64_t peer_oom_us, struct device_summary *ret)
{
    const struct curve *used = &curves->of[CURVE_REQUESTED];
    const struct curve *reserved = &curves->of[CURVE_RESERVED];
    /* Of a ring of one event everything else is of the final state. */
    bool traced = device_traced(r, device);
    int64_t peak = traced ? used->peak_bytes : used->end_bytes;
    struct device_summary unit = {
        .peak_bytes = peak,
        .peak_event = used->peak_event,
        .reserved_peak_bytes = traced ? reserved->peak_bytes : reserved->end_bytes,
        .common_peak_bytes = peak,
        .common_peak_event = used->peak_event,
        .after_peer_oom_event = -1,
        .steps = -1,
        .spike_step = -1,
        .stranded_bytes = UNKNOWN_U64,
    };
    if (peer_oom_us != UNKNOWN_U64)
        unit.after_peer_oom_event = first_after(r, device, peer_oom_us);
    if (unit.after_peer_oom_event >= 0 && used->peak_event >= unit.after_peer_oom_event)
        unit.common_peak_bytes = curve_peak_before(r, device, curves, unit.after_peer_oom_event,
                                                   &unit.common_peak_event);
    *ret = unit;
}

/* A step whose peak is far above what the steps of this unit usually take. */
static enum vrs_status find_spike(const struct study *s, struct device_summary *summary,
                                  struct vrs_error *err)
{
    uint32_t count = s->steps.count;
    if (count < 4)
        return VRS_OK;
    int64_t *value = arena_array(s->scratch, int64_t, count);
    if (value == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        value[i] = s->steps.boundary[i].peak_bytes;
    int64_t limit = mad_limit(value, count, &summary->median_step_peak_bytes);
    for (uint32_t i = 0; i < count; i++) {
        int64_t peak = s->steps.boundary[i].peak_bytes;
        if (peak > limit && (summary->spike_step < 0 || peak > summary->spike_peak_bytes)) {
            summary->spike_step = i;
            summary->spike_peak_bytes = peak;
        }
    }
    return VRS_OK;
}

/* What of the default pool can be neither used nor returned at the peak, where that is exact. */
static enum vrs_status find_stranded(const struct proven_study *proven, int64_t event,
                                     struct device_summary *summary, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct layout layout;
    bool known = false;
    TRY(layout_at(proven, event, s->scratch, &layout, &known, err));
    if (!known || !layout.exact)
        return VRS_OK;
    summary->stranded_bytes = 0;
    for (uint32_t i = 0; i < layout.segments; i++) {
        const struct layout_segment *segment = &layout.segment[i];
        uint64_t free = layout_segment_free(segment);
        uint64_t returnable = layout_returnable(&layout, segment);
        if (segment->pool == 0 && free > returnable)
            summary->stranded_bytes += free - returnable;
    }
    return VRS_OK;
}

/* Of leaks that are not known yet the rows are not kept: only how much a step leaves behind. */
static enum vrs_status find_growth(const struct study *s, const struct leaks *known,
                                   struct device_summary *summary, struct vrs_error *err)
{
    struct leaks leaks = { .moments = 0 };
    struct study forgotten = *s;
    struct arena rows;
    enum vrs_status status = VRS_OK;
    if (s->steps.source == STEPS_NONE)
        return VRS_OK;
    arena_init(&rows, SIZE_MAX / 2);
    forgotten.keep = &rows;
    if (known != NULL)
        leaks = *known;
    else
        status = leaks_compute(&forgotten, 0, &leaks, err);
    arena_free(&rows);
    summary->slope_known = leaks.moments != 0;
    summary->slope_bytes = leaks.slope_total_bytes;
    return status;
}

enum vrs_status summary_describe(const struct proven_study *proven, const struct leaks *leaks,
                                 struct device_summary *summary, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct live_set set;
    int64_t event = s->traced ? summary->common_peak_event : (int64_t)s->events - 1;
    uint32_t first = s->r->devices.first_allocation[s->device];
    if (s->phases.known) {
        uint32_t phase = phases_at(&s->phases, summary->peak_event);
        if (phase != NO_ROW)
            summary->peak_phase = phase_names[s->phases.interval[phase].phase];
    }
    if (s->steps.source != STEPS_NONE)
        summary->steps = s->steps.count;
    TRY(find_spike(s, summary, err));
    TRY(find_stranded(proven, event, summary, err));
    TRY(find_growth(s, leaks, summary, err));
    uint32_t events =
        summary->after_peer_oom_event < 0 ? s->events : (uint32_t)summary->after_peer_oom_event;
    TRY(summary_moments_make(s, events, &summary->moments, err));
    summary->gradients_most_bytes = s->categories.multiset_bytes;
    TRY(live_at(s->r, s->device, event, s->scratch, &set, err));
    for (uint32_t i = 0; i < set.len; i++) {
        uint8_t category = s->categories.of[set.at[i].allocation - first];
        summary->category_bytes[category] += set.at[i].bytes;
        summary->categorised |= category != CATEGORY_UNKNOWN;
    }
    for (int i = 0; i < CATEGORIES; i++)
        if (summary->category_bytes[i] != 0)
            summary->sum[summary->sums++] =
                (struct category_sum){ (uint8_t)i, summary->category_bytes[i] };
    return VRS_OK;
}
