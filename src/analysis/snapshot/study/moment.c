/* moment.c - the words for moments, the event each means. */
#include "analysis/snapshot/study/moment.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/number.h"
#include "model/ids.h"

/* Digits alone, without a sign. */
static bool parse_u64(str text, uint64_t *ret)
{
    bool negative;
    return text.len != 0 && is_digit(text.ptr[0]) && number_integer(text, ret, &negative);
}

/* "12.5s" as seconds, without sign or exponent. */
static bool parse_seconds(str text, double *ret)
{
    if (text.len < 2 || text.ptr[text.len - 1] != 's')
        return false;
    text.len--;
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.ptr[i]) && text.ptr[i] != '.')
            return false;
    return number_real(text, ret);
}

/* "step:2", the step from 1. */
static bool parse_step(str text, struct moment *moment)
{
    str prefix = S("step:");
    if (!str_starts(text, prefix) ||
        !parse_u64((str){ text.ptr + prefix.len, text.len - prefix.len }, &moment->nth))
        return false;
    moment->kind = AT_STEP;
    return moment->nth != 0;
}

/* "phase:backward" */
static bool parse_phase(str text, struct moment *moment)
{
    str prefix = S("phase:");
    if (!str_starts(text, prefix))
        return false;
    str name = { text.ptr + prefix.len, text.len - prefix.len };
    for (int i = 0; i < PHASES; i++)
        if (str_equal(name, str_from(phase_names[i]))) {
            moment->kind = AT_PHASE;
            moment->phase = (uint8_t)i;
            return true;
        }
    return false;
}

enum vrs_status moment_parse(str text, struct moment *ret, struct vrs_error *err)
{
    struct moment moment = { .kind = AT_PEAK };
    uint64_t n = 0;
    if (str_equal(text, S("peak"))) {
        moment.kind = AT_PEAK;
    } else if (str_equal(text, S("start")) || str_equal(text, S("-1"))) {
        /* The start is event -1 in all forms but text. */
        moment.kind = AT_START;
    } else if (str_equal(text, S("end"))) {
        moment.kind = AT_END;
    } else if (str_equal(text, S("oom")) ||
               (str_starts(text, S("oom:")) &&
                parse_u64((str){ text.ptr + 4, text.len - 4 }, &moment.nth) && moment.nth != 0)) {
        moment.kind = AT_OOM;
    } else if (parse_u64(text, &n) && n <= INT64_MAX) {
        moment.kind = AT_EVENT;
        moment.event = (int64_t)n;
    } else if (parse_seconds(text, &moment.seconds)) {
        moment.kind = AT_SECONDS;
    } else if (!parse_step(text, &moment) && !parse_phase(text, &moment)) {
        int shown = text.len > 40 ? 40 : (int)text.len;
        return vrs_fail(err, VRS_USAGE,
                        "no moment is called \"%.*s\"; accepted are an event's number, start, end, "
                        "peak, oom, oom:2, step:2, phase:backward, 12.5s",
                        shown, text.len == 0 ? "" : text.ptr);
    }
    *ret = moment;
    return VRS_OK;
}

/* Says which device did, if one did. */
static enum vrs_status tell_no_oom(const struct recording *r, uint32_t device,
                                   struct vrs_error *err)
{
    for (uint32_t d = 0; d < r->devices.rows.len; d++)
        for (uint32_t i = 0; i < r->devices.events[d]; i++)
            if (r->events.action[r->devices.first_event[d] + i] == ACTION_OOM)
                return vrs_fail(err, VRS_USAGE,
                                "device %u has no out-of-memory event, device %u has one",
                                r->devices.number[device], r->devices.number[d]);
    return vrs_fail(err, VRS_USAGE, "device %u has no out-of-memory event",
                    r->devices.number[device]);
}

static enum vrs_status find_oom(const struct recording *r, uint32_t device, uint64_t nth,
                                int64_t *ret, struct vrs_error *err)
{
    uint32_t first = r->devices.first_event[device];
    uint64_t seen = 0;
    int64_t found = -1;
    for (uint32_t i = 0; i < r->devices.events[device]; i++) {
        if (r->events.action[first + i] != ACTION_OOM)
            continue;
        seen++;
        if (nth == 0 || seen == nth)
            found = i;
    }
    if (found < 0 && seen == 0)
        return tell_no_oom(r, device, err);
    if (found < 0)
        return vrs_fail(
            err, VRS_USAGE, "device %u: out-of-memory events: %llu; there is no oom:%llu",
            r->devices.number[device], (unsigned long long)seen, (unsigned long long)nth);
    *ret = found;
    return VRS_OK;
}

/* The last event at most so long after the first that has a time. */
static enum vrs_status find_seconds(const struct recording *r, uint32_t device, double seconds,
                                    int64_t *ret, struct vrs_error *err)
{
    const uint64_t *time = r->events.time_us;
    uint32_t first = r->devices.first_event[device];
    uint64_t zero = UNKNOWN_U64;
    int64_t found = -1;
    for (uint32_t i = 0; i < r->devices.events[device]; i++) {
        uint64_t at = time[first + i];
        if (at == UNKNOWN_U64)
            continue;
        if (zero == UNKNOWN_U64)
            zero = at;
        if (at <= zero || (double)(at - zero) <= seconds * 1e6)
            found = i;
    }
    if (zero == UNKNOWN_U64)
        return vrs_fail(err, VRS_USAGE,
                        "the events of device %u carry no time; name an event by its number",
                        r->devices.number[device]);
    *ret = found;
    return VRS_OK;
}

