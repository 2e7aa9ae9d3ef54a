/* moment.c - the words for moments, the event each means. */
#include "analysis/moment.h"

#include "analysis/curves.h"
#include "base/number.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

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

enum vrs_status moment_parse(str text, struct moment *ret, struct vrs_error *err)
{
    struct moment moment = { .kind = AT_PEAK };
    uint64_t n = 0;
    if (str_equal(text, S("peak"))) {
        moment.kind = AT_PEAK;
    } else if (str_equal(text, S("start"))) {
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
    } else {
        int shown = text.len > 40 ? 40 : (int)text.len;
        return vrs_fail(err, VRS_USAGE,
                        "no moment is called \"%.*s\"; accepted are an event's number, start, end, "
                        "peak, oom, oom:2, 12.5s",
                        shown, text.len == 0 ? "" : text.ptr);
    }
    *ret = moment;
    return VRS_OK;
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
        return vrs_fail(err, VRS_USAGE, "device %u ran out of memory at no recorded event",
                        r->devices.number[device]);
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
    struct curves curves;
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
        if (traced) {
            curves_compute(r, device, &curves);
            *ret = curves.of[CURVE_REQUESTED].peak_event;
            return VRS_OK;
        }
        break;
    case AT_END:
        break;
    }
    *ret = events - 1;
    return VRS_OK;
}
