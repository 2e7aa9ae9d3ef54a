/* from_json.c - a whole file: read with tolerance, then looked at for something to show. */
#include "format/trace/from_json.h"

#include <stdbool.h>
#include <stddef.h>

#include "format/json/reader.h"
#include "format/trace/event.h"
#include "format/trace/parts.h"
#include "format/trace/reading.h"
#include "format/trace/tolerant.h"

/* What was read holds something that can be shown. */
static enum vrs_status check(const struct reading *r, const struct json_end *end,
                             struct vrs_error *err)
{
    if (r->is_snapshot && r->trace->events == 0)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a memory snapshot, and no profiler trace: vramscope report reads it");
    if (!r->has_events && !end->cut)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "JSON without a list of events (traceEvents): this is no profiler trace");
    if (r->trace->events == 0 && end->cut)
        return vrs_fail_at(err, VRS_CORRUPT, end->offset,
                           "the file ends before the first whole event");
    if (r->trace->events == 0 && r->trace->header.is_array)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a list without an event: this is no profiler trace");
    if (r->trace->events == 0 && r->has_forgotten)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a trace with several lists of events (traceEvents), of which the last "
                        "counts and is empty; remove it");
    if (r->trace->events == 0)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a trace without an event: nothing ran while the profiler recorded; let "
                        "its schedule reach an active step, and write the trace behind it");
    return VRS_OK;
}

/* After the reading, which may have ended early. */
static enum vrs_status conclude(const struct json_end *end, struct reading *r,
                                struct vrs_error *err)
{
    /* Before it is known that there is something to show: who reads it knows what else is cut. */
    if (end->cut)
        trace_damaged(r->trace, DAMAGE_TRUNCATED, end->offset);
    TRY(check(r, end, err));
    r->trace->read_bytes = end->offset;
    events_finish(&r->events);
    return VRS_OK;
}

static enum vrs_status read_one(struct window *w, const struct limits *limits, struct trace *t,
                                struct vrs_error *err)
{
    struct reading r;
    struct json_end end;
    enum vrs_status status = reading_init(&r, t, limits->string_bytes, err);
    if (status == VRS_OK)
        status = tolerant_read(w, limits, &r, &end, err);
    if (status == VRS_OK) {
        /* The checksums of a compressed stream, too, are behind its last byte. */
        reading_rest(r.trace, w, &end);
        status = window_status(w, err);
    }
    if (status == VRS_OK)
        status = conclude(&end, &r, err);
    window_release(w);
    reading_free(&r);
    return status;
}

/* As everybody who reads a trace wants them. */
static struct limits own_limits(const struct limits *limits)
{
    struct limits own = *limits;
    if (own.nesting < TRACE_NESTING)
        own.nesting = TRACE_NESTING;
    return own;
}

enum vrs_status trace_from_json_in_parts(struct window *w, const struct limits *limits,
                                         const struct trace_parts *parts, struct trace *t,
                                         bool *ret_done, struct vrs_error *err)
{
    const struct limits own = own_limits(limits);
    struct reading r;
    struct json_end end;
    enum vrs_status status = reading_init(&r, t, own.string_bytes, err);
    *ret_done = false;
    if (status == VRS_OK)
        status = parts_read(w, parts, &own, &r, &end, ret_done, err);
    if (status == VRS_OK && *ret_done)
        status = conclude(&end, &r, err);
    reading_free(&r);
    if (status != VRS_OK || *ret_done)
        return status;
    trace_free(t);
    return trace_init(t, limits->items, limits->strings_bytes) ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status trace_from_json(struct window *w, const struct limits *limits,
                                const struct trace_parts *parts, struct trace *t,
                                struct vrs_error *err)
{
    const struct limits own = own_limits(limits);
    bool done = false;
    if (parts != NULL)
        TRY(trace_from_json_in_parts(w, limits, parts, t, &done, err));
    return done ? VRS_OK : read_one(w, &own, t, err);
}