enum vrs_status moment_find(const struct recording *r, uint32_t device, struct moment moment,
                            int64_t *ret, struct vrs_error *err)
{
    int64_t events = r->devices.events[device];
    bool traced = device_traced(r, device);
    switch (moment.kind) {
    case AT_OOM:
        return find_oom(r, device, moment.nth, ret, err);
    case AT_SECONDS:
        return find_seconds(r, device, moment.seconds, ret, err);
    case AT_EVENT:
        if (moment.event >= events && events == 0)
            return vrs_fail(err, VRS_USAGE, "device %u has no events, only its final state",
                            r->devices.number[device]);
        if (moment.event < -1 || moment.event >= events)
            return vrs_fail(err, VRS_USAGE, "device %u has events 0 to %lld, not %lld",
                            r->devices.number[device], (long long)events - 1,
                            (long long)moment.event);
        *ret = moment.event;
        return VRS_OK;
    case AT_START:
        *ret = traced ? -1 : events - 1;
        return VRS_OK;
    case AT_PEAK:
    case AT_RESERVED_PEAK:
        if (traced) {
            bool reserved = moment.kind == AT_RESERVED_PEAK;
            *ret = curve_peak_event(r, device, reserved ? CURVE_RESERVED : CURVE_REQUESTED);
            return VRS_OK;
        }
        break;
    case AT_END:
        break;
    case AT_STEP:
    case AT_PHASE:
        assert(!moment_needs_study(moment));
        break;
    }
    *ret = events - 1;
    return VRS_OK;
}

bool moment_needs_study(struct moment moment)
{
    return moment.kind == AT_STEP || moment.kind == AT_PHASE;
}

static enum vrs_status find_step(const struct study *s, uint64_t nth, int64_t *ret,
                                 struct vrs_error *err)
{
    uint32_t number = s->r->devices.number[s->device];
    if (s->steps.count == 0)
        return vrs_fail(err, VRS_USAGE,
                        "device %u: no complete steps were found; there is no "
                        "step:%llu",
                        number, (unsigned long long)nth);
    if (nth == 0 || nth > (uint64_t)s->steps.count + s->steps.unended)
        return vrs_fail(err, VRS_USAGE, "device %u: complete steps: %u%s; there is no step:%llu",
                        number, (unsigned)s->steps.count,
                        s->steps.unended ? ", and one that did not end" : "",
                        (unsigned long long)nth);
    *ret = s->steps.boundary[nth - 1].peak_event;
    return VRS_OK;
}

/* Bytes that each event adds to the live set; NULL when out of memory. */
static uint64_t *live_changes(const struct study *s)
{
    uint64_t *change = arena_array(s->scratch, uint64_t, (size_t)s->events + 1);
    for (uint32_t i = 0; change != NULL && i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->birth >= 0)
            change[l->birth] += l->bytes;
        if (l->freed < (int64_t)s->events)
            change[l->freed] -= l->bytes;
    }
    return change;
}

/* The requested peak of a phase: inside all its intervals, each of which ends where the next
 * interval begins. */
static enum vrs_status find_phase(const struct study *s, uint8_t phase, int64_t *ret,
                                  struct vrs_error *err)
{
    const struct phases *p = &s->phases;
    struct arena_mark mark = arena_mark(s->scratch);
    const uint64_t *change = live_changes(s);
    if (change == NULL)
        return vrs_no_memory(err);
    int64_t found = -1, best = 0;
    uint64_t live = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->events; i++) {
        live += change[i];
        while (at < p->intervals && p->interval[at].first_event <= i)
            at++;
        bool inside = at > 0 && p->interval[at - 1].phase == phase;
        if (inside && (found < 0 || (int64_t)live > best)) {
            best = (int64_t)live;
            found = i;
        }
    }
    arena_release(s->scratch, mark);
    if (found < 0)
        return vrs_fail(err, VRS_USAGE, "device %u has no phase \"%s\"",
                        s->r->devices.number[s->device], phase_names[phase]);
    *ret = found;
    return VRS_OK;
}

enum vrs_status moment_in_study(const struct study *s, struct moment moment, int64_t *ret,
                                struct vrs_error *err)
{
    if (moment.kind == AT_STEP)
        return find_step(s, moment.nth, ret, err);
    if (moment.kind == AT_PHASE)
        return find_phase(s, moment.phase, ret, err);
    return moment_find(s->r, s->device, moment, ret, err);
}

enum vrs_status moment_bound(const struct study *s, struct moment moment, bool last, int64_t *ret,
                             struct vrs_error *err)
{
    TRY(moment_in_study(s, moment, ret, err));
    if (moment.kind != AT_STEP)
        return VRS_OK;
    const struct step_boundary *step = &s->steps.boundary[moment.nth - 1];
    *ret = last ? step->end_event : step->event;
    return VRS_OK;
}
